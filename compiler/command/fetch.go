package command

import "github.com/eptrace/ep/lang/source"

// Arg is one argument of a probe: NAME=FETCH[:TYPE].
type Arg struct {
	Name  string
	Fetch Fetch
	Type  FetchType // the zero value: none is written
	Span  source.Span
}

// FetchType is the type of an Arg: a base, as an array if Count is not 0, or
// bits of it if Bits is not 0.
type FetchType struct {
	Base   string // u8 … x64, char, string, ustring, symbol, symstr, %pd, %pD
	Count  int    // [N], 1 to 64
	Bits   int    // bWIDTH@OFFSET/CONTAINER, with Base "b"
	Offset int    // first bit
	Of     int    // container's bits
}

// Fetch is how a probe gets a value.
type Fetch interface{ fetch() }

type (
	// FieldOf is `$FIELD` of the event that an eprobe hangs on.
	FieldOf struct {
		Name string
		Span source.Span
	}
	// ArgN is `$argN`, counted from 1.
	ArgN struct {
		N    int
		Span source.Span
	}
	// RetVal is `$retval`.
	RetVal struct{ Span source.Span }
	// Comm is the name of the current task: `$comm`, in an eprobe `$COMM`.
	Comm struct{ Span source.Span }
	// StackAddr is `$stack`.
	StackAddr struct{ Span source.Span }
	// StackN is `$stackN`.
	StackN struct {
		N    int
		Span source.Span
	}
	// Reg is `%NAME`.
	Reg struct {
		Name string
		Span source.Span
	}
	// At is `@ADDR`, or `@SYM±Off` if Symbol is not "": the memory there.
	At struct {
		Symbol string
		Addr   uint64
		Off    int64
		Span   source.Span
	}
	// FileAt is `@+OFF`: memory at an offset of an uprobe's file.
	FileAt struct {
		Off  uint64
		Span source.Span
	}
	// Imm is `\N`; Unsigned says that the bits of N are a u64.
	Imm struct {
		N        int64
		Unsigned bool
		Span     source.Span
	}
	// ImmString is `\"TEXT"`.
	ImmString struct {
		Text string
		Span source.Span
	}
	// Deref is `±OFF(X)`, or `±uOFF(X)` if User.
	Deref struct {
		Off  int64
		User bool
		X    Fetch
		Span source.Span
	}
	// Var is a variable that the kernel knows by BTF, with the members behind
	// it as written: `file->f_inode->i_ino`.
	Var struct {
		Path string
		Span source.Span
	}
	// Typecast is `(STRUCT[,MEMBER])X->PATH`.
	Typecast struct {
		Struct, Member string
		X              Fetch
		Path           string // as written, without the first arrow
		Span           source.Span
	}
	// Special is a form that newer kernels have and that is kept as its text:
	// `$current`, `$arg*`, `this_cpu_ptr(…)`.
	Special struct {
		Text string
		Span source.Span
	}
)

func (FieldOf) fetch()   {}
func (ArgN) fetch()      {}
func (RetVal) fetch()    {}
func (Comm) fetch()      {}
func (StackAddr) fetch() {}
func (StackN) fetch()    {}
func (Reg) fetch()       {}
func (At) fetch()        {}
func (FileAt) fetch()    {}
func (Imm) fetch()       {}
func (ImmString) fetch() {}
func (Deref) fetch()     {}
func (Var) fetch()       {}
func (Typecast) fetch()  {}
func (Special) fetch()   {}
