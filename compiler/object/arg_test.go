package object

import (
	"strings"
	"testing"

	"github.com/eptrace/ep/compiler/command"
)

// TestArgsOfStaticProbes gives each form of an operand, and what the kernel is
// told of it; a text in parentheses is an error's.
func TestArgsOfStaticProbes(t *testing.T) {
	for file, cases := range map[string][][2]string{
		"loose-x86_64": {
			{"-4@%edi", "%di:s32"}, {"8@%rax", "%ax:u64"}, {"2@%bx", "%bx:u16"}, {"1@%sil", "%si:u8"}, {"1@%al", "%ax:u8"},
			{"1@%ah", "%ax:b8@8/16"}, {"-1@%dh", "(as a signed number)"}, {"4@%r8d", "%r8:u32"}, {"-8@%r15", "%r15:s64"},
			{"2@%r10w", "%r10:u16"}, {"-1@%r12b", "%r12:s8"}, {"4@%al", "%ax:u8"}, {"8@%rsp", "%sp:u64"},
			{"8@-24(%rbp)", "-24(%bp):u64"}, {"-4@(%rax)", "+0(%ax):s32"}, {"4@0x10(%rdx)", "+16(%dx):u32"},
			{"8@8+16(%rsp)", "+24(%sp):u64"}, {"8@-24+4(%rsp)", "-20(%sp):u64"},
			{"4@$5", `\5:u32`}, {"-4@$-1", `\-1:s32`}, {"8@$0x10", `\16:u64`}, {"8@$18446744073709551615", `\18446744073709551615:u64`},
			{"8@total(%rip)", "+8307(%ip):u64"}, {"4@total+4(%rip)", "+8311(%ip):u32"}, {"-4@level(%rip)", "+8299(%ip):s32"},
			{"8@none(%rip)", "(not found)"}, {"8@(%rax,%rbx,8)", "(cannot add a register)"}, {"8@(,%rbx,8)", "(cannot add a register)"},
			{"8@total(%rax)", "(cannot add a register)"}, {"8@(%rax,%riz)", "+0(%ax):u64"},
			{"8@%fs:0x28", "(thread's own memory)"}, {"8f@%xmm0", "(floating-point numbers)"}, {"8@%xmm0", "(vector register)"},
			{"-8f@8(%rsp)", "(floating-point numbers)"}, {"16@%rax", "(16 bytes are no size)"}, {"x@%rax", "(size is no number)"},
			{"@%rax", "(size is no number)"}, {"%rax", "%ax:u64"}, {"8@%rzx", "(not understood)"}, {"8@", "(not understood)"},
			{"8@(%rax", "(not understood)"}, {"8@$total", "(known only when it runs)"}, {"8@0x601040", "(address without a symbol)"},
			{"8@total", "+8307(%ip):u64"}, {"8@--5(%rax)", "+5(%ax):u64"}, {"8@5-(%rax)", "(not understood)"},
			{"8@16(%rip)", "(not understood)"}, {"8@(%eax)", "(not understood)"}, {"8@foo@GOTPCREL(%rip)", "(not understood)"},
			{"8@99999999999999999999(%rax)", "(not understood)"},
		},
		"program-x86_64": {
			{"8@total(%rip)", "@0x403028:u64"}, {"8@0x601040", "@0x601040:u64"}, {"8@total+8", "@0x403030:u64"},
		},
		"program-i386": {
			{"4@%eax", "%ax:u32"}, {"-4@8(%esp)", "+8(%sp):s32"}, {"1@%cl", "%cx:u8"}, {"4@%r8d", "(not understood)"},
			{"8@%rax", "(not understood)"}, {"4@total", "@0x804b018:u32"}, {"-4@$3", `\3:s32`}, {"%eax", "%ax:u32"},
		},
		"loose-arm64": {
			{"-4@w0", "%x0:s32"}, {"8@x30", "%x30:u64"}, {"8@[sp, 16]", "+16(%sp):u64"}, {"8@[sp]", "+0(%sp):u64"},
			{"4@[x29, -8]", "-8(%x29):u32"}, {"4@[x0,#8]", "+8(%x0):u32"}, {"8@[x0, x1]", "(cannot add a register)"},
			{"8@[x0, :lo12:total]", "(cannot add a register)"}, {"-4@5", `\5:s32`}, {"4@wzr", `\0:u32`}, {"8@xzr", `\0:u64`},
			{"8@sp", "%sp:u64"}, {"8@d0", "(vector register)"}, {"8@[x0], 8", "(not understood)"}, {"8@[x0, 8]!", "(not understood)"},
			{"8@x31", "(not found)"}, {"8@[w0]", "(not understood)"}, {"8@", "(not understood)"}, {"8@[", "(not understood)"},
		},
		"program-arm": {
			{"4@r0", "%r0:u32"}, {"-4@[r7, #4]", "+4(%r7):s32"}, {"4@[fp, #-8]", "-8(%fp):u32"}, {"4@#5", `\5:u32`}, {"-4@-3", `\-3:s32`},
			{"4@r11", "%fp:u32"}, {"4@r13", "%sp:u32"}, {"4@sl", "%r10:u32"}, {"4@[r0, r1, lsl #2]", "(cannot add a register)"}, {"4@s0", "(vector register)"},
		},
		"program-riscv64": {
			{"8@a0", "%a0:u64"}, {"-4@x10", "%a0:s32"}, {"8@16(sp)", "+16(%sp):u64"}, {"4@-20(s0)", "-20(%s0):u32"}, {"8@0(fp)", "+0(%s0):u64"},
			{"-4@7", `\7:s32`}, {"8@zero", `\0:u64`}, {"8@(a5)", "+0(%a5):u64"}, {"8@fa0", "(vector register)"}, {"8@%lo(total)(a5)", "(not understood)"},
		},
	} {
		f := openProgram(t, file)
		for _, c := range cases {
			a := f.parseArg(c[0], Probe{Addr: 0x1085, Offset: 0x1085})
			got := ""
			if a.Err != nil {
				got = "(" + a.Err.Error() + ")"
			} else {
				u := &command.Uprobe{Path: "/x", Args: []command.Arg{{Name: "a", Fetch: a.Fetch, Type: a.Type}}}
				got = strings.Fields(line(u))[2][2:]
				if err := command.Check(u); err != nil {
					t.Errorf("%s, %s: %v", file, c[0], err)
				}
			}
			if want := strings.TrimSuffix(c[1], ")"); got != c[1] && !(strings.HasPrefix(want, "(") && strings.HasPrefix(got, "(") && strings.Contains(got, want[1:])) {
				t.Errorf("%s, %s: got %s, want %s", file, c[0], got, c[1])
			}
			if a.Err != nil && a.Fetch != nil {
				t.Errorf("%s, %s: both an error and a fetch", file, c[0])
			}
		}
	}
}

