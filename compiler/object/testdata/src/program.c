// The program that tests look into, and that kernel tests run: no libc, so that
// it is a few kilobytes. It calls what may be probed ten times, and exits with
// the number of times that it found the semaphore of its static probe raised.

#define ROUNDS 10

struct point { int x, y; };
struct pair { long a, b; };
enum color { RED, GREEN = 5, BLUE };
typedef unsigned char byte;

long total;       // .bss
int level = 7;    // .data
unsigned short ep_loop_semaphore __attribute__((section(".probes")));

#ifdef __LP64__
#define WORD ".8byte"
#define PTR "8"
#else
#define WORD ".4byte"
#define PTR "4"
#endif

// A static probe, as sys/sdt.h of systemtap makes it.
#define STATIC_PROBE(provider, name, semaphore, args, ...)                    \
	__asm__ volatile(                                                     \
		"990: nop\n"                                                  \
		".pushsection .note.stapsdt,\"\",%%note\n"                    \
		".balign 4\n"                                                 \
		".4byte 992f-991f, 994f-993f, 3\n"                            \
		"991: .asciz \"stapsdt\"\n"                                   \
		"992: .balign 4\n"                                            \
		"993: " WORD " 990b\n"                                        \
		WORD " _.stapsdt.base\n"                                      \
		WORD " " semaphore "\n"                                       \
		".asciz \"" provider "\"\n"                                   \
		".asciz \"" name "\"\n"                                       \
		".asciz \"" args "\"\n"                                       \
		"994: .balign 4\n"                                            \
		".popsection\n"                                               \
		".ifndef _.stapsdt.base\n"                                    \
		".pushsection .stapsdt.base,\"aG\",%%progbits,.stapsdt.base,comdat\n" \
		".weak _.stapsdt.base\n"                                      \
		".hidden _.stapsdt.base\n"                                    \
		"_.stapsdt.base: .space 1\n"                                  \
		".size _.stapsdt.base, 1\n"                                   \
		".popsection\n"                                               \
		".endif\n" ::__VA_ARGS__)

extern void twins(void);

// nine has more arguments than there are registers for on any architecture.
__attribute__((noinline)) long nine(int a, byte b, const char *text, struct point *p, enum color c, _Bool d, long e,
				    unsigned short f, long g)
{
	__asm__ volatile("" ::: "memory");
	return a + b + text[0] + p->x + p->y + c + d + e + f + g;
}

__attribute__((noinline)) void nothing(void) { __asm__ volatile(""); }

__attribute__((noinline)) double real(double x, int n) { return x * n; }

__attribute__((noinline)) struct pair whole(struct pair p, int n)
{
	__asm__ volatile("" : "+r"(n));
	p.a += n;
	return p;
}

__attribute__((noinline)) static void twin(void) { __asm__ volatile("" ::"r"(&level)); }

__attribute__((used)) int work(void)
{
	static const char text[] = "ep was here";
	int raised = 0;
	for (int n = 0; n < ROUNDS; n++) {
		struct point p = { n, 2 * n };
		volatile int local = -n;
		total += nine(n, 200, text, &p, GREEN, 1, 1000 + n, 65535, -5);
		if (*(volatile unsigned short *)&ep_loop_semaphore)
			raised++;
		STATIC_PROBE("ep", "loop", "ep_loop_semaphore", "-4@%0 " PTR "@%1 2@%2 -4@%3", "r"(n), "r"(text), "i"(5), "m"(local));
		if (n % 2)
			STATIC_PROBE("ep", "odd", "0", "-4@%0", "r"(n));
		else
			STATIC_PROBE("ep", "odd", "0", "-4@%0", "m"(local));
#ifdef __x86_64__
		STATIC_PROBE("ep", "global", "0", "8@%0 -4@%1 1@%b2", "m"(total), "m"(level), "q"(n));
#else
		STATIC_PROBE("ep", "global", "0", "-" PTR "@total -4@level 4@%0", "r"(n));
#endif
		nothing();
	}
	twin();
	twins();
	struct pair q = { 1, 2 };
	total += real(2, 3) + whole(q, 4).a;
	return raised;
}

// The kernel enters with the stack aligned to 16 bytes, a call wants it so too.
#if defined(__x86_64__)
__asm__(".globl _start\n.type _start, %function\n_start: call work\nmov %eax, %edi\nmov $60, %eax\nsyscall\n.size _start, .-_start");
#elif defined(__i386__)
__asm__(".globl _start\n.type _start, %function\n_start: call work\nmov %eax, %ebx\nmov $1, %eax\nint $0x80\n.size _start, .-_start");
#elif defined(__aarch64__)
__asm__(".globl _start\n.type _start, %function\n_start: bl work\nmov x8, #93\nsvc #0\n.size _start, .-_start");
#elif defined(__arm__)
__asm__(".arm\n.globl _start\n.type _start, %function\n_start: bl work\nmov r7, #1\nsvc #0\n.size _start, .-_start");
#elif defined(__riscv)
__asm__(".globl _start\n.type _start, %function\n_start: call work\nli a7, 93\necall\n.size _start, .-_start");
#endif
