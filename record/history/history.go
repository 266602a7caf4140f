// Package history records the accesses of kernels to shared memory, and what ordered them.
// Executors write the records, the judge of races reads them. A record has an operation and its
// agent. The order of records agrees with the order that the program enforces. Records hold no
// durations, so a run without a clock gives the same ones.
//
// It may import tl, mem and unit. Start at Record and Log; Book makes records of instructions.
package history

import (
	"fmt"

	"kernbench/mem"
	"kernbench/tl"
	"kernbench/unit"
)

// Agent is a sequential process. It is a kernel on a PE, a program of a grid, a stream, the host, a
// task, or a queue of tasks. Numbers are dense, in the order of their first appearance.
type Agent int32

// Host is the host program.
const Host Agent = 0

// Kind is the kind of a record. Fields that a kind does not name are zero.
type Kind uint8

// The kinds. An access is asynchronous: it happens between its record and the record that completes
// it. That is Complete, Drain, Quiet, End, or a fenced or signalled arrival that an agent has
// waited for.
const (
	Start Kind = iota // Agent begins, after Other, which started it
	Join              // Agent's next operations come after all that Other has done or started

	Load     // reads Range; Op. In order with this agent's other loads and stores of the same bytes
	Store    // writes Range; Op. In order as Load
	Put      // reads Source, unless that is empty (a tensor), and writes Range in PE Peer's memory, combined by Op if Atomic
	Get      // reads Range in the memory of PE Peer, writes Source; Op
	Complete // access Op of Agent is complete on the issuer's side, to the extent of Done

	Drain // all loads and stores of Agent are complete (pipe barrier)
	Fence // at each destination, Agent's earlier puts, stores and notifications take effect before its later ones
	Quiet // every operation that Agent has started is complete everywhere

	Notify // Agent updates Word in the memory of PE Peer by Update with Value. Carried: together with the data of put Op, after them
	Wait   // Agent has seen Word satisfy Cmp with Value; Seen is its value
	Poll   // Agent has read Word, which did not satisfy Cmp with Value; Seen is its value
	Read   // Agent has read Seen from Word
	RMW    // Agent has read Seen from Word in PE Peer's memory and, if Wrote, set it to Value at once, or added Value (Add)

	Send   // Agent has put message Seq into ring Ring; Slots are its slots
	Recv   // Agent has taken message Seq of ring Ring
	Use    // Agent reads the slot of message Seq of ring Ring
	Credit // Agent has given the slot of message Seq of ring Ring back
	Any    // Agent takes from any ring that has a message (the next record is its Recv)

	Mark // Agent has reached event Ring: an event of streams, or the post or end of a task
	Pass // Agent continues after event Ring
	Copy // Agent, a stream, reads Source and writes Range by a copy engine; Op. Complete before the stream's next operation
)

var kindNames = [...]string{
	"start", "join", "load", "store", "put", "get", "complete", "drain", "fence", "quiet",
	"notify", "wait", "poll", "read", "rmw", "send", "recv", "use", "credit", "any", "mark", "pass", "copy",
}

func (k Kind) String() string { return kindNames[k] }

// Done is the part of an access that is complete.
type Done uint8

// The parts.
const (
	Whole  Done = iota // all of it
	Source             // the source has been read: it may be overwritten
)

// Range is memory: Rows pieces of Bytes bytes, each Pitch after the one before. Bytes is 0 for no
// memory.
type Range struct {
	Addr  mem.Addr // physical
	Bytes int64
	Rows  int32 // 0 counts as 1
	Pitch int64
}

// Word is a control word, identified by its physical address.
type Word = mem.Addr

// Record is one entry.
type Record struct {
	Kind   Kind
	Update tl.SignalOp
	Cmp    tl.Cmp
	Done   Done
	NBI    bool // Put, Get: the call returned before its side was complete; Read: other agents may change the word
	Atomic bool // Put: combines; concurrent ones do not conflict
	Carry  bool // Notify: with the data of put Op; Put: a Notify with its Word, Update and Value follows
	Wrote  bool // RMW
	Float  bool // Put: combining rounds, so that the order of several matters
	Type   mem.WordType
	Lines  tl.PacketLine // Put, Notify: each line of these data has the word; Wait: for such a flag

	Agent, Other Agent
	Task         int32  // the task, if Who or Agent performs tasks; Log sets it
	Peer         int32  // PE
	From, Count  int32  // Wait for the flag of a packet: in these lines; Count 0: in all
	Ring         uint32 // of one launch; rings of different launches differ
	Seq          uint32
	Slots        uint32

	Op     uint64 // of an access, shared by its pieces; of a send, shared by its messages
	Range  Range
	Source Range

	Word  Word
	Value int64
	Seen  int64

	Call string // the kernel's operation by its API name: put_nbi, store, recv
	Line string // file:line, empty when lines are not recorded
	Time unit.Time
}

// AgentInfo describes an agent.
type AgentInfo struct {
	Rank    int // in its launch; of a stream, that of its device; -1 for the host
	PE      int // -1 for the host
	Stream  int // -1 for a kernel that was launched on its own
	Program int // in its grid, or -1
	Block   int // 1 + its number among the blocks of its rank; 0: the rank has one

	// Of a communication engine: 1 + the number of one of its queues, and 1 + that of a task in
	// order of arrival. Task 0 is the queue itself, Queue 0 neither.
	Queue, Task int
}

