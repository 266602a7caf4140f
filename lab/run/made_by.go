package run

import (
	"runtime/debug"
	"slices"
	"strings"
)

// MadeBy names the origin of a result's figures. Every export has it. The word provenance is taken:
// it is about contributions.
type MadeBy struct {
	Version  string   `json:"version"`              // of kernbench
	Command  string   `json:"command"`              // command line; empty in programs that use this package
	Machines []string `json:"machine_fingerprints"` // hashes of the machines' descriptions, as tuning tables have them
}

// NewMadeBy returns that of a command which used machines with these fingerprints.
func NewMadeBy(command string, machines ...string) MadeBy {
	m := MadeBy{Version: Version(), Command: command, Machines: []string{}}
	for _, fingerprint := range machines {
		m.Add(fingerprint)
	}
	return m
}

// Add adds the fingerprint of a machine, once.
func (m *MadeBy) Add(fingerprint string) {
	if !slices.Contains(m.Machines, fingerprint) {
		m.Machines = append(m.Machines, fingerprint)
	}
}

// Lines returns the same in words, for files with comments.
func (m MadeBy) Lines() []string {
	all := []string{"kernbench " + m.Version}
	if m.Command != "" {
		all = append(all, "command: "+strings.ReplaceAll(m.Command, "\n", `\n`))
	}
	switch len(m.Machines) {
	case 0:
	case 1:
		all = append(all, "machine fingerprint: "+m.Machines[0])
	default:
		all = append(all, "machine fingerprints: "+strings.Join(m.Machines, ", "))
	}
	return all
}

// metadata returns the same as the metadata of a trace.
func (m MadeBy) metadata() map[string]string {
	all := map[string]string{"version": m.Version, "machine_fingerprint": strings.Join(m.Machines, ", ")}
	if m.Command != "" {
		all["command"] = m.Command
	}
	return all
}

// about returns the metadata of a run's trace.
func (x *Job) about() map[string]string {
	all := x.madeBy().metadata()
	all["machine"] = x.Machine.Describe()
	return all
}

// madeBy returns that of a job.
func (x *Job) madeBy() MadeBy { return NewMadeBy(x.Command, x.Machine.Topology().Fingerprint()) }

// Version is that of this module, which is a dependency in a user's own program, with the
// commit where the build recorded one.
func Version() string {
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return "(unknown)"
	}
	v := info.Main.Version
	for _, d := range info.Deps {
		if d.Path == "kernbench" {
			v = d.Version
		}
	}
	if v == "" {
		v = "(devel)"
	}
	for _, s := range info.Settings {
		if s.Key == "vcs.revision" && info.Main.Path == "kernbench" {
			v += " " + s.Value
		}
	}
	return v
}
