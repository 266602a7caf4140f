package run

import (
	"cmp"
	"fmt"

	"kernbench/conf"
	"kernbench/device"
)

// SetsFor returns the settings that give a key of ccl.yaml a value in this run. They concern the
// defaults. They also concern the entry of the algorithm if own reports that it has its own value,
// which overrides the defaults. Where the algorithm is chosen at each call, all such entries are
// concerned.
func (x *Job) SetsFor(key string, value any, own func(*conf.Algorithm) bool) []string {
	sets := []string{fmt.Sprintf("defaults.%s=%v", key, value)}
	only := x.entry()
	for _, name := range x.Entries.Names() {
		if (only == "" || name == only) && own(x.Entries.Entry(name)) {
			sets = append(sets, fmt.Sprintf("algorithms.%s.%s=%v", name, key, value))
		}
	}
	return sets
}

// Protocol returns the protocol of the algorithm, or the default if that is chosen at each call.
func (x *Job) Protocol() string {
	if e := x.Entries.Entry(x.entry()); e != nil && e.Protocol != nil {
		return *e.Protocol
	}
	return x.Entries.Defaults().Protocol
}

// entry returns the name that the algorithm has, or would have, in ccl.yaml; "": it is chosen at
// each call.
func (x *Job) entry() string {
	if x.given != nil {
		return x.given.Algorithm.Name
	}
	name := cmp.Or(x.Algorithm, x.program.Algorithm, x.Entries.Defaults().Algorithm)
	if device.IsAuto(x.Entries, name) {
		return ""
	}
	return name
}
