package view

import (
	"cmp"
	"container/heap"
	"slices"

	"kernbench/lab/explain"
	"kernbench/lab/run"
	"kernbench/machine"
	"kernbench/unit"
)

// waitKeeper adds up the waits of messages at links, and keeps the longest.
type waitKeeper struct {
	all      int
	longest  shortest
	links    map[machine.LinkID]*linkQueue
	start    unit.Time
	interval unit.Time
}

// linkQueue is the waits at one link.
type linkQueue struct{ waiting []int64 }

// shortest is a heap of waits, the shortest first.
type shortest []explain.Queued

func (h shortest) Len() int { return len(h) }
func (h shortest) Less(i, j int) bool {
	a, b := &h[i], &h[j]
	return cmp.Or(cmp.Compare(a.Until-a.Since, b.Until-b.Since), cmp.Compare(b.Since, a.Since),
		cmp.Compare(b.Link, a.Link), cmp.Compare(b.Site, a.Site)) < 0
}
func (h shortest) Swap(i, j int) { h[i], h[j] = h[j], h[i] }
func (h *shortest) Push(x any)   { *h = append(*h, x.(explain.Queued)) }
func (h *shortest) Pop() any {
	last := (*h)[len(*h)-1]
	*h = (*h)[:len(*h)-1]
	return last
}

// begin sets the time that is divided into intervals.
func (k *waitKeeper) begin(start, length unit.Time) {
	k.links, k.start = map[machine.LinkID]*linkQueue{}, start
	k.interval = max(1, (length+maxIntervals-1)/maxIntervals)
}

func (k *waitKeeper) add(q *explain.Queued) {
	k.all++
	l := k.links[q.Link]
	if l == nil {
		l = &linkQueue{waiting: make([]int64, maxIntervals)}
		k.links[q.Link] = l
	}
	for at := q.Since; at < q.Until; {
		i := min(maxIntervals-1, max(0, int((at-k.start)/k.interval)))
		next := q.Until
		if i < maxIntervals-1 {
			next = min(next, k.start+unit.Time(i+1)*k.interval)
		}
		l.waiting[i] += int64(next - at)
		at = next
	}
	if len(k.longest) < maxWaits {
		heap.Push(&k.longest, *q)
		return
	}
	if first := &k.longest[0]; q.Until-q.Since > first.Until-first.Since {
		k.longest[0] = *q
		heap.Fix(&k.longest, 0)
	}
}

// links makes the document's part about links.
func (l *laner) links(use *run.Use) *Links {
	if use == nil {
		return nil
	}
	out := &Links{Interval: l.waits.interval, All: len(use.Links), Links: []*Link{}, WaitCount: l.waits.all, Waits: &LinkWaits{}}
	for _, u := range use.Levels {
		out.Levels = append(out.Levels, LevelUse{u.Level, u.Links, u.Bytes, u.Utilisation, u.Queued + u.Stalled, u.Messages})
	}
	byName := map[string]machine.LinkID{}
	for id := range l.waits.links {
		name, _ := l.d.Link(id)
		byName[name] = id
	}
	order := make([]int, len(use.Links))
	for i := range order {
		order[i] = i
	}
	waited := make([]int64, len(use.Links))
	for i := range use.Links {
		if id, ok := byName[use.Links[i].Link]; ok {
			for _, n := range l.waits.links[id].waiting {
				waited[i] += n
			}
		}
	}
	slices.SortStableFunc(order, func(a, b int) int {
		return cmp.Or(cmp.Compare(waited[b], waited[a]), cmp.Compare(use.Links[b].Utilisation, use.Links[a].Utilisation))
	})
	at := map[machine.LinkID]int32{}
	for _, i := range order[:min(len(order), maxLinks)] {
		u := &use.Links[i]
		k := &Link{
			Name: u.Link, Class: u.Level, Messages: u.Messages, Bytes: u.Bytes, Used: u.Utilisation, Queued: u.Queued,
			Stalled: u.Stalled, Longest: u.Longest,
		}
		out.Width = max(out.Width, u.Line.Width)
		if id, ok := byName[u.Link]; ok {
			at[id] = int32(len(out.Links))
			_, k.Class = l.d.Link(id)
			k.Waiting = l.waits.links[id].waiting
		}
		out.Links = append(out.Links, k)
	}
	parts := make([][]float64, len(out.Links))
	for n, i := range order[:len(out.Links)] {
		parts[n] = busyParts(&use.Links[i], l.start, l.length, out.Width)
		for _, p := range parts[n] {
			out.Busiest = max(out.Busiest, min(1, p))
		}
	}
	for n, k := range out.Links {
		k.Busy = busyBytes(parts[n], out.Busiest)
	}
	l.linkWaits(out, at)
	out.Engines = engines(use.PEs)
	return out
}

