package device

import (
	"fmt"

	"kernbench/dtype"
	"kernbench/fault"
	"kernbench/mem"
)

// CopyToWindow writes values to elements first, first+1, ... of a data part in the copy of a
// member, rounded to the part's type. The write is complete when it returns. It does nothing in a
// run without data.
func (c *Context) CopyToWindow(w *mem.Window, rank int, part string, first int, values []float64) error {
	p, err := c.data("copy_to_window", w, rank, part, first, len(values))
	if err != nil {
		return err
	}
	return c.writePart(w, rank, p, first, encode(p.Type, values))
}

// CopyToWindowBytes is CopyToWindow of elements as they are stored, little endian.
func (c *Context) CopyToWindowBytes(w *mem.Window, rank int, part string, first int, data []byte) error {
	p, err := c.data("copy_to_window", w, rank, part, first, 0)
	if err != nil {
		return err
	}
	size := p.Type.Size()
	if len(data)%size != 0 {
		return fmt.Errorf("copy_to_window: %w: %d bytes is not a multiple of the %v size (%d)", ErrShape, len(data), p.Type, p.Type.Size())
	}
	if _, err := c.data("copy_to_window", w, rank, part, first, len(data)/size); err != nil {
		return err
	}
	return c.writePart(w, rank, p, first, data)
}

func (c *Context) writePart(w *mem.Window, rank int, p *mem.Part, first int, data []byte) error {
	log := c.log()
	if log == nil || len(data) == 0 {
		return nil
	}
	return log.Write(partAddr(w, rank, p, first), p.Type, data)
}

// ReadWindow reads n elements of a data part in the copy of a member, from element first on, after
// all launches so far.
func (c *Context) ReadWindow(w *mem.Window, rank int, part string, first, n int) ([]float64, error) {
	data, p, err := c.readPart(w, rank, part, first, n)
	if err != nil {
		return nil, err
	}
	values := make([]float64, n)
	for i := range values {
		values[i] = dtype.At(p.Type, data, i)
	}
	return values, nil
}

// ReadWindowBytes is ReadWindow of elements as they are stored.
func (c *Context) ReadWindowBytes(w *mem.Window, rank int, part string, first, n int) ([]byte, error) {
	data, _, err := c.readPart(w, rank, part, first, n)
	return data, err
}

func (c *Context) readPart(w *mem.Window, rank int, part string, first, n int) ([]byte, *mem.Part, error) {
	p, err := c.data("read_window", w, rank, part, first, n)
	if err != nil {
		return nil, nil, err
	}
	log := c.log()
	if log == nil {
		return nil, nil, &fault.NoData{What: w.Name + "." + p.FullName()}
	}
	if n == 0 {
		return nil, p, nil
	}
	data, err := log.Read(partAddr(w, rank, p, first), p.Type, n)
	if err != nil {
		err = fmt.Errorf("read of %s.%s of rank %d: %w", w.Name, p.FullName(), rank, err)
	}
	return data, p, err
}

// SetWords sets control words first, first+1, ... of a part in the copy of a member.
func (c *Context) SetWords(w *mem.Window, rank int, part string, first int, values ...int64) error {
	if err := c.reach("set_words", w); err != nil {
		return err
	}
	p, err := findWords("set_words", w, rank, part, first, len(values))
	if err != nil {
		return err
	}
	for _, v := range values {
		if err := fitsWord("set_words", p, v); err != nil {
			return err
		}
	}
	copy(w.Words(rank)[int(p.First)+first:], values)
	return nil
}

// ReadWords reads n control words of a part in the copy of a member, from word first on. Runs
// without data have control words, too.
func (c *Context) ReadWords(w *mem.Window, rank int, part string, first, n int) ([]int64, error) {
	if err := c.reach("read_words", w); err != nil {
		return nil, err
	}
	p, err := findWords("read_words", w, rank, part, first, n)
	if err != nil {
		return nil, err
	}
	values := make([]int64, n)
	copy(values, w.Words(rank)[int(p.First)+first:])
	return values, nil
}

// reach reports whether the host can access a window.
func (c *Context) reach(op string, w *mem.Window) error {
	if err := c.usableWindow(op, w); err != nil {
		return err
	}
	return c.idle(w, op+" of "+w.Name)
}

// data finds elements [first, first+n) of a data part for the host.
func (c *Context) data(op string, w *mem.Window, rank int, part string, first, n int) (*mem.Part, error) {
	if err := c.reach(op, w); err != nil {
		return nil, err
	}
	p, err := findPart(op, w, rank, part)
	if err != nil {
		return nil, err
	}
	if p.Word != mem.NoWord {
		return nil, fmt.Errorf("%s: %w: %s.%v are control words: read_words and set_words are for them", op, ErrWindow, w.Name, p)
	}
	return p, inPart(op, "element", w, p, first, n)
}

// inPart checks the bounds of elements [first, first+n) of a part.
func inPart(op, unit string, w *mem.Window, p *mem.Part, first, n int) error {
	if first >= 0 && n >= 0 && n <= p.Count && first <= p.Count-n {
		return nil
	}
	return &fault.OutOfBounds{
		Place: hostPlace(op), Window: w.Name, Buffer: p.FullName(), Unit: unit,
		From: int64(first), To: int64(first) + int64(n), Size: int64(p.Count),
	}
}

// partAddr returns the physical address of an element of a data part.
func partAddr(w *mem.Window, rank int, p *mem.Part, element int) mem.Addr {
	return w.Addr(rank, p.Off+int64(element)*int64(p.Type.Size()))
}
