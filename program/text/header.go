package text

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"kernbench/collective"
	"kernbench/dtype"
	"kernbench/mem"
	"kernbench/tl"
)

// headerNames are the statements of the header, in the order in which they are printed.
var headerNames = []string{"algorithm", "collective", "operator", "root", "type", "elements", "results", "idempotent",
	"world", "slots", "scratch", "window", "part", "group", "wire"}

// required are examples of the statements that each header has.
var required = []string{"algorithm my_ring", "collective all_reduce", "type f16", "elements 8", "results in place",
	"world 4", "slots 4 of 4096 bytes", "scratch 1048576 bytes"}

var headers = map[string]func(p *parser) error{
	"algorithm": func(p *parser) (err error) {
		if p.f.Algorithm, err = p.next("a name"); err == nil && !nameForm(p.f.Algorithm) {
			err = p.errorf("found name %q, want letters, digits, _ and -, at most 128", p.f.Algorithm)
		}
		return err
	},
	"collective": func(p *parser) error {
		name, err := p.next("the name of a collective")
		if err != nil {
			return err
		}
		if _, err := collective.Lookup(name); err != nil {
			return p.errorf("%v", err)
		}
		p.f.Collective = name
		return nil
	},
	"operator": func(p *parser) error {
		t, err := p.next("a reduction")
		if err != nil {
			return err
		}
		if p.f.Op, err = tl.ParseReduceOp(t); err != nil {
			return p.errorf("%v", err)
		}
		return nil
	},
	"root": func(p *parser) error { return p.int(&p.f.Root, "root", 0, mostRanks-1) },
	"type": func(p *parser) error {
		t, err := p.next("an element type")
		if err != nil {
			return err
		}
		p.f.Type, err = p.parseType(t)
		return err
	},
	"elements": func(p *parser) error { return p.int(&p.f.Elems, "elements", 1, mostElems) },
	"results": func(p *parser) error {
		t, err := p.word("in", "apart")
		if err != nil {
			return err
		}
		if t == "in" {
			_, err = p.word("place")
			return err
		}
		return p.int(&p.f.Results, "elements", 1, mostElems)
	},
	"idempotent": func(p *parser) error {
		p.f.Idempotent = true
		return nil
	},
	"world": func(p *parser) error { return p.int(&p.f.World, "world", 1, mostRanks) },
	"slots": func(p *parser) error {
		if err := p.int(&p.f.Slots, "slots", 1, 1<<15); err != nil {
			return err
		}
		if _, err := p.word("of"); err != nil {
			return err
		}
		return p.bytes(&p.f.SlotBytes, 8, mem.MaxOffset)
	},
	"scratch": func(p *parser) error { return p.bytes(&p.f.Scratch, 0, mem.MaxOffset) },
	"window": func(p *parser) error {
		if _, err := p.word(fmt.Sprintf("w%d", len(p.parts))); err != nil {
			return err
		}
		if len(p.parts) == mostWindows {
			return p.errorf("found more than %d windows", mostWindows)
		}
		w := &window{line: p.line}
		p.parts = append(p.parts, w)
		return p.bytes(&w.bytes, 1, mem.MaxOffset)
	},
	"part":  (*parser).part,
	"group": (*parser).group,
	"wire":  (*parser).wire,
}

