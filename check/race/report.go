package race

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"kernbench/record/history"
	"kernbench/unit"
)

// Report is the judgement on a run.
type Report struct {
	Class   Class    `json:"class"`
	Total   int      `json:"total"`   // occurrences of hazards of all kinds
	Hazards []Hazard `json:"hazards"` // one for each combination of lines, kind and buffer, in the order of first occurrence
	Left    int      `json:"left_out,omitempty"`
	Depends []Depend `json:"depends,omitempty"`
	Records int      `json:"records"` // of the account that was judged

	// Atomics reports whether kernels got values from fetch-adds or compare-swaps. What they do
	// then is known for these values only: other schedules may have hazards where this one has
	// none.
	Atomics bool `json:"atomics,omitempty"`

	// OnlyAtomics reports whether only atomics make the class scheduled, and there are no hazards.
	// The class is another one if kernels do not act on these values: see Options.Ignored.
	OnlyAtomics bool `json:"only_atomics,omitempty"`

	// Again requests another pass with Detector.Next. In this pass a notification came after a wait
	// that it could have ended, or the executor left out records that matter. Or there are hazards,
	// which the next pass judges without joint events, or for which it has source lines.
	Again bool `json:"again,omitempty"`
	// Certain reports whether another pass can do no more than add source lines.
	Certain bool `json:"-"`
	// Unsettled reports whether the limit of passes ended the search. The reported hazards are
	// real, but there may be more.
	Unsettled bool `json:"unsettled,omitempty"`
}

// MoreSchedules is the number of further random schedules to judge if Report.Atomics is set. A lock
// that admits two ranks has hazards in two of three schedules or more.
const MoreSchedules = 8

// Kind is a kind of hazard.
type Kind uint8

// The kinds.
const (
	Race        Kind = iota // two accesses of the same bytes, at least one a write, in no order
	LostUpdate              // two updates of a word in no order, of which one hides the other
	MissedValue             // an update that may come before a wait has seen the value it waits for
	Slot                    // a slot of a ring that is read after it was given back
	ReusedFlag              // a packet with the flag of the one that it replaces
)

var kindNames = [...]string{"race", "lost_update", "missed_value", "slot", "reused_flag"}

func (k Kind) String() string { return kindNames[k] }

// MarshalText returns the name.
func (k Kind) MarshalText() ([]byte, error) { return []byte(k.String()), nil }

// Access is one of the two sides of a hazard.
type Access struct {
	Info  history.AgentInfo `json:"-"`
	Agent string            `json:"agent"`
	Rank  int               `json:"rank"`
	PE    string            `json:"pe"`
	Call  string            `json:"call"`
	Line  string            `json:"line,omitempty"`
	Time  unit.Time         `json:"time_ps,omitempty"` // 0 without a clock
	Does  string            `json:"does"`              // read, write, combine; set 1, add 1; wait >= 2
	// Addr and Bytes are the whole access, the first of its rows.
	Addr  uint64 `json:"addr"`
	Bytes int64  `json:"bytes,omitempty"`
	Rows  int32  `json:"rows,omitempty"`
	State string `json:"state,omitempty"` // its progress when the other one began
}

func (a *Access) String() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s of %s", a.Does, a.Agent)
	if a.PE != "" {
		fmt.Fprintf(&b, " (%s)", a.PE)
	}
	if a.Call != "" {
		fmt.Fprintf(&b, ", %s", a.Call)
	}
	if a.Line != "" {
		fmt.Fprintf(&b, " at %s", a.Line)
	}
	if a.Bytes > 0 {
		fmt.Fprintf(&b, ", %d bytes", a.Bytes)
		if a.Rows > 1 {
			fmt.Fprintf(&b, " in each of %d rows", a.Rows)
		}
	}
	if a.Time > 0 {
		fmt.Fprintf(&b, ", t=%v", a.Time)
	}
	if a.State != "" {
		fmt.Fprintf(&b, ": %s", a.State)
	}
	return b.String()
}

// Hazard is two accesses that nothing orders, though the outcome depends on their order.
type Hazard struct {
	Kind    Kind   `json:"kind"`
	First   Access `json:"first"` // in the account of this run
	Second  Access `json:"second"`
	Where   string `json:"where"` // the first byte that both touch, or the word
	Addr    uint64 `json:"addr"`
	Missing string `json:"missing"` // what would order them
	Count   int    `json:"count"`   // occurrences
}

