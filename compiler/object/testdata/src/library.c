// A library with two versions of one function, an indirect one, and a name that
// only another library has.
extern int elsewhere(int);
int count;
__attribute__((noinline)) int copy_old(int n) { return elsewhere(n) + 1; }
__attribute__((noinline)) int copy_new(int n) { return n + count; }
__asm__(".symver copy_old, copy@EP_1.0");
__asm__(".symver copy_new, copy@@EP_2.0");
static int plain(int n) { return n; }
static int (*choose(void))(int) { return plain; }
int chosen(int) __attribute__((ifunc("choose")));
