package report

import (
	"io"
	"strings"

	"kernbench/lab/run"
)

// traffic writes the accesses of ranks to each other's memory. It writes one line when all are
// equal, and a line for each when they are few. Messages through rings have a line of their own.
func traffic(w io.Writer, r *run.Result) {
	var sum run.Traffic
	uniform := true
	for i := range r.Traffic {
		t := r.Traffic[i]
		sum.Add(t)
		t.Rank = r.Traffic[0].Rank
		uniform = uniform && t == r.Traffic[0]
	}
	if sum.Remote() == sum.Sent && sum.Notifies+sum.Waits+sum.Atomics+sum.Syncs == 0 {
		return
	}
	all := signals(&sum)
	const few = 16
	switch {
	case len(r.Traffic) == 1:
		field(w, "traffic", "%s; %s", moved(&sum), all)
	case uniform:
		field(w, "traffic", "each rank %s; all together %s", moved(&r.Traffic[0]), all)
	case len(r.Traffic) > few:
		least, most := r.Traffic[0].Remote(), r.Traffic[0].Remote()
		for i := range r.Traffic {
			least, most = min(least, r.Traffic[i].Remote()), max(most, r.Traffic[i].Remote())
		}
		field(w, "traffic", "ranks move %s to %s; all together %s", size(least), size(most), all)
	default:
		field(w, "traffic", "all together %s", all)
		for i := range r.Traffic {
			t := &r.Traffic[i]
			field(w, "", "rank %d %s; %s", t.Rank, moved(t), signals(t))
		}
	}
}

// moved prints the bytes, by kind of operation.
func moved(t *run.Traffic) string {
	var parts []string
	for _, p := range []struct {
		verb string
		n    int64
	}{{"reads", t.Read}, {"writes", t.Written}, {"sends", t.Sent}} {
		if p.n > 0 {
			parts = append(parts, p.verb+" "+size(p.n))
		}
	}
	if len(parts) == 0 {
		return "moves nothing"
	}
	return strings.Join(parts, ", ")
}

// signals prints the numbers of signals and waits.
func signals(t *run.Traffic) string {
	var parts []string
	for _, p := range []struct {
		n         int64
		one, many string
	}{
		{t.Notifies, "notify", "notifies"}, {t.Waits, "wait", "waits"},
		{t.Atomics, "atomic", "atomics"}, {t.Syncs, "sync or barrier", "syncs and barriers"},
	} {
		if p.n > 0 {
			parts = append(parts, plural(p.n, p.one, p.many))
		}
	}
	if len(parts) == 0 {
		return "no signals"
	}
	return strings.Join(parts, ", ")
}

func plural(n int64, one, many string) string {
	if n == 1 {
		return "1 " + one
	}
	return count(n) + " " + many
}
