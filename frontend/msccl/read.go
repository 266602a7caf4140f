package msccl

import (
	"bytes"
	"fmt"
	"maps"
	"slices"

	"kernbench/frontend/plan"
)

// Name is the dialect's name.
const Name = "msccl"

// Is reports whether a file looks like an algorithm of MSCCL: XML with an element algo near its
// beginning.
func Is(data []byte) bool {
	head := bytes.TrimPrefix(data[:min(len(data), 64<<10)], []byte("\ufeff"))
	return bytes.HasPrefix(bytes.TrimSpace(head), []byte("<")) && bytes.Contains(head, []byte("<algo"))
}

// Read reads a file. If it returns no program, the findings have the reason.
func Read(f plan.File) (*plan.Program, []plan.Finding) {
	a, r := parse(f)
	if len(r.findings) > 0 {
		return nil, r.findings
	}
	p := &plan.Program{
		Dialect: Name, Name: a.name, Collective: collectives[a.coll], Protocol: a.proto, World: a.ngpus,
		MinBytes: a.minBytes, MaxBytes: a.maxBytes, Modes: a.modes(), Blocks: a.mostBlocks(),
	}
	for _, what := range slices.Sorted(maps.Keys(r.unknown)) {
		p.Notes = append(p.Notes, fmt.Sprintf("%s: ignored, as runtimes do (%d times)", what, r.unknown[what]))
	}
	p.Notes = append(p.Notes, a.notes()...)
	broken := a.check(f.Name)
	p.Plan = func(c plan.Call) (*plan.Plan, []plan.Finding) {
		pl, more := a.plan(f.Name, c)
		return pl, slices.Concat(broken, more)
	}
	p.Sizes = a.sizes
	p.WhyNot = a.whyNot
	return p, nil
}

func parse(f plan.File) (*algo, *reader) {
	r := newReader(f)
	if len(f.Data) > mostBytes {
		r.reject(0, "found %d bytes, want at most %d", len(f.Data), mostBytes)
		return nil, r
	}
	if i := bytes.IndexByte(f.Data, 0); i >= 0 {
		r.reject(1+bytes.Count(f.Data[:i], []byte("\n")), "found a zero byte, want text in UTF-8")
		return nil, r
	}
	return r.algo(), r
}

// modes returns the uses that the file allows: out of place, in place. Microsoft's runtime ignores
// outofplace: a program that is not in place is out of place.
func (a *algo) modes() []bool {
	switch {
	case a.inPlace && a.outOfPlace:
		return []bool{false, true}
	case a.inPlace:
		return []bool{true}
	}
	return []bool{false}
}
