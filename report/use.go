package report

import (
	"fmt"
	"io"
	"maps"
	"slices"

	"kernbench/lab/run"
	"kernbench/unit"
)

// usedLines is the number of links, PEs and rings in the text. JSON has all.
const usedLines = 10

// use prints how long links, engines and rings were in use.
func use(w io.Writer, u *run.Use) {
	if u == nil {
		return
	}
	defer fmt.Fprintln(w)
	needed := ""
	if u.NeededBytes > 0 {
		needed = fmt.Sprintf(", needed at least %v (%.3g times)", u.NeededBytes, float64(u.MovedBytes)/float64(u.NeededBytes))
	}
	field(w, "bytes moved", "%v%s", u.MovedBytes, needed)
	head := []string{"level", ">links", ">messages", ">bytes", ">busy", ">hottest", ">queued", ">longest", ">stalls", ">stalled"}
	t := Table{Head: slices.Clone(head)}
	for i := range u.Levels {
		t.Add(linkRow(&u.Levels[i], u.Levels[i].Level, fmt.Sprint(u.Levels[i].Links))...)
	}
	t.Write(w)
	fmt.Fprintln(w)
	t = Table{Head: []string{"level", "class", ">messages", ">bytes", ">queued", ">stalls", ">stalled"}}
	for i := range u.Levels {
		for _, class := range slices.Sorted(maps.Keys(u.Levels[i].ByClass)) {
			c := u.Levels[i].ByClass[class]
			t.Add(u.Levels[i].Level, class, count(c.Messages), unit.Bytes(c.Bytes).String(), c.Queued.String(),
				count(c.Stalls), c.Stalled.String())
		}
	}
	t.Write(w)
	fmt.Fprintln(w)
	head[0], head[1], head[5] = "link", "level", ">use"
	t = Table{Head: head}
	for i := range min(usedLines, len(u.Links)) {
		t.Add(linkRow(&u.Links[i], u.Links[i].Link, u.Links[i].Level)...)
	}
	t.Write(w)
	more(w, len(u.Links), "links")
	fmt.Fprintln(w)
	t = Table{Head: []string{"PE", ">DMA", ">MATH", ">GEMM", ">IPCQ"}}
	for i := range min(usedLines, len(u.PEs)) {
		p := &u.PEs[i]
		t.Add(p.PE, p.DMA.String(), p.Math.String(), p.GEMM.String(), p.IPCQ.String())
	}
	t.Write(w)
	more(w, len(u.PEs), "PEs")
	if len(u.Rings) == 0 {
		return
	}
	fmt.Fprintln(w)
	t = Table{Head: []string{"ring from", "to", "dir", ">messages", ">most slots", ">mean"}}
	for i := range min(usedLines, len(u.Rings)) {
		r := &u.Rings[i]
		t.Add(r.From, r.To, r.Dir, count(r.Messages), fmt.Sprint(r.MaxSlots), fmt.Sprintf("%.2f", r.Mean))
	}
	t.Write(w)
	more(w, len(u.Rings), "rings")
}

func linkRow(l *run.LinkUse, first, second string) []string {
	return []string{
		first, second, count(l.Messages), unit.Bytes(l.Bytes).String(), l.Busy.String(), fmt.Sprintf("%.1f %%", 100*l.Utilisation),
		l.Queued.String(), fmt.Sprint(l.Longest), count(l.Stalls), l.Stalled.String(),
	}
}

func more(w io.Writer, n int, what string) {
	if n > usedLines {
		fmt.Fprintf(w, "and %d further %s: --format json has all\n", n-usedLines, what)
	}
}