func nameForm(s string) bool {
	return s != "" && len(s) <= 128 && strings.Trim(s, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-") == ""
}

func (p *parser) int(to *int, what string, lo, hi int64) error {
	n, err := p.number(what, lo, hi)
	*to = int(n)
	return err
}

func (p *parser) bytes(to *int64, lo, hi int64) (err error) {
	if *to, err = p.number("bytes", lo, hi); err == nil {
		_, err = p.word("bytes")
	}
	return err
}

func (p *parser) parseType(t string) (dtype.Type, error) {
	typ, err := dtype.Parse(t)
	if err != nil {
		return typ, p.errorf("found type %q, want one of %s", t, types())
	}
	return typ, nil
}

// part reads one part of the last window.
func (p *parser) part() error {
	if len(p.parts) == 0 {
		return p.errorf("found part before window, want window first")
	}
	w := p.parts[len(p.parts)-1]
	if _, err := p.word(fmt.Sprintf("w%d", len(p.parts)-1)); err != nil {
		return err
	}
	name, err := p.next("the name of a part")
	if err != nil {
		return err
	}
	if !nameForm(strings.ReplaceAll(name, ".", "_")) || strings.HasPrefix(name, ".") || strings.HasSuffix(name, ".") {
		return p.errorf("found part %q, want a name of letters, digits, _, - and dots between them", name)
	}
	t, err := p.next("its type and elements, such as f16[8]")
	if err != nil {
		return err
	}
	typ, count, ok := strings.Cut(strings.TrimSuffix(t, "]"), "[")
	if !ok {
		return p.errorf("found %q, want a type and elements, such as f16[8]", t)
	}
	n, err := p.parseNumber(count, "elements", 1, mostElems)
	if err != nil {
		return err
	}
	part, err := newPart(name, typ, int(n))
	if err != nil {
		return p.errorf("%v", err)
	}
	if len(p.free) > 0 {
		if _, err := p.word("staging"); err != nil {
			return err
		}
		part.Staging = true
	}
	if slices.ContainsFunc(w.parts, func(o mem.Part) bool { return o.Name == name }) {
		return p.errorf("found part %s again, want another name", name)
	}
	w.parts = append(w.parts, part)
	return nil
}

// wire reads the rings that a rank sends into.
func (p *parser) wire() error {
	from, err := p.number("rank", 0, mostRanks-1)
	if err != nil {
		return err
	}
	if p.wired == nil {
		p.wired = map[int]int{}
	}
	if at := p.wired[int(from)]; at > 0 {
		return p.errorf("found the rings of rank %d again, want them once: they are in line %d", from, at)
	}
	p.wired[int(from)] = p.line
	if len(p.free) == 0 {
		return p.errorf("found no ring, want at least one, such as E->1.W")
	}
	for len(p.free) > 0 {
		t, _ := p.next("a ring")
		out, to, ok := strings.Cut(t, "->")
		peer, in, ok2 := strings.Cut(to, ".")
		if !ok || !ok2 {
			return p.errorf("found ring %q, want DIRECTION->RANK.DIRECTION, such as E->1.W", t)
		}
		r := ring{from: int32(from), line: p.line}
		n, err := p.parseNumber(peer, "rank", 0, mostRanks-1)
		if err != nil {
			return err
		}
		r.to = int32(n)
		if r.out, err = p.dir(out); err != nil {
			return err
		}
		if r.in, err = p.dir(in); err != nil {
			return err
		}
		p.rings = append(p.rings, r)
	}
	return nil
}

func (p *parser) dir(t string) (tl.Dir, error) {
	if d, ok := p.dirs[t]; ok {
		return d, nil
	}
	d, err := tl.ParseDir(t)
	if err == nil && d != tl.AnyDir {
		p.dirs[t] = d
	} else {
		return d,
			p.errorf("found direction %q, want E, W, N, S, parent, child0, child1, dim0 to dim15, or a name that a topology has registered",
				t)
	}
	return d, nil
}

// end completes the header.
func (p *parser) end() error {
	f := p.f
	p.line = p.last
	if p.seen[first] == 0 {
		return f.errorf(0, "found nothing, want \"kernbench program %d\" in the first line", Version)
	}
	for _, example := range required {
		if name, _, _ := strings.Cut(example, " "); p.seen[name] == 0 {
			line := p.last
			if len(f.Blocks) > 0 {
				line = f.Blocks[0].line
			}
			return f.errorf(line, "found a header without %s, want it before this line, such as %q", name, example)
		}
	}
	what, err := collective.Lookup(f.Collective)
	if err != nil {
		return f.errorf(p.seen["collective"], "%v", err)
	}
	for name, wanted := range map[string]bool{"operator": what.Reduces, "root": what.Rooted} {
		switch at := p.seen[name]; {
		case at == 0 && wanted:
			return f.errorf(p.seen["collective"], "found no %s, want one for %s", name, f.Collective)
		case at > 0 && !wanted:
			return f.errorf(at, "found %s, but %s has none", name, f.Collective)
		}
	}
	if err := p.meaning(what); err != nil {
		return err
	}
	if err := p.checkGroups(); err != nil {
		return err
	}
	for _, r := range p.rings {
		if int(r.from) >= f.World {
			return f.errorf(r.line, "found rings of rank %d, want a rank from 0 to %d", r.from, f.World-1)
		}
	}
	slices.SortStableFunc(p.rings, func(a, b ring) int { return int(a.from) - int(b.from) })
	var bad *ring
	if f.Wiring, bad, err = wire(f.World, p.rings); err != nil {
		return f.errorf(bad.line, "%v", err)
	}
	words := 0
	for i, w := range p.parts {
		l, err := layout(w.bytes, w.parts)
		if err != nil {
			return f.errorf(w.line, "window w%d: %v", i, err)
		}
		if words += l.Words; words > mostWords/f.World {
			return f.errorf(w.line, "found %d control words on each of %d ranks, want at most %d in all", words, f.World, mostWords)
		}
		f.Windows = append(f.Windows, l)
	}
	return nil
}

// meaning checks that the collective can be called like that.
func (p *parser) meaning(what *collective.Collective) error {
	f := p.f
	call := f.Call()
	if err := what.Check(call); err != nil {
		return f.errorf(p.seen["elements"], "%v", err)
	}
	space := f.Elems
	if f.Results > 0 {
		space = f.Results
	} else if what.Apart {
		return f.errorf(p.seen["results"], "found results in place, want them apart: %s cannot replace its contributions", f.Collective)
	}
	if n := max(f.Elems, f.Results); n > math.MaxInt32/f.World {
		name := "elements"
		if f.Results == n {
			name = "results"
		}
		return f.errorf(p.seen[name], "found %d elements on each of %d ranks, want at most %d in all", n, f.World, math.MaxInt32)
	}
	for _, r := range []int{0, f.Root, f.World - 1} {
		if in := what.In(call, r); in > f.Elems {
			return f.errorf(p.seen["elements"], "found %d elements, want %d, the input of rank %d", f.Elems, in, r)
		}
		if out := what.Out(call, r); out > space {
			return f.errorf(p.seen["results"], "found space for results of %d elements, want %d, the result of rank %d", space, out, r)
		}
	}
	return nil
}

// Call returns the collective that the file performs.
func (f *File) Call() collective.Call {
	return collective.Call{World: f.World, Elems: f.Elems, Type: f.Type, Op: f.Op, Root: f.Root}
}