// busyParts returns the part of each interval in which a link was busy. width is that of intervals.
func busyParts(u *run.LinkUse, start, length, width unit.Time) []float64 {
	if width == 0 {
		return nil
	}
	busy := make([]float64, (length+width-1)/width)
	for i, d := range u.Line.Busy {
		j := int((unit.Time(i)*u.Line.Width - start) / width)
		if d > 0 && j >= 0 && j < len(busy) {
			busy[j] += float64(d)
		}
	}
	for i := range busy {
		busy[i] /= float64(width)
	}
	return busy
}

// busyBytes returns parts of intervals as bytes, where 255 is the busiest. A value above 0 does not
// become 0.
func busyBytes(parts []float64, busiest float64) []byte {
	out := make([]byte, len(parts))
	for i, p := range parts {
		if p > 0 {
			out[i] = byte(max(1, min(255, 255*p/busiest+0.5)))
		}
	}
	return out
}

// busiest returns the part of an interval that 255 means in Link.Busy.
func (k *Links) busiest() float64 {
	if k.Busiest == 0 {
		return 1
	}
	return k.Busiest
}

// linkWaits fills in the longest waits at the links that are shown.
func (l *laner) linkWaits(out *Links, links map[machine.LinkID]int32) {
	all := []explain.Queued(l.waits.longest)
	slices.SortFunc(all, func(a, b explain.Queued) int {
		return cmp.Or(cmp.Compare(a.Since, b.Since), cmp.Compare(a.Until, b.Until), cmp.Compare(a.Link, b.Link),
			cmp.Compare(a.Site, b.Site))
	})
	w := out.Waits
	at := l.start
	for i := range all {
		q := &all[i]
		link, ok := links[q.Link]
		if !ok {
			continue
		}
		full := int32(0)
		if q.Full {
			full = 1
		}
		w.Start, w.Length = append(w.Start, int64(q.Since-at)), append(w.Length, int64(q.Until-q.Since))
		at = q.Since
		w.Link, w.Full = append(w.Link, link), append(w.Full, full)
		w.Of, w.Behind = append(w.Of, l.names.site(q.Site)), append(w.Behind, l.names.site(q.Behind))
	}
}

// engines adds up the use of engines.
func engines(pes []run.PEUse) []EngineUse {
	var all []EngineUse
	for _, e := range []struct {
		name string
		of   func(p *run.PEUse) unit.Time
	}{
		{"DMA", func(p *run.PEUse) unit.Time { return p.DMA }}, {"MATH", func(p *run.PEUse) unit.Time { return p.Math }},
		{"GEMM", func(p *run.PEUse) unit.Time { return p.GEMM }}, {"IPCQ", func(p *run.PEUse) unit.Time { return p.IPCQ }},
	} {
		u := EngineUse{Engine: e.name}
		sum := unit.Time(0)
		for i := range pes {
			d := e.of(&pes[i])
			sum += d
			if d > u.Busiest {
				u.Busiest, u.PE = d, pes[i].PE
			}
		}
		if sum > 0 {
			u.Mean = sum / unit.Time(len(pes))
			all = append(all, u)
		}
	}
	return all
}
