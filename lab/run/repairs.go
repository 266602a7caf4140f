package run

import "time"

// Repairs are changes that were tried after a deadlock. Each that is listed was carried out, and
// the run then ended with right results.
type Repairs struct {
	Slots   string        `json:"slots,omitempty"`  // what the number of slots changes
	Silent  bool          `json:"silent,omitempty"` // no rank sends, also if all receives are left out
	Found   []Repair      `json:"found"`
	Wrong   []string      `json:"ends_wrong,omitempty"`  // changes with which the run ends with wrong results; only if none is found
	Fixed   []string      `json:"fixed_order,omitempty"` // receives that cannot come after a send of their value; only if none is found
	Tried   int           `json:"tried"`                 // runs
	Took    time.Duration `json:"wall_time_ns"`
	Stopped bool          `json:"stopped"` // the time limit ended the search
}

// Repair is a change that works.
type Repair struct {
	What  string `json:"what"`
	Line  string `json:"line,omitempty"`   // source line that it concerns
	Also  []int  `json:"also_at"`          // other numbers of ranks at which it works
	NotAt []int  `json:"not_at,omitempty"` // and at which it does not
	Races bool   `json:"races,omitempty"`  // it leaves a race: it may fail with other timings
}