func (w AgentInfo) String() string {
	switch {
	case w.PE < 0:
		return "host"
	case w.Queue > 0:
		return w.ofEngine()
	case w.Block > 0:
		return fmt.Sprintf("rank %d block %d", w.Rank, w.Block-1)
	case w.Stream < 0:
		return fmt.Sprintf("rank %d", w.Rank)
	case w.Program < 0:
		return fmt.Sprintf("stream %d of rank %d", w.Stream, w.Rank)
	}
	return fmt.Sprintf("rank %d program %d", w.Rank, w.Program)
}

// ofEngine names a queue of a communication engine, or a task. It omits the first queue, which most
// tasks use.
func (w AgentInfo) ofEngine() string {
	s := fmt.Sprintf("the communication engine of rank %d", w.Rank)
	if w.Queue > 1 || w.Task == 0 {
		s = fmt.Sprintf("queue %d of %s", w.Queue-1, s)
	}
	if w.Task > 0 {
		s = fmt.Sprintf("task %d of %s", w.Task-1, s)
	}
	return s
}

// Log takes records from an executor and hands them to a judge in batches, in order. The judge runs
// in the executor's goroutine.
type Log struct {
	Timed bool // the executor has a clock
	Terse bool // lines may be left out: see OmitLines

	agents []AgentInfo
	index  map[AgentInfo]Agent
	cur    []Record
	lives  []bool // by agent: its Start was handed over, and no Join
	judging
	local
	op   uint64
	ring uint32

	withoutLines bool
}

// New makes a log. The judge must not keep the slice.
func New(judge func([]Record)) *Log {
	host := AgentInfo{Rank: -1, PE: -1, Stream: -1, Program: -1}
	return &Log{
		agents: []AgentInfo{host}, index: map[AgentInfo]Agent{host: Host},
		cur: make([]Record, 0, leastBatch), judging: judging{judge: judge},
	}
}

// Agent returns the number of an agent, a new one at the first call. The tasks of a queue share one
// number, because they run one after the other. A call for it begins a task.
func (l *Log) Agent(w AgentInfo) Agent {
	key := w
	key.Task = min(1, w.Task)
	a, ok := l.index[key]
	if !ok {
		a = Agent(len(l.agents))
		l.agents = append(l.agents, w)
		l.index[key] = a
	}
	l.agents[a].Task = w.Task
	return a
}

// Begins records that an agent begins at a time, after another one, which started it. It returns
// the agent's number. A nil Log has no records.
func (l *Log) Begins(w AgentInfo, after Agent, at unit.Time) Agent {
	if l == nil {
		return Host
	}
	a := l.Agent(w)
	l.Add(Record{Kind: Start, Agent: a, Other: after, Time: at})
	return a
}

// Joins records that the next operations of an agent come after all that another one, which ends at
// a time, has done or started. A nil Log has no records.
func (l *Log) Joins(a, ended Agent, at unit.Time) {
	if l != nil {
		l.Add(Record{Kind: Join, Agent: a, Other: ended, Time: at})
	}
}

// Info returns the current description of an agent.
func (l *Log) Info(a Agent) AgentInfo { return l.agents[a] }

// InfoIn returns the description of an agent as of a record with this task.
func (l *Log) InfoIn(a Agent, task int32) AgentInfo {
	w := l.Info(a)
	if w.Task > 0 && task > 0 {
		w.Task = int(task)
	}
	return w
}

// NextOp numbers an access; 0 is none.
func (l *Log) NextOp() uint64 { l.op++; return l.op }

// NextRings numbers n rings and returns the first.
func (l *Log) NextRings(n int) uint32 {
	first := l.ring
	l.ring += uint32(n)
	return first
}

// Add appends a record.
func (l *Log) Add(r Record) {
	of := r.Agent
	if r.Kind == Join {
		of = r.Other
	}
	r.Task = int32(l.agents[of].Task)
	if !l.holding {
		l.note(&r)
	}
	*l.next() = r
}

// note records which agents run.
func (l *Log) note(r *Record) {
	switch r.Kind {
	case Start:
		l.lives = append(l.lives, make([]bool, max(0, int(r.Agent)+1-len(l.lives)))...)
		l.lives[r.Agent] = true
	case Join:
		if int(r.Other) < len(l.lives) {
			l.lives[r.Other] = false
		}
	}
}

// Begin appends a record of an agent, other than Start and Join, which the caller completes. It is
// valid until the next one is appended.
func (l *Log) Begin(k Kind, a Agent) *Record {
	r := l.next()
	*r = Record{Kind: k, Agent: a, Task: int32(l.agents[a].Task)}
	return r
}

// next returns the place of the next record. A full batch is handed over before.
func (l *Log) next() *Record {
	if l.holding {
		l.held = append(l.held, Record{})
		return &l.held[len(l.held)-1]
	}
	if len(l.cur) == cap(l.cur) {
		l.look(l.cur)
		l.cur = after(l.cur)
	}
	l.cur = l.cur[:len(l.cur)+1]
	return &l.cur[len(l.cur)-1]
}

// End records the end of a launch, with or without a fault: none of its agents runs any more. The
// host joins the agents that have not ended by themselves.
func (l *Log) End() {
	for a := range l.lives {
		if l.lives[a] {
			l.Add(Record{Kind: Join, Agent: Host, Other: Agent(a)})
		}
	}
}

// Flush hands over all records added so far, and returns when the judge has finished them.
func (l *Log) Flush() {
	l.look(l.cur)
	l.cur = l.cur[:0]
	l.rest()
}
