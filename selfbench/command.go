package selfbench

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os/exec"
	"strconv"
	"strings"
	"time"
)

// The figures of a command.
const (
	wallTime   = "wall time"
	userCPU    = "user CPU"
	peakMemory = "peak memory"
	perMessage = "per message"
)

// cost is the time and memory of one process.
type cost struct {
	wall, user time.Duration
	memory     int64 // most that was resident; 0 if the system does not report it
	stdout     string
}

// CommandError is the error for a command that failed.
type CommandError struct {
	Command string
	Status  int // -1: a signal ended it
	Message string
}

func (e *CommandError) Error() string {
	how := fmt.Sprintf("exit status %d", e.Status)
	if e.Status < 0 {
		how = "ended by a signal, possibly for lack of memory"
	}
	if e.Message != "" {
		how += ": " + e.Message
	}
	return fmt.Sprintf("%s: %s", e.Command, how)
}

// execute runs kernbench once.
func (m *meter) execute(ctx context.Context, args []string, env ...string) (cost, error) {
	cmd := exec.CommandContext(ctx, m.program, args...)
	cmd.Env = append(cmd.Environ(), env...)
	cmd.Dir = m.dir
	cmd.WaitDelay = time.Second
	var out, complaint bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &complaint
	start := time.Now()
	err := cmd.Run()
	c := cost{wall: time.Since(start), stdout: out.String()}
	if err := ctx.Err(); err != nil {
		return c, err
	}
	if state := cmd.ProcessState; state != nil {
		c.user, c.memory = state.UserTime(), mostResident(state)
		if e, ok := errors.AsType[*exec.ExitError](err); ok {
			first, _, _ := strings.Cut(strings.TrimSpace(complaint.String()), "\n")
			return c, &CommandError{commandLine(args), e.ExitCode(), strings.TrimPrefix(first, "kernbench: ")}
		}
	}
	return c, err
}

func commandLine(args []string) string { return "kernbench " + strings.Join(args, " ") }

// outcomeOf reads what kernbench run prints.
func outcomeOf(text string) *Outcome {
	var o Outcome
	for line := range strings.Lines(text) {
		for name, to := range map[string]func(string){
			"simulated time": func(s string) { o.Simulated = s },
			"messages":       func(s string) { o.Messages = leadingCount(s) },
			"events":         func(s string) { o.Events = leadingCount(s) },
		} {
			if value, ok := strings.CutPrefix(line, name+"  "); ok {
				to(strings.TrimSpace(value))
			}
		}
	}
	if o == (Outcome{}) {
		return nil
	}
	return &o
}

// leadingCount returns the number at the start of a text like "130,560 (31.88 MiB)".
func leadingCount(s string) int64 {
	number, _, _ := strings.Cut(s, " ")
	n, _ := strconv.ParseInt(strings.ReplaceAll(number, ",", ""), 10, 64) // else nothing is known of it
	return n
}
