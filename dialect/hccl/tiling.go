package hccl

import (
	"errors"
	"fmt"
	"slices"

	"kernbench/fault"
)

// The layout of tilings: the bytes of the init tiling and of each cc tiling after it.
const (
	initTilingBytes = 64
	ccTilingBytes   = 280
	maxCcTilings    = 8

	maxName = 128 // bytes of a name or an algorithm string that a setter takes
)

// The results of setters.
const (
	settingTaken   = 0
	settingRefused = 1
)

// CcTiling holds the settings for the tasks of one operation: host programs make it, and kernels
// choose it with SetCcTilingV2. Setters return 0, or 1 if they refuse; Diagnostics has the
// reason.
type CcTiling struct {
	group     string
	op        OpType
	config    string
	parsed    AlgConfig // of a CcTiling in a Tiling
	reduce    ReduceOp
	reduceSet bool
	stepSize  uint8
	silent    bool
	misuse    Misuse
	reported  int // diagnostics that a Tiling has, too
}

// NewCcTiling returns the tiling of an operation of a group, with an algorithm string as
// KnownAlgConfigs lists them.
func NewCcTiling(group string, op OpType, algConfig string) *CcTiling {
	c := &CcTiling{}
	c.SetGroupName(group)
	c.SetOpType(op)
	c.SetAlgConfig(algConfig)
	return c
}

// SetGroupName sets the group of the tasks: a name of 1 to 128 bytes.
func (c *CcTiling) SetGroupName(name string) int {
	if name == "" || len(name) > maxName {
		return c.refuse("SetGroupName", BadGroupName,
			fmt.Sprintf("the name %s has %d bytes", quoted(name), len(name)), fmt.Sprintf("1 to %d fit", maxName))
	}
	c.group = name
	return settingTaken
}

// SetOpType sets the operation.
func (c *CcTiling) SetOpType(op OpType) int {
	if !op.Valid() {
		return c.refuse("SetOpType", BadSetting, fmt.Sprintf("there is no operation %d", uint8(op)), numbered(OpTypes()))
	}
	c.op = op
	return settingTaken
}

// SetAlgConfig sets the algorithm string. It is parsed when the tiling is added to a Tiling.
func (c *CcTiling) SetAlgConfig(s string) int {
	if len(s) > maxName {
		return c.refuse("SetAlgConfig", BadAlgorithm, fmt.Sprintf("the algorithm string %s is too long", quoted(s)),
			fmt.Sprintf("%d bytes fit", maxName))
	}
	c.config = s
	return settingTaken
}

// SetReduceType sets the reduction. A task with another reduction is refused. A tiling without one
// is for all reductions.
func (c *CcTiling) SetReduceType(op ReduceOp) int {
	if !op.Supported() {
		return c.refuse("SetReduceType", BadOp, fmt.Sprintf("tasks do not combine by %v", op),
			numbered([]ReduceOp{ReduceSum, ReduceMax, ReduceMin}))
	}
	c.reduce, c.reduceSet = op, true
	return settingTaken
}

// SetStepSize sets how many steps of a turn one Commit releases, in tasks that go in steps;
// with 0 it releases the turn.
func (c *CcTiling) SetStepSize(steps uint8) int {
	c.stepSize = steps
	return settingTaken
}

// SetDebugMode performs tasks without communication when it is 1: they are counted and end,
// and move nothing.
func (c *CcTiling) SetDebugMode(mode uint8) int {
	if mode > 1 {
		return c.refuse("SetDebugMode", BadSetting, fmt.Sprintf("the value is %d", mode), "0 or 1")
	}
	c.silent = mode == 1
	return settingTaken
}

func (c *CcTiling) refuse(call string, r Rule, found, right string) int {
	c.misuse.Add(hostDiagnostic("CcTiling."+call, r, found, right, fmt.Sprint(settingRefused)))
	return settingRefused
}

func hostDiagnostic(call string, r Rule, found, right, returned string) Diagnostic {
	return Diagnostic{Place: fault.Place{Rank: fault.Host}, Call: call, Rule: r, Found: found, Right: right, Returned: returned}
}

// numbered lists values of an enumeration with their numbers.
func numbered[T interface {
	~uint8
	fmt.Stringer
}](values []T) string {
	s := "want one of "
	for i, v := range values {
		if i > 0 {
			s += ", "
		}
		s += fmt.Sprintf("%v (%d)", v, uint8(v))
	}
	return s
}

// Diagnostics returns why setters refused.
func (c *CcTiling) Diagnostics() []Diagnostic { return c.misuse.Diagnostics }

// GroupName returns the group of the tasks.
func (c *CcTiling) GroupName() string { return c.group }

// OpType returns the operation.
func (c *CcTiling) OpType() OpType { return c.op }

// AlgConfig returns the algorithm, of a tiling that was added to a Tiling; the zero AlgConfig of
// another one.
func (c *CcTiling) AlgConfig() AlgConfig { return c.parsed }

