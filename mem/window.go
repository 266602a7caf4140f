package mem

import (
	"errors"
	"fmt"
	"strings"

	"kernbench/dtype"
)

// WordType is the type of control words: signals, counts, indices. Kernels wait for them and
// branch on them, so executors hold their values also when only time is simulated.
type WordType uint8

// The types of control words. A part of another kind has NoWord.
const (
	NoWord WordType = iota
	Int32
	Int64
	Uint64
)

func (t WordType) String() string {
	return [...]string{"data", "int32", "int64", "uint64"}[min(t, Uint64)]
}

// Size returns the bytes of one word, 0 for NoWord.
func (t WordType) Size() int { return [...]int{0, 4, 8, 8}[min(t, Uint64)] }

// Wrap returns a value as a word of this type holds it. A uint64 is kept as the int64 of the
// same bits.
func (t WordType) Wrap(v int64) int64 {
	if t == Int32 {
		return int64(int32(v))
	}
	return v
}

// Less reports whether the first of two values of this type is less.
func (t WordType) Less(a, b int64) bool {
	if t == Uint64 {
		return uint64(a) < uint64(b)
	}
	return a < b
}

// Part is a range of a window with elements of one kind: data of an element type, or control
// words.
type Part struct {
	Name  string     // within its buffer; may be "" when it is the only one
	Type  dtype.Type // of data
	Word  WordType   // of control words; NoWord: the part holds data
	Count int        // elements

	// Staging memory is not zero to begin with: reading what was never written is a fault. It costs
	// the data pass nothing before its first use.
	Staging bool

	Off   int64 // from the start of the window; set by NewLayout
	First int32 // of control words: index of the first among those of the window; set by NewLayout
	full  string
}

// DataPart declares n elements of data.
func DataPart(name string, t dtype.Type, n int) Part { return Part{Name: name, Type: t, Count: n} }

// StagingPart declares n elements of data that have no value before they are written.
func StagingPart(name string, t dtype.Type, n int) Part {
	return Part{Name: name, Type: t, Count: n, Staging: true}
}

// SignalPart declares n control words.
func SignalPart(name string, t WordType, n int) Part { return Part{Name: name, Word: t, Count: n} }

// ElemSize returns the bytes of one element.
func (p *Part) ElemSize() int {
	if p.Word != NoWord {
		return p.Word.Size()
	}
	return p.Type.Size()
}

// Bytes returns the size of the part.
func (p *Part) Bytes() int64 { return int64(p.Count) * int64(p.ElemSize()) }

// FullName returns buffer.part, or the buffer's name where the part has none.
func (p *Part) FullName() string { return p.full }

func (p *Part) String() string {
	if p.Word != NoWord {
		return fmt.Sprintf("%s %v × %d", p.full, p.Word, p.Count)
	}
	return fmt.Sprintf("%s %v × %d", p.full, p.Type, p.Count)
}

// Buffer is a named piece of a window. One whose parts differ in type declares each of them:
// data float32 × 64, signals int32 × 16.
type Buffer struct {
	Name  string
	Bytes int64 // what its parts must add up to; 0: not checked
	Parts []Part
}

// Layout is the division of a window, the same in every member's copy. Buffers are in the order of
// their declaration, parts aligned to their elements.
type Layout struct {
	Bytes int64
	Parts []Part
	Words int // control words in all
}

// NewLayout divides a window of some bytes into buffers; 0 means as many bytes as the buffers need.
// It refuses sizes that do not agree, names that occur twice and buffers that do not fit, all of
// them in one error.
func NewLayout(bytes int64, buffers []Buffer) (*Layout, error) {
	l := &Layout{}
	var errs []error
	bad := func(format string, args ...any) { errs = append(errs, fmt.Errorf(format, args...)) }
	if bytes < 0 {
		bad("window of %d bytes: the size cannot be negative", bytes)
	}
	seen := map[string]bool{}
	var at int64
	for _, b := range buffers {
		switch {
		case b.Name == "":
			bad("a buffer has no name")
		case seen[b.Name]:
			bad("two buffers are called %q", b.Name)
		case len(b.Parts) == 0:
			bad("buffer %q has no parts: say what it holds", b.Name)
		}
		seen[b.Name] = true
		from := at
		for _, p := range b.Parts {
			p.full = strings.TrimSuffix(b.Name+"."+p.Name, ".")
			if len(b.Parts) > 1 && p.Name == "" {
				bad("buffer %q: each of its %d parts needs a name", b.Name, len(b.Parts))
			}
			if p.Name != "" && seen[p.full] {
				bad("two parts are called %q", p.full)
			}
			seen[p.full] = true
			size := int64(p.ElemSize())
			if size == 0 || (p.Word != NoWord) == p.Type.Valid() {
				bad("part %q: give it either an element type or a type of control words", p.full)
				continue
			}
			if p.Staging && p.Word != NoWord {
				bad("part %q is staging memory: it cannot have control words, since control words are zero at first", p.full)
			}
			if p.Count < 1 || int64(p.Count) > MaxOffset/size {
				bad("part %q of %d elements, want 1 to %d", p.full, p.Count, MaxOffset/size)
				continue
			}
			if at%size != 0 {
				bad("part %q: it would begin at byte %d, which is not a multiple of its element's %d bytes; declare larger elements first",
					p.full, at, size)
			}
			p.Off = at
			if p.Word != NoWord {
				p.First = int32(l.Words)
				l.Words += p.Count
			}
			at += p.Bytes()
			l.Parts = append(l.Parts, p)
		}
		if b.Bytes != 0 && at-from != b.Bytes {
			var parts []string
			for _, p := range b.Parts {
				parts = append(parts, fmt.Sprintf("%d × %d bytes", p.Count, p.ElemSize()))
			}
			bad("buffer %q is declared as %d bytes, but %s is %d: declare each part of a mixed buffer", b.Name,
				b.Bytes, strings.Join(parts, " + "), at-from)
		}
		at = (at + 7) / 8 * 8 // the next buffer may begin with words of 8 bytes
	}
	if l.Bytes = bytes; bytes == 0 {
		l.Bytes = at
	}
	if end := l.end(); end > l.Bytes {
		bad("the buffers need %d bytes, the window has %d", end, l.Bytes)
	}
	if l.Bytes == 0 && len(errs) == 0 {
		bad("a window of 0 bytes: give a size or buffers")
	}
	return l, errors.Join(errs...)
}

