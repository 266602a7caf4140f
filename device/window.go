package device

import (
	"errors"
	"fmt"
	"slices"

	"kernbench/fault"
	"kernbench/mem"
	"kernbench/unit"
)

// ErrWindow is wrapped by errors about making, using or freeing a window for which package fault
// has no type.
var ErrWindow = errors.New("window refused")

// windowList is the list of a context's teams and windows.
type windowList struct {
	teams   []*mem.Team
	windows []*mem.Window // of teams; not those of algorithms
	live    []*mem.Window // all windows: of teams, of their barriers, and of algorithms
	gone    []any         // tensors and windows that were freed last
}

// NewWindow makes symmetric memory for a team: bytes at the same offset of each member's HBM slice.
// They are divided into buffers in their order, by mem.NewLayout. 0 bytes means as many as the
// buffers need. A new window is all zero, except for staging memory. If the memory of one member is
// too small, no member gets the window. No two windows have one name at the same time. The error
// lists all mistakes of the declaration.
func (c *Context) NewWindow(name string, t *mem.Team, bytes int64, buffers ...mem.Buffer) (*mem.Window, error) {
	l, err := mem.NewLayout(bytes, buffers)
	return c.newWindow(name, t, l, err)
}

// NewWindowLayout is NewWindow with a layout that was made before.
func (c *Context) NewWindowLayout(name string, t *mem.Team, l *mem.Layout) (*mem.Window, error) {
	if l == nil {
		return c.newWindow(name, t, nil, errors.New("no layout"))
	}
	return c.newWindow(name, t, l, nil)
}

func (c *Context) newWindow(name string, t *mem.Team, l *mem.Layout, bad error) (*mem.Window, error) {
	errs := []error{bad, c.usableTeam(t)}
	if name == "" {
		errs = append(errs, errors.New("a window has a name"))
	}
	if slices.ContainsFunc(c.windows, func(w *mem.Window) bool { return w.Name == name }) {
		errs = append(errs, errors.New("there is one of that name: free it, or choose another name"))
	}
	if err := errors.Join(errs...); err != nil {
		return nil, fmt.Errorf("%w: window %q: %w", ErrWindow, name, err)
	}
	w, err := c.window(name, t, l)
	if err != nil {
		return nil, fmt.Errorf("%w: window %q: %w", ErrWindow, name, err)
	}
	c.windows = append(c.windows, w)
	return w, nil
}

// mostWords bounds the number of control words of a window on all members together. Each takes 8
// bytes of this program's memory.
const mostWords = 2 * unit.GiB

// TooManyWords is a window whose control words are more than this program keeps.
type TooManyWords struct{ Words, Members int }

func (e *TooManyWords) Error() string {
	return fmt.Sprintf("%d control words on each of %d members would take %v of this program's memory: at most %v are allowed",
		e.Words, e.Members, e.bytes(), mostWords)
}

func (e *TooManyWords) bytes() unit.Bytes { return 8 * unit.Bytes(e.Words) * unit.Bytes(e.Members) }

// window makes a window that the context does not list.
func (c *Context) window(name string, t *mem.Team, l *mem.Layout) (*mem.Window, error) {
	if e := (&TooManyWords{l.Words, t.Size()}); e.bytes() > mostWords {
		return nil, e
	}
	heaps := make([]*mem.Allocator, t.Size())
	for r, pe := range t.PEs {
		heaps[r] = c.heap(int(pe))
	}
	off, err := mem.AllocSymmetric(heaps, l.Bytes)
	if full, ok := errors.AsType[*mem.NoCommonRun](err); ok {
		return nil, fmt.Errorf("HBM of %s: %w", c.cfg.Machine.PEName(int(t.PEs[full.Index])), err)
	} else if err != nil {
		return nil, err
	}
	w := mem.NewWindow(name, t, l, off)
	c.live = append(c.live, w)
	if c.cfg.Fresh != nil {
		for r := range t.Size() {
			c.cfg.Fresh(w.Addr(r, 0), l.Bytes)
		}
	}
	if err := c.mapZeros(w); err != nil {
		_ = c.release(w) // of the memory that was mapped
		return nil, err
	}
	return w, nil
}

// mapZeros maps the memory of a window's data: zeros, except for staging memory. New control words
// are zero already.
func (c *Context) mapZeros(w *mem.Window) error {
	log := c.log()
	if log == nil {
		return nil
	}
	var zeros []byte
	for a, p := range pieces(w) {
		if err := log.Map(a, p.Type, p.Count); err != nil {
			return err
		}
		if p.Staging {
			continue
		}
		if n := p.Bytes(); int64(len(zeros)) < n {
			zeros = make([]byte, n)
		}
		if err := log.Write(a, p.Type, zeros[:p.Bytes()]); err != nil {
			return err
		}
	}
	return nil
}

// pieces returns the data parts of all members' copies, with their addresses.
func pieces(w *mem.Window) func(yield func(mem.Addr, *mem.Part) bool) {
	return func(yield func(mem.Addr, *mem.Part) bool) {
		for r := range w.Team.Size() {
			for i := range w.Layout.Parts {
				p := &w.Layout.Parts[i]
				if p.Word == mem.NoWord && !yield(w.Addr(r, p.Off), p) {
					return
				}
			}
		}
	}
}

// FreeWindow frees the memory of all members. It is an error if queued work uses the window.
func (c *Context) FreeWindow(w *mem.Window) error {
	if err := c.reach("free_window", w); err != nil {
		return err
	}
	c.windows = slices.DeleteFunc(c.windows, func(x *mem.Window) bool { return x == w })
	return c.release(w)
}

// release unmaps and frees a window's memory.
func (c *Context) release(w *mem.Window) error {
	w.Released = true
	c.live = slices.DeleteFunc(c.live, func(x *mem.Window) bool { return x == w })
	c.remember(w)
	var errs []error
	if log := c.log(); log != nil {
		for a := range pieces(w) {
			errs = append(errs, log.Unmap(a))
		}
	}
	for _, pe := range w.Team.PEs {
		errs = append(errs, c.heap(int(pe)).Free(w.Base))
	}
	return errors.Join(errs...)
}

// usableWindow reports whether the host can use a window.
func (c *Context) usableWindow(op string, w *mem.Window) error {
	switch {
	case w == nil:
		return fmt.Errorf("%s: %w: no window", op, ErrWindow)
	case w.Released:
		return &fault.Released{Place: hostPlace(op), Window: w.Name}
	case !slices.Contains(c.windows, w):
		return fmt.Errorf("%s: window %s: %w", op, w.Name, ErrForeign)
	}
	return nil
}

// footprint returns the HBM that a window takes on all members together.
func footprint(w *mem.Window) unit.Bytes {
	return unit.Bytes(w.Layout.Bytes) * unit.Bytes(w.Team.Size())
}
