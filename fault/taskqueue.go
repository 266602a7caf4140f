package fault

import (
	"fmt"
	"slices"
	"strings"
	"text/tabwriter"
)

// TaskQueue lists the tasks that a rank gave to its communication engine, in the terms of the
// interface that it used.
type TaskQueue struct {
	Rank  int
	PE    string
	Name  string // of the queue, or empty
	State string // of the engine that performs the tasks, or empty
	Tasks []QueuedTask
}

// QueuedTask is one task of such a queue. It has the number of times the task was prepared,
// released, performed, and waited for.
type QueuedTask struct {
	Handle                         int
	Name                           string
	Turns, Committed, Done, Waited int
}

// over reports whether nothing is left to do or to wait for.
func (t *QueuedTask) over() bool { return t.Done >= t.Turns && t.Waited >= t.Turns }

// The largest number of queues in a report, and of tasks of each.
const (
	mostQueues = 8
	mostTasks  = 16
)

// queues returns a table of each queue; those that are equal on several ranks share one.
func queues(all []TaskQueue) string {
	var b strings.Builder
	var groups [][]*TaskQueue
	at := map[string]int{}
	for i := range all {
		q := &all[i]
		key := fmt.Sprintf("%q %q %v", q.Name, q.State, q.Tasks)
		k, known := at[key]
		if !known {
			k = len(groups)
			at[key], groups = k, append(groups, nil)
		}
		groups[k] = append(groups[k], q)
	}
	for _, g := range groups[:min(mostQueues, len(groups))] {
		b.WriteString("\n  " + heading(g))
		g[0].table(&b)
	}
	if len(groups) > mostQueues {
		ranks := ranksOf(slices.Concat(groups[mostQueues:]...))
		fmt.Fprintf(&b, "\n  ... and the tasks of %s", ranks)
	}
	return b.String()
}

// heading names the ranks that share a table.
func heading(g []*TaskQueue) string {
	q := g[0]
	s := "tasks of " + ranksOf(g)
	if len(g) == 1 && q.PE != "" {
		s += " (" + q.PE + ")"
	}
	if q.Name != "" {
		s += ", " + q.Name
	}
	if len(q.Tasks) == 0 {
		s += ": none"
	}
	if q.State != "" {
		s += ": " + q.State
	}
	return s
}

// table has a line for each task. If there are many, it leaves out those that ended first.
func (q *TaskQueue) table(b *strings.Builder) {
	if len(q.Tasks) == 0 {
		return
	}
	first := 0
	for first < len(q.Tasks)-mostTasks && q.Tasks[first].over() {
		first++
	}
	var rows strings.Builder
	w := tabwriter.NewWriter(&rows, 0, 0, 2, ' ', 0)
	fmt.Fprint(w, "\n    handle\tname\tprepared\tcommitted\tdone\twaited")
	shown := q.Tasks[first:min(first+mostTasks, len(q.Tasks))]
	for i := range shown {
		t := &shown[i]
		fmt.Fprintf(w, "\n    %d\t%s\t%d\t%d\t%d\t%d", t.Handle, t.Name, t.Turns, t.Committed, t.Done, t.Waited)
	}
	_ = w.Flush() // a Builder takes everything
	b.WriteString(rows.String())
	if first > 0 {
		fmt.Fprintf(b, "\n    ... after %d that are over", first)
	}
	if n := len(q.Tasks) - first - len(shown); n > 0 {
		fmt.Fprintf(b, "\n    ... and %d more", n)
	}
}

// ranksOf lists the ranks of queues: "rank 3", "ranks 0-3, 7".
func ranksOf(g []*TaskQueue) string {
	ranks := make([]int, len(g))
	for i, q := range g {
		ranks[i] = q.Rank
	}
	slices.Sort(ranks)
	ranks = slices.Compact(ranks)
	if len(ranks) == 1 {
		return fmt.Sprintf("rank %d", ranks[0])
	}
	const most = 8
	var runs []string
	for i := 0; i < len(ranks); {
		k := i + 1
		for k < len(ranks) && ranks[k] == ranks[k-1]+1 {
			k++
		}
		switch {
		case len(runs) == most:
			return fmt.Sprintf("ranks %s and %d more", strings.Join(runs, ", "), len(ranks)-i)
		case k == i+1:
			runs = append(runs, fmt.Sprint(ranks[i]))
		default:
			runs = append(runs, fmt.Sprintf("%d-%d", ranks[i], ranks[k-1]))
		}
		i = k
	}
	return "ranks " + strings.Join(runs, ", ")
}
