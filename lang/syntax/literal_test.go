package syntax

import "testing"

func TestNumberValue(t *testing.T) {
	for _, test := range []struct {
		raw   string
		value uint64
		unit  string
		ok    bool
	}{
		{"0", 0, "", true},
		{"10", 10, "", true},
		{"1_000", 1000, "", true},
		{"0x1f", 31, "", true},
		{"0xFF_FF", 65535, "", true},
		{"0b101", 5, "", true},
		{"0o644", 420, "", true},
		{"18446744073709551615", 1<<64 - 1, "", true},
		{"0xffffffffffffffff", 1<<64 - 1, "", true},
		{"500us", 500, "us", true},
		{"10ms", 10, "ms", true},
		{"2s", 2, "s", true},
		{"7ns", 7, "ns", true},
		{"512KiB", 512 << 10, "", true},
		{"1MiB", 1 << 20, "", true},
		{"3GiB", 3 << 30, "", true},
		{"0KiB", 0, "", true},
		{"17179869183GiB", 17179869183 << 30, "", true},
		{"17179869184GiB", 0, "", false},
		{"18446744073709551616", 0, "", false},
		{"012", 0, "", false},
		{"1__0", 0, "", false},
		{"1_", 0, "", false},
		{"1.5ms", 0, "", false},
		{"1MB", 0, "", false},
		{"0x", 0, "", false},
		{"0x1us", 0, "", false},
		{"0b12", 0, "", false},
		{"12abc", 0, "", false},
	} {
		value, unit, err := (&Number{Raw: test.raw}).Value()
		if value != test.value || unit != test.unit || (err == nil) != test.ok {
			t.Errorf("%s: got %d %q %v, want %d %q ok=%v", test.raw, value, unit, err, test.value, test.unit, test.ok)
		}
	}
}

func TestStringValue(t *testing.T) {
	for _, test := range []struct {
		raw, want string
		ok        bool
	}{
		{`""`, "", true},
		{`"a b"`, "a b", true},
		{`"äß"`, "äß", true},
		{`"a\"b\\c\n\t\x41"`, "a\"b\\c\n\tA", true},
		{`"\q"`, "", false},
		{`"\x0"`, "", false},
		{`"\x00"`, "", false},
		{`"\xzz"`, "", false},
	} {
		got, err := (&String{Raw: test.raw}).Value()
		if got != test.want || (err == nil) != test.ok {
			t.Errorf("%s: got %q %v, want %q ok=%v", test.raw, got, err, test.want, test.ok)
		}
	}
}

func TestCharValue(t *testing.T) {
	for _, test := range []struct {
		raw  string
		want byte
		ok   bool
	}{
		{`'c'`, 'c', true},
		{`'"'`, '"', true},
		{`' '`, ' ', true},
		{`'\''`, '\'', true},
		{`'\\'`, '\\', true},
		{`'\n'`, '\n', true},
		{`'\0'`, 0, true},
		{`'\x7f'`, 0x7f, true},
		{`'\xff'`, 0xff, true},
		{`''`, 0, false},
		{`'ab'`, 0, false},
		{`'ä'`, 0, false},
		{`'\q'`, 0, false},
	} {
		got, err := (&Char{Raw: test.raw}).Value()
		if got != test.want || (err == nil) != test.ok {
			t.Errorf("%s: got %q %v, want %q ok=%v", test.raw, got, err, test.want, test.ok)
		}
	}
}

// Value takes any text without a panic: what Parse has reported may be asked.
func FuzzLiterals(f *testing.F) {
	for _, raw := range []string{"10us", `"a\x41"`, `'c'`, "", "'", `"`, `"\`} {
		f.Add(raw)
	}
	f.Fuzz(func(t *testing.T, raw string) {
		_, _, _ = (&Number{Raw: raw}).Value()
		_, _ = (&String{Raw: raw}).Value()
		_, _ = (&Char{Raw: raw}).Value()
	})
}
