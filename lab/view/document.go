package view

import (
	"kernbench/lab/explain"
	"kernbench/lab/run"
	"kernbench/unit"
)

// Format and Version are in each document. A page draws documents of its own version only.
const (
	Format  = "kernbench view"
	Version = 1
)

// Document holds what one page shows. Times are in picoseconds.
type Document struct {
	Format  string     `json:"format"`
	Version int        `json:"version"`
	Title   string     `json:"title"`
	MadeBy  run.MadeBy `json:"made_by"`

	Verdicts []run.Verdict `json:"verdicts,omitempty"` // of a sweep; a run has its own
	Facts    []Fact        `json:"facts,omitempty"`
	Runs     []*Run        `json:"runs,omitempty"` // several are compared with the first
	Charts   []*Chart      `json:"charts,omitempty"`
	Tables   []*Table      `json:"tables,omitempty"`
	Notes    []string      `json:"notes,omitempty"`
}

// New makes an empty document.
func New(title string, by run.MadeBy) *Document {
	return &Document{Format: Format, Version: Version, Title: title, MadeBy: by}
}

// Fact is a line of a summary.
type Fact struct {
	Name string `json:"name"`
	Text string `json:"text"` // with its unit
}

// Run is one run on a page.
type Run struct {
	Name     string        `json:"name"`
	Facts    []Fact        `json:"facts"`
	OK       bool          `json:"ok"`
	Verdicts []run.Verdict `json:"verdicts"`
	Failures []string      `json:"failures,omitempty"`
	Fault    string        `json:"fault,omitempty"`
	Notes    []string      `json:"notes,omitempty"`

	Time   unit.Time `json:"time_ps"`   // simulated
	Launch unit.Time `json:"launch_ps"` // of software, before that; a reason and a line of its own

	Reasons   []explain.Share  `json:"reasons,omitempty"`
	Classes   []explain.Share  `json:"classes,omitempty"`
	Resources []explain.Share  `json:"resources,omitempty"` // the first of them
	Gap       *explain.Gap     `json:"gap,omitempty"`
	Slots     *explain.Slots   `json:"slots,omitempty"`
	Story     []explain.Wait   `json:"story,omitempty"`
	Changes   []explain.Change `json:"changes,omitempty"`

	Lines    []LineTime `json:"lines,omitempty"`
	Sources  []Source   `json:"sources,omitempty"`
	Timeline *Timeline  `json:"timeline,omitempty"` // nil: the run was not explained
	Links    *Links     `json:"links,omitempty"`
	Drawing  string     `json:"drawing,omitempty"` // SVG of the machine, with the use of links
}

// LineTime is the time of one call in the source.
type LineTime struct {
	Line  string    `json:"line"` // file:line; "" if it is not known
	Call  string    `json:"call"`
	Path  unit.Time `json:"path_ps"`  // on the critical path
	Work  unit.Time `json:"work_ps"`  // of all ranks together, on their own operations
	Waits unit.Time `json:"waits_ps"` // of all ranks together, for operations of others
}

// Source is a piece of a source file.
type Source struct {
	File  string   `json:"file"` // as lines name it
	First int      `json:"first"`
	Text  []string `json:"text"`
}

// Timeline holds what ranks did at each moment. Times count from Start. Reasons, calls and so on
// are named by their place in the lists.
type Timeline struct {
	Start   unit.Time `json:"start_ps"`
	Length  unit.Time `json:"length_ps"`
	Width   unit.Time `json:"width_ps"` // of a bin
	Reasons []string  `json:"reasons"`

	Operations Operations `json:"operations"`
	Calls      []string   `json:"calls"`
	Lines      []string   `json:"lines"`
	Resources  []string   `json:"resources"` // the first is none

	Path     *Spans    `json:"path"`
	PathBins []byte    `json:"path_bins"` // see Lane.Bins
	Shares   [][]byte  `json:"shares"`    // by reason and bin: part of the time of all ranks, of 255
	Lanes    []*Lane   `json:"lanes"`
	Classes  []Class   `json:"classes"`
	Ranks    int       `json:"ranks"` // all of the run, also those without a lane
	From     unit.Time `json:"from_ps"`
	Until    unit.Time `json:"until_ps"` // single spans are those that overlap this window
	Whole    bool      `json:"whole"`    // all lanes have single spans there; else one of each class
	Slots    int       `json:"slots"`    // of a ring; 0: there are no rings
}

// Operations are the operations of ranks, a column for each property. The first is none.
type Operations struct {
	Rank []int32 `json:"rank"`
	PE   []int32 `json:"pe"`
	Call []int32 `json:"call"`
	Line []int32 `json:"line"`
}