func (l *Layout) end() int64 {
	if len(l.Parts) == 0 {
		return 0
	}
	p := &l.Parts[len(l.Parts)-1]
	return p.Off + p.Bytes()
}

// Find returns the part with a full name, or nil. A buffer of one part also has the name of the
// buffer.
func (l *Layout) Find(name string) *Part {
	for i := range l.Parts {
		if l.Parts[i].full == name {
			return &l.Parts[i]
		}
	}
	var only *Part
	for i := range l.Parts {
		if strings.HasPrefix(l.Parts[i].full, name+".") {
			if only != nil {
				return nil
			}
			only = &l.Parts[i]
		}
	}
	return only
}

// Names lists the full names of all parts.
func (l *Layout) Names() []string {
	names := make([]string, len(l.Parts))
	for i := range names {
		names[i] = l.Parts[i].full
	}
	return names
}

// Window is symmetric memory: a range of the HBM slice of each member of a team, at the same offset
// and with the same layout. A new window is all zero, except for staging memory.
type Window struct {
	Name     string
	Team     *Team
	Layout   *Layout
	Base     int64 // offset in each member's HBM slice
	Released bool

	packets
	words [][]int64 // control words by rank; executors own them while a launch runs
}

// NewWindow makes a window of zeros. base is its offset in the members' HBM slices.
func NewWindow(name string, t *Team, l *Layout, base int64) *Window {
	w := &Window{Name: name, Team: t, Layout: l, Base: base, words: make([][]int64, t.Size())}
	if l.Words > 0 {
		w.packets.whole = make([][]int32, t.Size())
		all := make([]int64, t.Size()*l.Words)
		for r := range w.words {
			w.words[r] = all[r*l.Words : (r+1)*l.Words]
		}
	}
	return w
}

// Addr returns the physical address of an offset in a member's copy.
func (w *Window) Addr(rank int, off int64) Addr {
	return At(HBM, int(w.Team.PEs[rank]), w.Base+off)
}

// Words returns the control words of a member, by their index in the window.
func (w *Window) Words(rank int) []int64 { return w.words[rank] }

// PartOfWord returns the part of a control word.
func (w *Window) PartOfWord(word int32) *Part {
	for i := range w.Layout.Parts {
		p := &w.Layout.Parts[i]
		if p.Word != NoWord && word >= p.First && word < p.First+int32(p.Count) {
			return p
		}
	}
	return nil
}

// WordAddr returns the physical address of a control word.
func (w *Window) WordAddr(rank int, word int32) Addr {
	p := w.PartOfWord(word)
	return w.Addr(rank, p.Off+int64(word-p.First)*int64(p.Word.Size()))
}

// NameAt returns the name of the element at a physical address for reports: window.buffer.part[3].
// It is empty for an address outside of all members' copies.
func (w *Window) NameAt(a Addr) string {
	if a.Space() != HBM {
		return ""
	}
	if _, ok := w.Team.Rank(a.Unit()); !ok {
		return ""
	}
	off := a.Offset() - w.Base
	if off < 0 || off >= w.Layout.Bytes {
		return ""
	}
	for i := range w.Layout.Parts {
		if p := &w.Layout.Parts[i]; p.Off <= off && off < p.Off+p.Bytes() {
			return fmt.Sprintf("%s.%s[%d]", w.Name, p.full, (off-p.Off)/int64(p.ElemSize()))
		}
	}
	return w.Name
}

// WordName returns the name of a control word for errors: window.buffer.part[3].
func (w *Window) WordName(word int32) string {
	p := w.PartOfWord(word)
	return fmt.Sprintf("%s.%s[%d]", w.Name, p.full, word-p.First)
}
