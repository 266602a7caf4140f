package hccl

import "fmt"

// unlike reports tasks that cores of a device have prepared and the posting core has not. No engine
// performs them.
func (s *session) unlike(cores []*Kernel) []Diagnostic {
	var found []Diagnostic
	for _, k := range cores {
		if k == nil {
			continue
		}
		for _, h := range k.objects {
			if h.g == nil || h.posts {
				continue
			}
			if d, ok := h.unlike(s.poster(h, cores)); ok {
				found = append(found, d)
			}
		}
	}
	return found
}

// unlike returns a diagnostic for the first task of an object that differs from those of the
// posting core.
func (h *Hccl) unlike(poster *Kernel) (Diagnostic, bool) {
	posted := h.g.members[h.me].tasks
	for i, t := range h.tasks {
		d := t.where
		d.Rule, d.Right = CoresDiffer, "all cores that prepare tasks prepare the same, and the one that Config names among them"
		switch {
		case i >= len(posted) && (poster == nil || !poster.ended):
			return d, false // it may have reached it later
		case i >= len(posted):
			d.Found = fmt.Sprintf("block %d (%v) posts the tasks of this device, and has prepared %d: this one is never performed",
				poster.block, poster.typ, len(posted))
			return d, true
		case t.call != posted[i].call:
			d.Found = fmt.Sprintf("handle %d is another task on the core that posts, block %d (%v): %s", i,
				poster.block, poster.typ, posted[i].call)
			return d, true
		}
	}
	return Diagnostic{}, false
}

// poster returns the core that posts the tasks of an object, nil if it never began.
func (s *session) poster(h *Hccl, cores []*Kernel) *Kernel {
	typ := h.k.typ
	switch h.config.Server {
	case OnAIC:
		typ = AIC
	case OnAIV:
		typ = AIV
	}
	i := h.config.Block
	if typ == AIV {
		i += s.cores.AIC
	}
	return cores[i]
}