func (h *Hazard) String() string {
	var b strings.Builder
	what := map[Kind]string{
		Race: "race on ", LostUpdate: "lost update of ", MissedValue: "a wait can miss a value of ", Slot: "race on ",
		ReusedFlag: "reused flag of ",
	}[h.Kind]
	fmt.Fprintf(&b, "%s%s", what, h.Where)
	if h.Count > 1 {
		fmt.Fprintf(&b, " (%d times)", h.Count)
	}
	fmt.Fprintf(&b, "\n  %v\n  %v\n  missing: %s", &h.First, &h.Second, h.Missing)
	return b.String()
}

// hazards collects hazards, one for each combination of lines, kind and buffer.
type hazards struct {
	list  []Hazard
	index map[hazardKey]int
	total int
	left  map[hazardKey]bool
}

type hazardKey struct {
	kind                       Kind
	call1, line1, call2, line2 string
	buffer                     string
	agent1, agent2             history.Agent // where no lines were recorded
}

// find counts a hazard and returns the place of its description, or nil if it has one.
func (h *hazards) find(key hazardKey, most int) *Hazard {
	h.total++
	if i, ok := h.index[key]; ok {
		h.list[i].Count++
		return nil
	}
	if len(h.list) >= most {
		if h.left == nil {
			h.left = map[hazardKey]bool{}
		}
		h.left[key] = true
		return nil
	}
	if h.index == nil {
		h.index = map[hazardKey]int{}
	}
	h.index[key] = len(h.list)
	h.list = append(h.list, Hazard{Kind: key.kind, Count: 1})
	return &h.list[len(h.list)-1]
}

// Report returns the judgement on the log so far.
func (d *Detector) Report() *Report {
	d.log.Flush()
	d.settleGuards()
	d.settleReads()
	d.settleSwaps()
	r := &Report{
		Hazards: d.hazards.list, Total: d.hazards.total, Left: len(d.hazards.left),
		Depends: d.depends.list, Records: d.records, Again: d.again || d.void || d.log.WasLeftOut(),
	}
	r.Certain = !r.Again && !d.hidesHazards() && !d.mayBeFalse()
	switch {
	case d.hidesHazards() || d.lacksLines() || d.mayBeFalse():
		r.Again = true
	case d.again && !d.void && d.facts.full():
		r.Again, r.Unsettled = false, true
	}
	r.Depends = append(slices.Clip(r.Depends), d.ordered.list...)
	r.Atomics = slices.ContainsFunc(r.Depends, func(x Depend) bool { return x.Op == "fetch_add" || x.Op == "compare_swap" })
	switch {
	case len(r.Hazards) > 0 || len(r.Depends) > 0:
		r.Class = Scheduled
	case d.sided || d.shared:
		r.Class = Counting
	}
	r.OnlyAtomics = r.Atomics && r.Total == 0 &&
		!slices.ContainsFunc(r.Depends, func(x Depend) bool { return x.Op != "fetch_add" && x.Op != "compare_swap" })
	for _, h := range r.Hazards {
		r.Depends = append(r.Depends, Depend{
			Op: h.Kind.title(), Call: h.Second.Call, Line: h.Second.Line, Count: h.Count,
			Why: "conflicts with " + spot(h.First.Call, h.First.Line),
		})
	}
	return r
}

func (k Kind) title() string { return strings.ReplaceAll(k.String(), "_", " ") }

func (r *Report) String() string {
	var b strings.Builder
	if r.Total == 0 {
		b.WriteString("no hazards")
	} else {
		fmt.Fprintf(&b, "hazards: %d, at %d pairs of places", r.Total, len(r.Hazards)+r.Left)
	}
	fmt.Fprintf(&b, "; %v: %s", r.Class, r.Class.Claim())
	for i := range r.Depends {
		fmt.Fprintf(&b, "\n  because of %v", &r.Depends[i])
	}
	for i := range r.Hazards {
		fmt.Fprintf(&b, "\n%v", &r.Hazards[i])
	}
	if r.Left > 0 {
		fmt.Fprintf(&b, "\n... and %d more", r.Left)
	}
	return b.String()
}

func itoa(v int64) string { return strconv.FormatInt(v, 10) }
