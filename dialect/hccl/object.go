package hccl

import (
	"fmt"
	"strings"

	"kernbench/mem"
	"kernbench/tl"
)

// Handle names a task; Invalid is no task.
type Handle int8

// Invalid is the result of a Prepare call that was refused.
const Invalid Handle = -1

// The results of calls that return no handle.
const (
	Success = 0
	Failure = -1
)

// Server selects the core that posts the tasks.
type Server uint8

// The servers of an object.
const (
	DefaultCore Server = iota // calls are made on AIC or on AIV cores, not on both
	OnAIC                     // calls are made on any core, an AIC posts
	OnAIV                     // calls are made on any core, an AIV posts
)

// Config is the config parameter of the object: which core posts, and which of its type.
// Every core makes the same calls; those that do not post only keep count.
type Config struct {
	Server Server
	Block  int
}

// Release decides whether a Prepare call also commits all turns of its task: its commit parameter.
type Release uint8

// The releases.
const (
	CommitLater Release = iota // false: each turn is released by a Commit
	CommitNow                  // true
)

// Hccl is the object by which a core prepares, commits and awaits tasks of a group. A mistake in a
// call is reported when the launch has ended, whether or not the call returns a failure.
type Hccl struct {
	k      *Kernel
	config Config
	g      *run
	me     int // rank
	status statusWords
	posts  bool // this core posts the tasks
	cc     map[OpType]*CcTiling

	tasks     []*task // prepared, by handle
	waits     []int   // turns waited for, by handle
	commits   []int   // units committed
	iterated  []int   // units that Iterate has returned
	lastWait  Handle
	finalized bool
	finalAt   string // the line of Finalize
	finalSync [2]int // SyncAlls before it
	waitSync  [2]int // SyncAlls before the last wait
	waitAt    Diagnostic
}

// InitV2 initialises the object on a group, with the tiling that the launch was given. A
// context initialises one object.
func (h *Hccl) InitV2(context HcclContext, t *Tiling) {
	const call = "InitV2"
	k := h.maker()
	runs := k.session.runs
	switch {
	case h.g != nil:
		h.refuse(InitTwice, call, "the object was initialised before", "make one object for each group", "")
		return
	case !context.given:
		h.refuse(NoContext, call, "there is no context", "take that of Kernel.HcclContext", "")
		return
	case context.group < 0 || context.group >= len(runs):
		h.refuse(TooManyGroups, call, fmt.Sprintf("there is no context %d", context.group),
			fmt.Sprintf("the launch has %d groups: contexts 0 to %d", len(runs), len(runs)-1), "")
		return
	case t == nil || t != k.session.launch.Tiling:
		h.refuse(BadTiling, call, "this is not the tiling of the launch", "pass what Kernel.Tiling returns", "")
		return
	}
	if why, right := h.noPoster(); why != "" {
		h.refuse(WrongCore, call, why, right, "")
		return
	}
	g := runs[context.group]
	for _, o := range k.objects {
		if o != h && o.g == g {
			h.refuse(InitTwice, call, fmt.Sprintf("context %d has initialised another object", context.group),
				"use that object: a context cannot initialise two", "")
			return
		}
	}
	me, ok := k.TeamRank(g.comm.team)
	if !ok {
		h.refuse(NoContext, call, fmt.Sprintf("this device is no member of group %s", g.comm.name),
			"initialise objects on members only", "")
		return
	}
	h.g, h.me, h.cc, h.lastWait = g, me, map[OpType]*CcTiling{}, Invalid
	h.status = openStatus(k.Context, g)
	h.posts = h.config.Block == k.block
	switch h.config.Server {
	case OnAIC:
		h.posts = h.posts && k.typ == AIC
	case OnAIV:
		h.posts = h.posts && k.typ == AIV
	}
}

// noPoster returns why no core can post, if the object names one that does not exist.
func (h *Hccl) noPoster() (found, right string) {
	typ := h.k.typ
	switch h.config.Server {
	case DefaultCore:
	case OnAIC:
		typ = AIC
	case OnAIV:
		typ = AIV
	default:
		return fmt.Sprintf("Config names Server(%d)", h.config.Server), "one of DefaultCore, OnAIC, OnAIV"
	}
	n := h.k.session.cores.of(typ)
	switch b := h.config.Block; {
	case n == 0:
		return fmt.Sprintf("the object lets an %v post, and the launch has none", typ), "launch some, or name the other type in Config"
	case b < 0 || b >= n:
		return fmt.Sprintf("the object lets block %d of the %v cores post, and the launch has %d of them", b, typ, n),
			fmt.Sprintf("a Block of 0 to %d", n-1)
	}
	return "", ""
}

// maker returns the kernel that made the object.
func (h *Hccl) maker() *Kernel {
	if h == nil || h.k == nil {
		panic("hccl: this object is of no kernel: Kernel.New makes objects")
	}
	return h.k
}

