package cli

import (
	"fmt"
	"strings"

	"kernbench/exec"
	"kernbench/lab/run"

	"github.com/spf13/pflag"
)

// platformFlag chooses the executor. Its short form is short, if not "".
func platformFlag(f *pflag.FlagSet, s *run.Spec, short string) {
	var each []string
	for _, r := range exec.All() {
		each = append(each, fmt.Sprintf("%s (%s)", r.Name, r.Summary))
	}
	initial := exec.Default(exec.Timing).Name
	executors := newWord(&s.Executor, initial, "EXECUTOR", exec.Names()...)
	executors.advice = exec.Advice
	f.VarP(executors, "platform", short, "executor: "+strings.Join(each, ", "))
}

// fidelityFlag chooses the level of detail of executors that model a network.
func fidelityFlag(f *pflag.FlagSet, s *run.Spec) {
	var usages, known []string
	for _, r := range exec.All() {
		if !r.Can(exec.Network) {
			continue
		}
		var levels []string
		for _, l := range r.Fidelities {
			level := l.Name
			if l.Summary != "" {
				level += " (" + l.Summary + ")"
			}
			levels, known = append(levels, level), append(known, l.Name)
		}
		usages = append(usages, fmt.Sprintf("network of %s: %s (default %s)", r.Name, strings.Join(levels, ", "), r.DefaultFidelity))
	}
	f.Var(newWord(&s.Fidelity, "", "LEVEL", known...), "fidelity", strings.Join(usages, "; "))
}

// racing returns the executors on which a run looks for races by default.
func racing() string {
	var with, without []string
	for _, r := range exec.All() {
		switch {
		case !r.Can(exec.Account):
		case r.Can(exec.Clock):
			without = append(without, r.Name)
		default:
			with = append(with, r.Name)
		}
	}
	return fmt.Sprintf("default: with %s, not with %s", strings.Join(with, ", "), strings.Join(without, ", "))
}
