package trace

import (
	"bufio"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"strings"

	"kernbench/unit"
)

// Names gives the name of a PE by its index in the machine, such as sip0.cube0.pe1.
type Names func(pe int) string

// Writer is a view that writes text. Close returns the first write error: Emit returns none,
// because it is called while a run is in progress.
type Writer interface {
	Sink
	// Close writes the events that are still held. It does not close the underlying writer.
	Close() error
}

// Extensions are the file extensions that NewFile knows, each with its format.
var Extensions = []struct{ Ext, Doc string }{
	{".pftrace", "Perfetto's protobuf, for ui.perfetto.dev"},
	{".json", "Chrome trace events, for the same"},
	{".txt", "one line per event"},
}

// compressed is the extension of compressed files.
const compressed = ".gz"

// extension returns the extension of a file's name, in lower case, and whether the file is
// compressed.
func extension(name string) (ext string, gz bool) {
	name = strings.ToLower(name)
	short := strings.TrimSuffix(name, compressed)
	return filepath.Ext(short), short != name
}

// CheckFile reports whether NewFile knows a view for the file's name.
func CheckFile(name string) error {
	ext, _ := extension(name)
	var known []string
	for _, e := range Extensions {
		if ext == e.Ext {
			return nil
		}
		known = append(known, fmt.Sprintf("%s (%s)", e.Ext, e.Doc))
	}
	return fmt.Errorf("trace file %q: its name must end in %s; %s may follow", name, strings.Join(known, " or "), compressed)
}

// Annotates reports whether a file of a name has counters and annotations.
func Annotates(name string) bool {
	ext, _ := extension(name)
	return ext == ".pftrace"
}

// FileOptions holds what a file of a trace depends on besides its name.
type FileOptions struct {
	PE    Names
	About map[string]string // metadata of the file
	Plain bool              // .pftrace: without annotations
}

// NewFile picks the view for a file by its name's extension; w is where its bytes go.
func NewFile(name string, w io.Writer, o FileOptions) (Writer, error) {
	if err := CheckFile(name); err != nil {
		return nil, err
	}
	ext, gz := extension(name)
	var packed *gzip.Writer
	if gz {
		packed, _ = gzip.NewWriterLevel(w, gzip.BestSpeed) // the level is valid
		w = packed
	}
	var v Writer
	switch ext {
	case ".pftrace":
		v = NewPFTrace(w, o.PE, o.About, o.Plain)
	case ".json":
		v = newPerfetto(w, o.PE, o.About)
	default:
		v = NewText(w, o.PE)
	}
	if gz {
		v = &packing{v, packed}
	}
	return v, nil
}

// packing is a view that compresses its bytes.
type packing struct {
	Writer
	packed *gzip.Writer
}

// Close implements Writer.
func (p *packing) Close() error { return errors.Join(p.Writer.Close(), p.packed.Close()) }

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

// out is the part that all views share. It has a buffered writer that keeps its first error for
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