// SetCcTilingV2 chooses the cc tiling at an offset for the tasks of its operation that are
// prepared from now on. It returns Success or Failure.
func (h *Hccl) SetCcTilingV2(offset int) int {
	call := fmt.Sprintf("SetCcTilingV2(%d)", offset)
	if h.g == nil {
		return h.refuse(NoInit, call, "the object was not initialised", "InitV2 comes first", "-1")
	}
	if h.finalized {
		return h.refuse(AfterFinalize, call, "the object was finalised "+h.finalAt, "choose tilings before Finalize", "-1")
	}
	t := h.k.session.tiling
	cc, ok := t.At(offset)
	if !ok {
		return h.refuse(BadTiling, call, "there is no cc tiling at that offset", fmt.Sprintf("they lie at %v", t.Offsets()), "-1")
	}
	if cc.GroupName() != h.g.comm.name {
		return h.refuse(BadTiling, call, fmt.Sprintf("the cc tiling there is for group %q, the object is of group %q",
			cc.GroupName(), h.g.comm.name), "choose one of this group", "-1")
	}
	h.cc[cc.OpType()] = cc
	return Success
}

// GetRankID returns the rank of this device in the group, -1 before InitV2.
func (h *Hccl) GetRankID() int {
	if h.g == nil {
		return h.refuse(NoInit, "GetRankId()", "the object was not initialised", "InitV2 comes first", "-1")
	}
	return h.me
}

// GetRankDim returns the number of ranks of the group, -1 before InitV2.
func (h *Hccl) GetRankDim() int {
	if h.g == nil {
		return h.refuse(NoInit, "GetRankDim()", "the object was not initialised", "InitV2 comes first", "-1")
	}
	return h.g.comm.Size()
}

// GetWindowsInAddr returns the address of buffer "in" of a rank's window, 0 where there is none.
func (h *Hccl) GetWindowsInAddr(rank int) mem.Addr {
	return h.windowAddr("GetWindowsInAddr", "in", rank)
}

// GetWindowsOutAddr returns the address of buffer "out" of a rank's window, 0 where there is none.
func (h *Hccl) GetWindowsOutAddr(rank int) mem.Addr {
	return h.windowAddr("GetWindowsOutAddr", "out", rank)
}

func (h *Hccl) windowAddr(name, buffer string, rank int) mem.Addr {
	call := fmt.Sprintf("%s(%d)", name, rank)
	switch {
	case h.g == nil:
		h.refuse(NoInit, call, "the object was not initialised", "InitV2 comes first", "null")
		return 0
	case rank < 0 || rank >= h.g.comm.Size():
		h.refuse(BadRank, call, fmt.Sprintf("there is no rank %d", rank),
			fmt.Sprintf("group %s has ranks 0 to %d", h.g.comm.name, h.g.comm.Size()-1), "null")
		return 0
	}
	w := h.g.comm.opts.Window
	if w == nil || w.Layout.Find(buffer) == nil {
		h.refuse(NullBuffer, call, fmt.Sprintf("the group has no window with a buffer %q", buffer), "give Options.Window one", "null")
		return 0
	}
	return w.Addr(rank, w.Layout.Find(buffer).Off)
}

// refuse records the mistake of a call, and returns Failure. It reads a word, so that a kernel that
// repeats the call until it succeeds is detected as a deadlock.
func (h *Hccl) refuse(r Rule, call, found, right, returned string) int {
	k := h.maker()
	if !k.refused.again(r, call, found) {
		k.found.Add(h.diagnostic(Error, r, call, found, right, returned))
		k.refused.at = k.found.find(r, call, found)
	} else if k.refused.at >= 0 {
		k.found.Diagnostics[k.refused.at].Repeats++ // to look for the place takes long
	}
	k.Peek(k.Signals(k.session.meeting, "cores.came").At(0))
	return Failure
}

// repeated counts how often in a row the same call was refused.
type repeated struct {
	rule        Rule
	call, found string
	times       int
	at          int // index among the diagnostics, -1 if the list was full
}

// again reports whether the same call was refused so often that it is in a loop.
func (r *repeated) again(rule Rule, call, found string) bool {
	const loop = 32
	if r.rule != rule || r.call != call || r.found != found {
		*r = repeated{rule: rule, call: call, found: found, at: -1}
	}
	r.times++
	return r.times > loop
}

// refuseTask is refuse for calls that return a handle.
func (h *Hccl) refuseTask(r Rule, call, found, right string) Handle {
	return Handle(h.refuse(r, call, found, right, "-1"))
}

// warn records a probable mistake.
func (h *Hccl) warn(r Rule, call, found, right string) {
	h.k.found.Add(h.diagnostic(Warning, r, call, found, right, ""))
}

func (h *Hccl) diagnostic(s Severity, r Rule, call, found, right, returned string) Diagnostic {
	name, _, _ := strings.Cut(call, "(")
	return Diagnostic{
		Severity: s, Place: tl.DriverOf(h.k.Context).Place(name), Block: h.k.block, Core: h.k.typ.String(),
		Call: call, Rule: r, Found: found, Right: right, Returned: returned,
	}
}

// ref names elements of a buffer.
func ref(at mem.Addr, t *task, lo, n int) tl.Ref {
	return tl.Ref{Addr: at + mem.Addr(lo*t.carrier.Size()), Shape: tl.Dims(n), DType: t.carrier}
}
