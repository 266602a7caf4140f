package plan

// File is a file of a program: its name for reports, and its content.
type File struct {
	Name string
	Data []byte
}

// Program holds what a front end has read. Plan turns it into the plan of one call: the number of
// messages, and their lengths, depend on the size of the call.
type Program struct {
	Dialect    string   `json:"dialect"`
	Name       string   `json:"name"`
	Collective string   `json:"collective"` // canonical, as Plan.Collective
	Protocol   Protocol `json:"-"`
	World      int      `json:"ranks"`
	MinBytes   int64    `json:"min_bytes"`
	MaxBytes   int64    `json:"max_bytes"` // largest size that the program accepts; 0: no limit
	Fixed      bool     `json:"-"`         // the files fix the size of each message: MaxBytes is the only size, or 0 if it is unknown
	SumsOnly   bool     `json:"-"`         // the runtime sums, whatever operator the call names
	Modes      []bool   `json:"-"`         // the placements that it allows: true is in place, false is out of place
	Blocks     int      `json:"-"`         // largest number of thread blocks of a rank; 0: the format has none
	Notes      []string `json:"-"`         // what a user should know: unknown attributes, limits of runtimes

	// Plan makes the plan of a call. Its findings are ILL-FORMED. Without a plan, they say why.
	Plan func(Call) (*Plan, []Finding) `json:"-"`
	// WhyNot returns the reasons why a runtime does not choose this program for a call. Without a
	// reason it fits the call. Loaded reports whether the runtime at least loads it for this number
	// of ranks. The name is one of the runtimes of the program's dialect. Nil: no runtime chooses.
	WhyNot func(runtime string, q Query) (why []string, loaded bool) `json:"-"`

	// Sizes returns the sizes of calls, ascending, at which a plan with a protocol changes its
	// number of messages. Nil: the plan is the same for every size.
	Sizes func(Protocol) []int64 `json:"-"`
	// Probes are sizes of calls whose plans together do all that a plan of this program can do. The
	// judge tries each. Nil: the zero Call is enough.
	Probes []int64 `json:"-"`
}

// Call is the call that a plan is made for. The zero value is a small call out of place.
type Call struct {
	Bytes    int64 // of the larger of input and output of a rank; 0: so few that no message is split
	InPlace  bool
	Launches int       // calls back to back; 0: one. A format with new memory for each call ignores it
	Depth    int       // messages that a channel holds; 0: as set by the protocol
	Root     int       // 1 + the root; 0: not given
	Protocol *Protocol // in place of the program's own
	Want     *Formula  // instead of the collective's result
	Packet   int       // bytes of data in a packet: 4 or 8; 0: as set by the format
}

// Query is a call for which a runtime looks for a program.
type Query struct {
	Collective string // canonical
	World      int
	Bytes      int64  // of the larger of input and output of a rank
	Elem       int64  // bytes of an element
	Op         string // sum, prod, max, min, avg
	InPlace    bool
}
