package cli

import (
	"errors"
	"fmt"
	"math"
	"time"

	"kernbench/exec"
	"kernbench/unit"

	"github.com/spf13/pflag"
)

// limitFlags adds the flags of every verb that runs an author's kernels.
func limitFlags(f *pflag.FlagSet, l *exec.Limits) {
	f.Var((*stall)(&l.Stall), "stall",
		"limit of wall time without an instruction of a kernel, such as 30s; 0: no limit (off under a debugger)")
	f.Var((*instructions)(&l.Events), "max-events", "limit of instructions that one kernel issues, such as 50M (default no limit)")
	f.Var(&parsed[unit.Time]{to: &l.Until, parse: parseLimit, kind: "TIME"}, "max-time",
		"limit of simulated time, such as 10ms (default no limit)")
}

func parseLimit(s string) (unit.Time, error) {
	t, err := unit.ParseTime(s)
	if err == nil && t <= 0 {
		err = errors.New("want a time above 0, such as 10ms")
	}
	return t, err
}

// stall is a flag with a span of wall time; 0 means no limit.
type stall time.Duration

func (s *stall) Type() string { return "TIME" }

func (s *stall) String() string {
	switch {
	case *s < 0:
		return "0"
	case *s == 0:
		return exec.DefaultStall.String()
	}
	return time.Duration(*s).String()
}

func (s *stall) Set(text string) error {
	d, err := time.ParseDuration(text)
	if err != nil || d < 0 {
		return fmt.Errorf("found %q, want a time such as 30s or 500ms, or 0 for no limit", text)
	}
	if d == 0 {
		d = -1
	}
	*s = stall(d)
	return nil
}

// instructions is a flag with a number of instructions; 0 means no limit.
type instructions uint32

func (n *instructions) Type() string { return "N" }

func (n *instructions) String() string {
	m := millions(*n)
	return m.String()
}

func (n *instructions) Set(text string) error {
	var m millions
	if err := m.Set(text); err != nil {
		return err
	}
	const most = math.MaxUint32 / 2
	if m > most {
		return fmt.Errorf("found %s, want at most %d", text, most)
	}
	*n = instructions(m)
	return nil
}
