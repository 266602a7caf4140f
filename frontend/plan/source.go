package plan

// File is a file of a program: its name for reports, and its content.
type File struct {
	Name string
	Data []byte
}

// Program holds what a front end has read. A plan is made of it for a call. The number of messages,
// and their lengths, depend on the size of the call.
type Program struct {
	Dialect    string   `json:"dialect"`
	Name       string   `json:"name"`
	Collective string   `json:"collective"` // canonical, as Plan.Collective
	Protocol   Protocol `json:"-"`
	World      int      `json:"ranks"`
	MinBytes   int64    `json:"min_bytes"`
	MaxBytes   int64    `json:"max_bytes"` // greatest size that it is for; 0: no limit
	Fixed      bool     `json:"-"`         // the files have the sizes of all messages: MaxBytes is the only size, and 0 if it is not known
	SumsOnly   bool     `json:"-"`         // the runtime adds, for every operator of a call
	Modes      []bool   `json:"-"`         // for each use that it allows: in place?
	Blocks     int      `json:"-"`         // thread blocks of the rank that has most; 0: the format has none
	Notes      []string `json:"-"`         // what a user should know: unknown attributes, limits of runtimes

	// Plan makes the plan of a call. Findings are ILL-FORMED; without a plan they have the reason.
	Plan func(Call) (*Plan, []Finding) `json:"-"`
	// WhyNot lists what keeps a runtime from taking this program for a call; none: it would. Loaded
	// reports whether the runtime at least loads it for this number of ranks. The runtimes of a
	// format are those of its dialect. Nil: no runtime chooses.
	WhyNot func(runtime string, q Query) (why []string, loaded bool) `json:"-"`

	// Sizes are those at which a plan with a protocol changes its messages, ascending. From each
	// size on there may be more messages than just below. Nil: the plan is the same for every size.
	Sizes func(Protocol) []int64 `json:"-"`
	// Probes are sizes that show all that a plan does, to judge it with. Nil: the zero Call does.
	Probes []int64 `json:"-"`
}

// Call is the call that a plan is made for. The zero value is a small call out of place.
type Call struct {
	Bytes    int64 // of the larger of input and output of a rank; 0: so few that no message is split
	InPlace  bool
	Launches int       // calls back to back; 0: one. Formats whose memory is new for each call know one only
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
