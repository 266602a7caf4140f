package calibrate

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"kernbench/collective"
	"kernbench/conf"
	"kernbench/lab/calibrate/nccl"
	"kernbench/unit"
)

// HoldOut selects the sizes of a table that a fit does not use. The zero value holds out none.
type HoldOut struct {
	Every int        `json:"every,omitempty"` // every Every-th size; 0: none
	Above unit.Bytes `json:"above_bytes,omitempty"`
	Below unit.Bytes `json:"below_bytes,omitempty"`
}

// ParseHoldOut reads a number N, for every N-th size, or above=SIZE, below=SIZE or none.
func ParseHoldOut(s string) (h HoldOut, err error) {
	key, value, found := strings.Cut(s, "=")
	switch {
	case s == "none":
		return h, nil
	case found && key == "above":
		h.Above, err = unit.ParseBytes(value)
		return h, err
	case found && key == "below":
		h.Below, err = unit.ParseBytes(value)
		return h, err
	}
	if h.Every, err = strconv.Atoi(s); err != nil || h.Every < 2 {
		return HoldOut{}, fmt.Errorf("found %q, want a number N from 2 on (every N-th size), above=SIZE, below=SIZE or none", s)
	}
	return h, nil
}

func (h HoldOut) String() string {
	text := func(key string, b unit.Bytes) string { return key + "=" + strings.ReplaceAll(b.String(), " ", "") }
	switch {
	case h.Every > 0:
		return strconv.Itoa(h.Every)
	case h.Above > 0:
		return text("above", h.Above)
	case h.Below > 0:
		return text("below", h.Below)
	}
	return "none"
}

// holds reports whether the size at index i is held out. The first and the last size stay in the
// fit where possible, so that held-out sizes lie between fitted ones.
func (h HoldOut) holds(i int, size unit.Bytes) bool {
	return h.Every > 0 && i%h.Every == h.Every/2 || h.Above > 0 && size > h.Above || h.Below > 0 && size < h.Below
}

// Algorithms returns the algorithms that the library of a machine is known to have, if kernbench
// has equivalents. For a machine with an NCCL generation these are NCCL's rings and its reductions
// in switches, and on several nodes its trees too. An algorithm that is better than all of them
// does not count, since the machine did not run it. For other machines they are those of all
// libraries, such as the one-shots of MSCCL, which RCCL runs. If none is known, the algorithm of
// perf is returned.
func Algorithms(what *collective.Collective, generation string, nodes int, otherwise string) []string {
	switch ours := nccl.Generation(generation); {
	case len(what.KnownNCCL) > 0 && slices.Contains(nccl.Generations(), ours):
		if nodes > 1 {
			return slices.Concat(what.KnownNCCL, what.KnownRails)
		}
		return what.KnownNCCL
	case len(what.Known) > 0:
		return what.Known
	}
	return []string{otherwise}
}

// modelParam is a parameter of the model.
type modelParam struct {
	name string
	keys []string  // of topology.yaml, which all have its value
	plus []float64 // what each of keys adds to the value; nil: nothing
	rate bool
	hop  bool    // of a protocol: part of each hop
	base float64 // ns or GB/s
	kept string  // why it stays as it is

	start      bool   // of a collective
	collective string // collective with this start; "": all that have none of their own
}

func (p *modelParam) unit() string {
	if p.rate {
		return "GB/s"
	}
	return "ns"
}

// The names of parameters. Those of protocols are theirs.
const (
	paramLaunch  = "launch"
	paramMessage = "message"
	paramRate    = "rate"
)

// protocols lists those of software.protocols.
var protocols = []string{"ll", "ll128", "simple"}

// Parameters lists the names of parameters. A machine with several levels has a rate for
// each, rate0 being the innermost.
func Parameters() []string {
	return append(append([]string{paramLaunch}, protocols...), paramMessage, paramRate)
}

// protocolsOf returns the protocols of a machine: one, where all take the same.
func protocolsOf(t *conf.Topology) []string {
	s := t.Software()
	if s.Protocols.LL == s.Protocols.Simple && s.Protocols.LL128 == s.Protocols.Simple {
		return []string{"simple"}
	}
	return protocols
}

// modelParams finds the parameters of a machine for tables of some collectives. The first of them
// takes the start of all, unless the machine has one for it. Each other has its own.
func modelParams(t *conf.Topology, collectives, keep []string) ([]modelParam, error) {
	s := t.Software()
	var all []modelParam
	all = append(all, launchParam(s))
	for i, name := range collectives {
		own := s.Starts.Collectives[name]
		if i > 0 || own != nil && own.Launch > 0 {
			all = append(all, modelParam{name: paramLaunch + "." + name,
				keys: []string{"software.starts.collectives." + name + ".launch_ns"},
				base: s.First(name).Ns(), start: true, collective: name})
		}
	}
	for _, name := range protocolsOf(t) {
		p := s.Protocol(name)
		hop := modelParam{name: name, keys: []string{"software.protocols." + name + ".latency_ns"}, base: p.Latency.Ns(), hop: true}
		if tree := s.Trees.Of(name); tree > 0 { // it keeps its distance from that of a ring
			hop.keys, hop.plus = append(hop.keys, "software.trees."+name+"_ns"), []float64{0, (tree - p.Latency).Ns()}
		}
		all = append(all, hop)
	}
	all = append(all, modelParam{name: paramMessage, keys: []string{"pe.ipcq.recv_ns"}, base: t.PE().IPCQ.Recv.Ns()})
	levels := t.System().Between()
	for i := range levels {
		name := paramRate
		if len(levels) > 1 {
			name += strconv.Itoa(i)
		}
		all = append(all, modelParam{name: name, keys: []string{t.LevelKey(i, "link.bw_gbs")}, rate: true, base: levels[i].Link.BW.GBs()})
	}
	var names []string
	for i := range all {
		names = append(names, all[i].name)
		if slices.Contains(keep, all[i].name) || all[i].rate && slices.Contains(keep, paramRate) ||
			all[i].start && slices.Contains(keep, paramLaunch) {
			all[i].kept = "as asked"
		}
	}
	for _, k := range keep {
		if slices.Contains(names, k) || slices.Contains(Parameters(), k) {
			continue
		}
		if near := conf.Nearest(k, names); near != "" {
			return nil, fmt.Errorf("unknown parameter %q; did you mean %q?", k, near)
		}
		return nil, fmt.Errorf("unknown parameter %q: this machine has %s", k, strings.Join(names, ", "))
	}
	return all, nil
}

// launchParam returns the start of a collective, for all protocols. Where some have their own
// start, it is the smallest one, and the others keep their distance above it.
func launchParam(s conf.Software) modelParam {
	if s.Protocols.LL.Launch == 0 && s.Protocols.LL128.Launch == 0 && s.Protocols.Simple.Launch == 0 {
		return modelParam{name: paramLaunch, keys: []string{"software.launch_ns"}, base: s.Launch.Ns(), start: true}
	}
	p := modelParam{name: paramLaunch, base: math.Inf(1), start: true}
	for _, name := range protocols {
		p.base = min(p.base, s.Protocol(name).Launch.Ns())
	}
	for _, name := range protocols {
		p.keys = append(p.keys, "software.protocols."+name+".launch_ns")
		p.plus = append(p.plus, s.Protocol(name).Launch.Ns()-p.base)
	}
	return p
}
