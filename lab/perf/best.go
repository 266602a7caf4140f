package perf

import (
	"cmp"
	"fmt"
	"slices"

	"kernbench/lab/sweep"
	"kernbench/unit"
)

// Best is the fastest row of a call that several rows measured.
type Best struct {
	Size      unit.Bytes      `json:"size"`
	Count     int             `json:"count"`
	Type      string          `json:"type"`
	RedOp     string          `json:"redop"`
	Root      int             `json:"root"`
	Ranks     int             `json:"ranks"`
	Algorithm string          `json:"algorithm"`
	Settings  []sweep.Setting `json:"settings"`
	Time      unit.Time       `json:"time_ps"`
	BusBW     float64         `json:"busbw_gbs"`
	Next      string          `json:"next,omitempty"`       // the second fastest, with its settings; "": no other one is right
	NextTimes float64         `json:"next_times,omitempty"` // its time as a multiple of the fastest
}

// bests returns the fastest row of each call that several rows measured, by ranks and size. Rows
// compare by their deciding placement. Of equal rows the first is the best.
func (s *Sweep) bests() []Best {
	key := func(r *Row) string { return fmt.Sprint(r.Ranks, r.Type, r.RedOp, r.Root, r.Count) }
	of := map[string][]*Row{}
	var order []*Row
	for i := range s.Rows {
		r := &s.Rows[i]
		if len(of[key(r)]) == 0 {
			order = append(order, r)
		}
		of[key(r)] = append(of[key(r)], r)
	}
	slices.SortStableFunc(order, func(a, b *Row) int { return cmp.Or(a.Ranks-b.Ranks, cmp.Compare(a.Size, b.Size)) })
	var all []Best
	for _, first := range order {
		rows := of[key(first)]
		if len(rows) < 2 || !s.Timed {
			continue
		}
		rows = slices.DeleteFunc(slices.Clone(rows), func(r *Row) bool { return r.Deciding() == nil })
		if len(rows) == 0 {
			continue
		}
		slices.SortStableFunc(rows, func(a, b *Row) int { return cmp.Compare(a.Deciding().Time, b.Deciding().Time) })
		r := rows[0]
		b := Best{
			Size: r.Size, Count: r.Count, Type: r.Type, RedOp: r.RedOp, Root: r.Root, Ranks: r.Ranks,
			Algorithm: r.Algorithm, Settings: r.Settings,
			Time: r.Deciding().Time, BusBW: r.Deciding().BusBW,
		}
		if len(rows) > 1 && b.Time > 0 {
			b.Next = sweep.Named(rows[1].Algorithm, rows[1].Settings)
			b.NextTimes = float64(rows[1].Deciding().Time) / float64(b.Time)
		}
		all = append(all, b)
	}
	return all
}
