package syntax

import "github.com/eptrace/ep/lang/source"

// Script is the tree of one text. It is complete even if the text has errors:
// what could not be parsed is a *Bad item.
type Script struct {
	Source *source.Source
	Items  []Item
	tokens []Token // every token, blanks and comments included, in order
}

// Item is one statement: *Event, *Hist, *On, *Trace, *Param, *Const, *Import,
// *Option or *Bad.
type Item interface {
	Span() source.Span
	item()
}

// Event is `event NAME from STAGE {then STAGE by KEYS} [size N] [having E]
// [emit …] [{ fields }]`.
type Event struct {
	Node
	Name   *QName  `parser:"'event':Keyword @@"`
	From   *Stage  `parser:"'from':Keyword @@"`
	Then   []*Then `parser:"@@*"`
	Size   *Number `parser:"( 'size' @@ )?"`
	Having Expr    `parser:"( 'having':Keyword @@ )?"`
	Emit   *Emit   `parser:"@@?"`
	Fields *Fields `parser:"@@?"` // nil: all fields of the single source
}

// Then is one `then STAGE by KEYS`.
type Then struct {
	Node
	Stage *Stage `parser:"'then':Keyword @@"`
	By    []*Key `parser:"'by':Keyword @@ ( ',' @@ )*"`
}

// Key is a key of a join (`a.f == b.g`, or one name for both sides) or of a
// hist (`[name =] E`). In a hist, Name is nil where none is given.
type Key struct {
	Node
	Name  *Ident `parser:"( (?= Ident '=' ) @@ '=' )?"`
	Value Expr   `parser:"@@"`
}

// Emit is `emit on max(E) [per E, …]` or `emit on change(E) …`.
type Emit struct {
	Node
	On    *Ident `parser:"'emit':Keyword 'on':Keyword @@"` // max or change
	Value Expr   `parser:"'(' @@ ')'"`
	Per   []Expr `parser:"( 'per' @@ ( ',' @@ )* )?"`
}

// Stage is one source or several, with what is said of their events.
type Stage struct {
	Node
	Sources []*Source `parser:"@@ ( ',' @@ )*"`
	As      *Ident    `parser:"( 'as':Keyword @@ )?"`
	Where   Expr      `parser:"( 'where':Keyword @@ )?"`
	Lets    []*Let    `parser:"( 'let':Keyword @@ ( ',' @@ )* )?"`
}

// Let is `n = E` of a stage: a value captured when the stage happens.
type Let struct {
	Node
	Name  *Ident `parser:"@@ '='"`
	Value Expr   `parser:"@@"`
}

// Source is a source with its alternatives: `A else B`, each perhaps with `?`.
type Source struct {
	Node
	Alts []*Alt `parser:"@@ ( 'else':Keyword @@ )*"`
}

// Alt is one alternative of a Source.
type Alt struct {
	Node
	One      *One `parser:"@@"`
	Optional bool `parser:"@'?'?"` // followed by `?`
}

// Kind is the word that a source begins with.
type Kind uint8

// The kinds of source. KindName is an event by its name alone.
const (
	KindName Kind = iota
	KindSyscall
	KindFunc
	KindKprobe
	KindTracepoint
	KindUfunc
	KindUprobe
	KindUSDT
)

// String returns the word of the source, "event" for KindName.
func (k Kind) String() string { return kindWords[k] }

// kindWords are the words that sources begin with, by Kind.
var kindWords = []string{"event", "syscall", "func", "kprobe", "tracepoint", "ufunc", "uprobe", "usdt"}

// One is one source. Which parts are set depends on Kind:
//
//	KindName                 Name (group and event, or one name)
//	syscall func tracepoint  Func, End, Sig
//	kprobe                   Func, Offset, Sig
//	ufunc uprobe usdt        Path, Func, End, Offset, Sig
type One struct {
	Node
	Kind   Kind    `parser:"( @( 'syscall' | 'func' | 'kprobe' | 'tracepoint' | 'ufunc' | 'uprobe' | 'usdt' )"`
	Path   *Path   `parser:"( (?= String | '(' Ident ')' ':' ) @@ ':' )?"`
	Func   *Func   `parser:"@@"`
	End    *Ident  `parser:"( '.' @@ )?"` // enter or exit; nil: both (a span), or the only one
	Offset *Number `parser:"( '+' @@ )?"`
	Sig    *Sig    `parser:"@@?"`
	Name   *QName  `parser:"| @@ )"`
}

// Func names a function: `F`, `MOD:F`, `prov:name`, an address, or `(param)`.
type Func struct {
	Node
	Module *Ident  `parser:"( (?= Ident ':' ) @@ ':' )?"` // before a colon
	Addr   *Number `parser:"( @@"`                        // an address
	Param  bool    `parser:"| @'('"`                      // Name stands in parentheses: a param's value is the name
	Name   *Ident  `parser:"@@ ')' | @@ )"`               // nil for an address
}

// Path is the file of a user-space source: a string, or `(param)`.
type Path struct {
	Node
	Text  *String `parser:"( @@"`
	Param *Ident  `parser:"| '(' @@ ')' )"`
}