func TestSplitArgs(t *testing.T) {
	for text, want := range map[string]string{
		"":                             "",
		"-4@w0 8@[sp, 16]  4@5":        "-4@w0|8@[sp, 16]|4@5",
		" 8@(%rax, %rbx, 8) 8@%rdi ":   "8@(%rax, %rbx, 8)|8@%rdi",
		"8@[x0 8@x1":                   "8@[x0 8@x1",
		"8@x0] 8@x1":                   "8@x0]|8@x1",
		"-4@%edi 4@$5 8@total+8(%rip)": "-4@%edi|4@$5|8@total+8(%rip)",
	} {
		if got := strings.Join(splitArgs(text), "|"); got != want {
			t.Errorf("%q: got %q, want %q", text, got, want)
		}
	}
}

func TestArgFetch(t *testing.T) {
	for file, want := range map[string]string{
		"program-x86_64":  "%di %si %dx %cx %r8 %r9 $stack1 $stack2 $stack3",
		"program-i386":    "+4(%sp) +8(%sp) +12(%sp) +16(%sp) +20(%sp) +24(%sp) +28(%sp) +32(%sp) +36(%sp)",
		"loose-arm64":     "%x0 %x1 %x2 %x3 %x4 %x5 %x6 %x7 $stack0",
		"program-arm":     "%r0 %r1 %r2 %r3 +0(%sp) +4(%sp) +8(%sp) +12(%sp) +16(%sp)",
		"program-riscv64": "%a0 %a1 %a2 %a3 %a4 %a5 %a6 %a7 $stack0",
	} {
		f := openProgram(t, file)
		u := &command.Uprobe{Path: "/x"}
		for n := range 9 {
			fetch, ok := f.ArgFetch(Symbol{}, n+1)
			if !ok {
				t.Fatalf("%s has no argument %d", file, n+1)
			}
			u.Args = append(u.Args, command.Arg{Name: "a", Fetch: fetch})
		}
		if got := strings.ReplaceAll(strings.Join(strings.Fields(line(u))[2:], " "), "a=", ""); got != want {
			t.Errorf("%s: got %s, want %s", file, got, want)
		}
		if _, ok := f.ArgFetch(Symbol{}, 0); ok {
			t.Errorf("%s has an argument 0", file)
		}
	}
	if _, ok := ArgFetch("s390", 1); ok {
		t.Error("an architecture without a table has arguments")
	}
}
