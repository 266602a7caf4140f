package race

// Class states what one run proves about all other runs of the program.
type Class uint8

// The classes.
const (
	Directed  Class = iota // only directed messages, and memory that is not shared
	Counting               // besides: shared memory, and words that only grow, waited for with >= and >
	Scheduled              // the outcome may depend on which rank, program or engine comes first
)

func (c Class) String() string { return [...]string{"directed", "counting", "scheduled"}[c] }

// MarshalText returns the name.
func (c Class) MarshalText() ([]byte, error) { return []byte(c.String()), nil }

// Claim returns what follows from the class.
func (c Class) Claim() string {
	if c == Scheduled {
		return "this run says nothing certain about other timings"
	}
	return "one run proves the result, and that it does not hang, for every timing"
}

// Depend is an operation that makes the outcome depend on the schedule.
type Depend struct {
	Op    string `json:"op"` // set, wait ==, fetch_add, ...
	Call  string `json:"call,omitempty"`
	Line  string `json:"line,omitempty"`
	Why   string `json:"why"`
	Count int    `json:"count"`
}

func (d *Depend) String() string {
	s := d.Op
	if d.Call != "" && d.Call != d.Op {
		s += " in " + d.Call
	}
	if d.Line != "" {
		s += " at " + d.Line
	}
	return s + ": " + d.Why
}

// depends collects operations, once for each line.
type depends struct {
	list  []Depend
	index map[[2]string]int
}

func (s *depends) add(op, why, call, line string) {
	key := [2]string{op, line}
	if i, ok := s.index[key]; ok {
		s.list[i].Count++
		return
	}
	if s.index == nil {
		s.index = map[[2]string]int{}
	}
	s.index[key] = len(s.list)
	s.list = append(s.list, Depend{Op: op, Call: call, Line: line, Why: why, Count: 1})
}