// Sig declares a function's parameters by position, and its result.
type Sig struct {
	Node
	Params []*Par   `parser:"'(' ( @@ ( ',' @@ )* )? ')'"`
	Result TypeExpr `parser:"( ':' @@ )?"`
}

// Par is one parameter: `name`, `name: type`, or `_` for one that is skipped.
type Par struct {
	Node
	Name *Ident   `parser:"@@"`
	Type TypeExpr `parser:"( ':' @@ )?"`
}

// Fields is a block of fields in braces.
type Fields struct {
	Node
	List []*Field `parser:"'{' ( @@ ( ',' | Newline )? )* '}'"`
}

// Field is one field: `name`, `name: type`, `name = E`, `name: type = E`,
// `a.f`, `a.$f`, `$f` or `$f: type`. Name is nil where the field names itself
// after its Value; Value is nil where it is Name's alone.
type Field struct {
	Node
	Name  *Ident
	Type  TypeExpr
	Value Expr

	hasValue bool     // an `=` was read
	mistake  *mistake // what is wrong in it; Parse collects these
}

// Hist is `hist [NAME [paused] from] STAGE [by KEYS] [{ values }]
// [sort by …] [size N]`. Name is nil where the source names it.
type Hist struct {
	Node
	Name   *QName     `parser:"'hist':Keyword ( (?= Ident ( '.' Ident )? 'paused'? 'from':Keyword ) @@"`
	Paused bool       `parser:"@'paused'?"`
	Stage  *Stage     `parser:"'from':Keyword )? @@"`
	By     []*Key     `parser:"( 'by':Keyword @@ ( ',' @@ )* )?"`
	Values *Fields    `parser:"@@?"`
	Sort   []*SortKey `parser:"( 'sort' 'by':Keyword @@ ( ',' @@ )* )?"`
	Size   *Number    `parser:"( 'size' @@ )?"`
}

// SortKey is one `name [desc]` of `sort by`.
type SortKey struct {
	Node
	Name *Ident `parser:"@@"`
	Desc bool   `parser:"@'desc'?"`
}

// On is `on STAGE [times N] do ACTION, …`.
type On struct {
	Node
	Stage *Stage    `parser:"'on':Keyword @@"`
	Times *Number   `parser:"( 'times' @@ )?"`
	Do    []*Action `parser:"'do':Keyword @@ ( ',' @@ )*"`
}

// Action is `start [X]`, `stop [X]`, `snapshot` or `stack`.
type Action struct {
	Node
	Verb   *Ident `parser:"@@"`
	Target *QName `parser:"( (?! 'times' Number ) @@ )?"`
}

// Trace is `trace STAGE [{ fields }] [paused] [print "…"]`.
type Trace struct {
	Node
	Stage  *Stage  `parser:"'trace':Keyword @@"`
	Fields *Fields `parser:"@@?"`
	Paused bool    `parser:"@'paused'?"`
	Print  *String `parser:"( 'print' @@ )?"`
}

// Param is `param NAME [: type] [= E]`.
type Param struct {
	Node
	Name  *Ident   `parser:"'param':Keyword @@"`
	Type  TypeExpr `parser:"( ':' @@ )?"`
	Value Expr     `parser:"( '=' @@ )?"`
}

// Const is `const NAME [: type] = E`.
type Const struct {
	Node
	Name  *Ident   `parser:"'const':Keyword @@"`
	Type  TypeExpr `parser:"( ':' @@ )?"`
	Value Expr     `parser:"'=' @@"`
}

// Import is `import "PATH" [as NAME]`.
type Import struct {
	Node
	Path *String `parser:"'import':Keyword @@"`
	As   *Ident  `parser:"( 'as':Keyword @@ )?"`
}

// Option is `option NAME VALUE`; what values a name takes is the checker's.
type Option struct {
	Node
	Name  *Ident `parser:"'option':Keyword @@"`
	Value Expr   `parser:"@@?"` // nil where none is given
}

// Bad is text that is not a statement. The parser has reported it.
type Bad struct{ Node }

func (*Event) item()  {}
func (*Hist) item()   {}
func (*On) item()     {}
func (*Trace) item()  {}
func (*Param) item()  {}
func (*Const) item()  {}
func (*Import) item() {}
func (*Option) item() {}
func (*Bad) item()    {}

// QName is a name of one or two parts: `NAME` or `GROUP.NAME`. Group is nil
// where there is one part.
type QName struct {
	Node
	Group *Ident `parser:"( (?= Ident '.' ) @@ '.' )?"`
	Name  *Ident `parser:"@@"`
}

// TypeExpr is a type as written: *TypeName, *PointerType or *ArrayType.
type TypeExpr interface {
	Span() source.Span
	typeExpr()
}

// TypeName is a type by name.
type TypeName struct {
	Node
	Name *Ident
}

// PointerType is `*T` or `user *T`.
type PointerType struct {
	Node
	User bool
	Elem TypeExpr
}

// ArrayType is `[N]T`.
type ArrayType struct {
	Node
	Len  *Number
	Elem TypeExpr
}

func (*TypeName) typeExpr()    {}
func (*PointerType) typeExpr() {}
func (*ArrayType) typeExpr()   {}
