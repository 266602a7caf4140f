package trace

import (
	"bufio"
	"fmt"
	"io"
	"path/filepath"
	"strings"

	"kernbench/unit"
)

// Names gives the name of a PE by its index in the machine, such as sip0.cube0.pe1.
type Names func(pe int) string

// Writer is a view that writes text. What it could not write is told by Close, once:
// a sink has no one to return an error to while a run is under way.
type Writer interface {
	Sink
	// Close writes what is still held. It does not close the underlying writer.
	Close() error
}

// Extensions are the file names' ends that NewFile knows, with what each stands for.
var Extensions = []struct{ Ext, Doc string }{
	{".txt", "one line per event"},
	{".json", "Chrome trace events, for ui.perfetto.dev"},
}

// CheckFile reports whether NewFile knows a view for the file's name.
func CheckFile(name string) error {
	var known []string
	for _, e := range Extensions {
		if strings.EqualFold(filepath.Ext(name), e.Ext) {
			return nil
		}
		known = append(known, fmt.Sprintf("%s (%s)", e.Ext, e.Doc))
	}
	return fmt.Errorf("trace file %q: its name must end in %s", name, strings.Join(known, " or "))
}

// NewFile picks the view for a file by its name's extension; w is where its text goes.
func NewFile(name string, w io.Writer, pe Names, about map[string]string) (Writer, error) {
	if err := CheckFile(name); err != nil {
		return nil, err
	}
	if strings.EqualFold(filepath.Ext(name), ".json") {
		return newPerfetto(w, pe, about), nil
	}
	return NewText(w, pe), nil
}

// Tee hands each event to every sink that is not nil. It is nil itself when none is left,
// so that the executor keeps its fast path.
func Tee(sinks ...Sink) Sink {
	var t tee
	for _, s := range sinks {
		if s != nil {
			t = append(t, s)
		}
	}
	switch len(t) {
	case 0:
		return nil
	case 1:
		return t[0]
	}
	return t
}

type tee []Sink

func (t tee) Emit(e *Event) {
	for _, s := range t {
		s.Emit(e)
	}
}

// out is what the views share: a buffered writer, whose first error sticks and is told by
// Close, a line under construction, and the names of PEs, each made once.
type out struct {
	w     *bufio.Writer
	line  []byte
	pe    Names
	names map[int32]string
}

func newOut(w io.Writer, pe Names) out {
	return out{w: bufio.NewWriterSize(w, 1<<16), pe: pe, names: map[int32]string{}}
}

func (o *out) name(pe int32) string {
	s, ok := o.names[pe]
	if !ok {
		s = o.pe(int(pe))
		o.names[pe] = s
	}
	return s
}

func (o *out) flushLine() {
	o.w.Write(o.line) // the error sticks
	o.line = o.line[:0]
}

// appendDecimal appends t / scale exactly, without trailing zeros; scale is a power of
// ten, so that no float rounds a picosecond away.
func appendDecimal(b []byte, t, scale unit.Time) []byte {
	if t < 0 {
		b, t = append(b, '-'), -t
	}
	b = fmt.Append(b, int64(t/scale))
	rest := t % scale
	if rest == 0 {
		return b
	}
	b = append(b, '.')
	for scale /= 10; rest > 0; scale /= 10 {
		b = append(b, '0'+byte(rest/scale))
		rest %= scale
	}
	return b
}