// Lane is the time of one rank.
type Lane struct {
	Rank  int       `json:"rank"`
	PE    string    `json:"pe"`
	Class int       `json:"class"`
	End   unit.Time `json:"end_ps"`
	Bins  []byte    `json:"bins"`            // of each bin: 1 + largest reason, 0 for none, plus 16 × the share of own work, of 15
	Spans *Spans    `json:"spans,omitempty"` // in the window
	Slots []byte    `json:"slots,omitempty"` // by bin: slots of the fullest ring that the rank sends into
}

// Class is ranks that do the same.
type Class struct {
	Rank  int   `json:"rank"`  // rank shown for its class: the one that ends last
	Ranks []int `json:"ranks"` // all of them
}

// Spans are single intervals of time, a column for each property, in the order of time.
type Spans struct {
	Start    []int64 `json:"start"` // less that of the span before
	Length   []int64 `json:"length"`
	Own      []int32 `json:"own"`      // operation of the rank
	Of       []int32 `json:"of"`       // operation that the time belongs to; not Own: the rank waits
	Resource []int32 `json:"resource"` //
	Reason   []int32 `json:"reason"`   //
	Behind   []int32 `json:"behind"`   // operation that held the resource; 0: none
	LeftOut  int     `json:"left_out"` // spans that were too many
}

// Links holds what links carried.
type Links struct {
	Width     unit.Time   `json:"width_ps"`   // of Link.Busy
	Busiest   float64     `json:"busiest"`    // part of an interval that 255 in Link.Busy stands for; 0: all of it
	Interval  unit.Time   `json:"stretch_ps"` // of Link.Waiting
	Links     []*Link     `json:"links"`      // the fullest queues first
	All       int         `json:"all"`        // links that carried something
	Levels    []LevelUse  `json:"levels"`
	Waits     *LinkWaits  `json:"waits"`
	WaitCount int         `json:"wait_count"` // of which Waits has the longest
	Engines   []EngineUse `json:"engines,omitempty"`
}

// Link is one link.
type Link struct {
	Name     string    `json:"name"`
	Class    string    `json:"class"`
	Messages int64     `json:"messages"`
	Bytes    int64     `json:"bytes"`
	Busy     []byte    `json:"busy"` // by interval of time: part of it, where 255 is Links.Busiest
	Used     float64   `json:"used"` // part of the whole time
	Queued   unit.Time `json:"queued_ps"`
	Stalled  unit.Time `json:"stalled_ps"`
	Longest  int       `json:"longest_queue"`
	Waiting  []int64   `json:"waiting,omitempty"` // by interval: time that messages waited, in ps
}

// LevelUse holds what the links of a level carried.
type LevelUse struct {
	Level    string    `json:"level"`
	Links    int       `json:"links"`
	Bytes    int64     `json:"bytes"`
	Used     float64   `json:"used"` // of the hottest link
	Queued   unit.Time `json:"queued_ps"`
	Messages int64     `json:"messages"`
}

// EngineUse is the time for which engines of one sort were busy: the mean of all PEs, and the
// busiest PE.
type EngineUse struct {
	Engine  string    `json:"engine"`
	Mean    unit.Time `json:"mean_ps"`
	Busiest unit.Time `json:"busiest_ps"`
	PE      string    `json:"pe"`
}

// LinkWaits are waits of messages at links, a column for each property, in the order of time.
type LinkWaits struct {
	Start  []int64 `json:"start"` // less that of the one before
	Length []int64 `json:"length"`
	Link   []int32 `json:"link"` // in Links.Links
	Full   []int32 `json:"full"` // 1: for space in the buffer at the end of the link
	Of     []int32 `json:"of"`   // operation that the message belongs to
	Behind []int32 `json:"behind"`
}

// Unit is the unit of a number, for the page.
type Unit string

// The units.
const (
	Text    Unit = "text"
	Ps      Unit = "ps"
	Bytes   Unit = "bytes"
	GBs     Unit = "gbs"
	Percent Unit = "percent" // 100 is all
	Count   Unit = "count"
	Number  Unit = "number" // without a unit
)

// Table is a table with typed columns.
type Table struct {
	Title   string   `json:"title"`
	Columns []Column `json:"columns"`
	Rows    [][]any  `json:"rows"` // a number, a text or nil
}

// Column is the head of a column.
type Column struct {
	Name string `json:"name"`
	Unit Unit   `json:"unit"`
}

// Chart is curves over one axis. Both axes are logarithmic unless Linear.
type Chart struct {
	Title  string  `json:"title"`
	X      Column  `json:"x"`
	Y      Column  `json:"y"`
	Linear bool    `json:"linear,omitempty"` // the y axis
	Series []Curve `json:"series"`
}

// Curve is one curve of a chart.
type Curve struct {
	Name  string     `json:"name"`
	X     []float64  `json:"x"`
	Y     []*float64 `json:"y"`               // nil: there is no value
	Bound bool       `json:"bound,omitempty"` // a limit: drawn as a dashed line
}
