package explain

import (
	"cmp"
	"fmt"
	"slices"

	"kernbench/record/cause"
	"kernbench/unit"
)

// Wait is a wait on the critical path, the longest of its kind.
type Wait struct {
	Text  string    `json:"text"`
	Rank  int       `json:"rank"`
	Since unit.Time `json:"since_ps"`
	Until unit.Time `json:"until_ps"`
	Count int       `json:"count"`    // waits of this kind on the path
	Total unit.Time `json:"total_ps"` // of them: waits may overlap
}

// story returns the waits on the critical path: the longest of each kind, ordered by their totals.
func (x *explaining) story(waits []cause.Waiting) []Wait {
	type kind struct {
		why            cause.Reason
		at             cause.Kind
		waiter, target [2]string
	}
	of := func(s cause.Site) [2]string {
		o := x.log.Operation(s)
		return [2]string{o.Call, o.Line}
	}
	longest, count, total := map[kind]cause.Waiting{}, map[kind]int{}, map[kind]unit.Time{}
	var kinds []kind
	for _, w := range waits {
		if w.Site == w.For.Site && w.At.Kind() == cause.Link {
			continue // behind a part of its own
		}
		k := kind{w.Why, w.At.Kind(), of(w.Site), of(w.For.Site)}
		if count[k] == 0 {
			kinds = append(kinds, k)
		}
		count[k]++
		total[k] += w.Until - w.Since
		if l := longest[k]; w.Until-w.Since > l.Until-l.Since || w.Until-w.Since == l.Until-l.Since && w.Until < l.Until {
			longest[k] = w
		}
	}
	slices.SortStableFunc(kinds, func(a, b kind) int {
		return cmp.Or(cmp.Compare(total[b], total[a]), cmp.Compare(longest[a].Until, longest[b].Until))
	})
	all := make([]Wait, 0, len(kinds))
	for _, k := range kinds {
		w := longest[k]
		all = append(all, Wait{
			Text: x.sentence(&w), Rank: int(x.log.Operation(w.Site).Rank), Since: w.Since, Until: w.Until, Count: count[k], Total: total[k],
		})
	}
	return all
}

// sentence describes a wait in words.
func (x *explaining) sentence(w *cause.Waiting) string {
	return fmt.Sprintf("%s waits %v for %s", x.operation(w.Site), w.Until-w.Since, x.object(w))
}

// object names the thing that a rank waits for.
func (x *explaining) object(w *cause.Waiting) string {
	other := x.operation(w.For.Site)
	switch k := w.At.Kind(); {
	case k == cause.Ring && w.Why == cause.Credit:
		e := x.log.Ring(w.At)
		slot := ""
		if s := w.For.Step; s != 0 && s != cause.MostSteps {
			slot = fmt.Sprintf(" %d", (int(s)-1)%e.Slots)
		}
		return fmt.Sprintf("a credit of the ring %s to rank %d, whose slot%s is held by %s", e.Dir, e.To, slot, other)
	case k == cause.Ring:
		e := x.log.Ring(w.At)
		return fmt.Sprintf("a message of the ring %s of rank %d, from %s", e.Dir, e.From, other)
	case k == cause.Link:
		return fmt.Sprintf("%s, behind %s", x.name(w.At), other)
	case k == cause.Buffer:
		return fmt.Sprintf("space in the %s, behind %s", x.name(w.At), other)
	case k == cause.DMA:
		return fmt.Sprintf("space in the queue of %s, behind %s", x.name(w.At), other)
	case k == cause.Math || k == cause.GEMM || k == cause.Engine:
		return fmt.Sprintf("%s, behind %s", x.name(w.At), other)
	case k == cause.Word:
		return fmt.Sprintf("a word of %s, which %s changes", x.m.PEName(w.At.Number()), other)
	case k == cause.Peer:
		return fmt.Sprintf("an acknowledgement of %s, of %s", x.m.PEName(w.At.Number()), other)
	}
	if w.Site == w.For.Site { // the log does not tell operations of one line apart
		return fmt.Sprintf("the end of this %s, or of an earlier one at the same line", x.log.Operation(w.Site).Call)
	}
	return "the end of " + other
}
