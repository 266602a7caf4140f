package exec

import (
	"fmt"
	"strings"
)

// Capability is a feature that some executors have and some packages require.
type Capability uint8

// The capabilities.
const (
	Clock     Capability = iota // results have simulated times
	Trace                       // emits events with their times
	Messages                    // reports the sends and receives of kernels, in the order in which they return
	Network                     // models the network, at one of the row's fidelities
	Data                        // records what happens to values, so that they can be checked
	Account                     // records accesses to memory, so that races can be found
	Schedules                   // runs any of many random schedules, by number
	Rings                       // rings have slots and credits: kernels wait, and can hang
	OneSided                    // kernels reach the memory and the words of other PEs
	Streams                     // does work that is queued on streams
	Causes                      // records why simulated time passes
	Tasks                       // PEs have communication engines, which perform tasks
)

// capabilities are names for listings, and texts for an executor that lacks one.
var capabilities = [...]struct{ name, lacking string }{
	Clock:     {"clock", "has no clock"},
	Trace:     {"trace", "has no trace"},
	Messages:  {"messages", "does not report sends and receives"},
	Network:   {"network", "has no network"},
	Data:      {"data", "moves no bytes"},
	Account:   {"account", "keeps no account of memory"},
	Schedules: {"schedules", "has no random schedules"},
	Rings:     {"rings", "has no rings with slots and credits"},
	OneSided:  {"one_sided", "has no one-sided communication"},
	Streams:   {"streams", "has no streams"},
	Causes:    {"causes", "does not record where time goes"},
	Tasks:     {"tasks", "has no communication engines"},
}

// Capabilities lists all capabilities.
func Capabilities() []Capability {
	all := make([]Capability, len(capabilities))
	for i := range all {
		all[i] = Capability(i)
	}
	return all
}

func (c Capability) String() string { return capabilities[c].name }

// Missing is the error for a request that an executor does not support.
type Missing struct {
	Executor     string
	Capabilities []Capability // at least one
	Instead      []string     // executors that support the whole request
}

func (e *Missing) Error() string {
	var nouns, clauses []string
	for _, c := range e.Capabilities {
		if noun, has := strings.CutPrefix(capabilities[c].lacking, "has "); has {
			nouns = append(nouns, noun)
		} else {
			clauses = append(clauses, capabilities[c].lacking)
		}
	}
	if n := len(nouns); n > 0 {
		has := "has " + nouns[n-1]
		if n > 1 {
			has = "has " + strings.Join(nouns[:n-1], ", ") + " and " + nouns[n-1]
		}
		clauses = append([]string{has}, clauses...)
	}
	return fmt.Sprintf("the executor %s %s", e.Executor, strings.Join(clauses, " and "))
}