// ReduceType returns the reduction; ok is false if none was set.
func (c *CcTiling) ReduceType() (op ReduceOp, ok bool) { return c.reduce, c.reduceSet }

// StepSize returns how many steps one Commit releases, 0 for all of a turn.
func (c *CcTiling) StepSize() int { return int(c.stepSize) }

// CommunicationOff reports whether tasks move nothing.
func (c *CcTiling) CommunicationOff() bool { return c.silent }

// check returns an error if the settings exclude each other.
func (c *CcTiling) check() (parsed AlgConfig, r Rule, err error) {
	switch {
	case c.group == "":
		return parsed, BadGroupName, errors.New("the cc tiling has no group: SetGroupName")
	case c.op == 0:
		return parsed, BadSetting, errors.New("the cc tiling has no operation: SetOpType")
	}
	if parsed, err = ParseAlgConfig(c.config); err == nil {
		err = parsed.For(c.op)
	}
	if err != nil {
		return parsed, BadAlgorithm, err
	}
	if c.stepSize > 0 && (c.op != OpAlltoAllV || parsed.Level1 != "pairwise") {
		return parsed, BadSetting, fmt.Errorf("the step size of %v with %q is %d: only AlltoAllV with level1:pairwise runs in steps",
			c.op, parsed, c.stepSize)
	}
	return parsed, "", nil
}

// Tiling holds what a host program gives to a kernel: the init tiling followed by up to eight cc
// tilings. Each is at the offset that SetCcTilingV2 takes.
type Tiling struct {
	started bool
	cc      []*CcTiling
	misuse  Misuse
}

// NewTiling returns an empty tiling.
func NewTiling() *Tiling { return &Tiling{} }

// AddInit makes the init tiling, which comes before every cc tiling. It returns 0, or 1 where
// there is one.
func (t *Tiling) AddInit() int {
	if t.started {
		_, status := t.refuse("AddInit", TilingOrder, "there is an init tiling already", "make it once")
		return status
	}
	t.started = true
	return settingTaken
}

// AddCc appends a copy of a cc tiling, which may be changed and added again. It returns the offset
// and 0. If it refuses, it returns -1 and 1, and Diagnostics has the reason and those of the
// setters of c.
func (t *Tiling) AddCc(c *CcTiling) (offset, status int) {
	switch {
	case c == nil:
		return t.refuse("AddCc", BadSetting, "there is no cc tiling", "make one with NewCcTiling")
	case !t.started:
		return t.refuse("AddCc", TilingOrder, "there is no init tiling yet", "AddInit comes first")
	case len(t.cc) == maxCcTilings:
		return t.refuse("AddCc", TooManyTilings, fmt.Sprintf("there are %d cc tilings already", maxCcTilings), "use one for several tasks")
	}
	for _, d := range c.misuse.Diagnostics[c.reported:] {
		t.misuse.Add(d)
	}
	c.reported = len(c.misuse.Diagnostics)
	parsed, rule, err := c.check()
	if err != nil {
		return t.refuse("AddCc", rule, err.Error(), "")
	}
	own := *c
	own.parsed, own.misuse, own.reported = parsed, Misuse{}, 0
	t.cc = append(t.cc, &own)
	return t.offset(len(t.cc) - 1), settingTaken
}

// clone returns a copy of a tiling; nil for none.
func (t *Tiling) clone() *Tiling {
	if t == nil {
		return nil
	}
	return &Tiling{started: t.started, cc: slices.Clone(t.cc)}
}

func (t *Tiling) refuse(call string, r Rule, found, right string) (offset, status int) {
	t.misuse.Add(hostDiagnostic("Tiling."+call, r, found, right, fmt.Sprint(settingRefused)))
	return -1, settingRefused
}

// At returns a copy of the cc tiling at an offset.
func (t *Tiling) At(offset int) (*CcTiling, bool) {
	i := (offset - initTilingBytes) / ccTilingBytes
	if offset < initTilingBytes || i >= len(t.cc) || offset != t.offset(i) {
		return nil, false
	}
	own := *t.cc[i]
	return &own, true
}

// Offsets returns the offsets of cc tilings.
func (t *Tiling) Offsets() []int {
	var all []int
	for i := range t.cc {
		all = append(all, t.offset(i))
	}
	return all
}

func (t *Tiling) offset(i int) int { return initTilingBytes + ccTilingBytes*i }

// Bytes returns the size of the structure so far, 0 before AddInit.
func (t *Tiling) Bytes() int {
	if !t.started {
		return 0
	}
	return t.offset(len(t.cc))
}

// Diagnostics returns why calls were refused.
func (t *Tiling) Diagnostics() []Diagnostic { return t.misuse.Diagnostics }

// Err returns a *Misuse with the refused calls, nil if there are none.
func (t *Tiling) Err() error { return t.misuse.err() }
