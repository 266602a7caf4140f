package tune

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	"kernbench/collective"
	"kernbench/conf"
	"kernbench/device"
	"kernbench/lab/run"
	"kernbench/lab/sweep"
)

// targets lists the algorithms of a collective that support the ranks of a machine. Each is listed
// as configured and with every combination of settings that makes a difference for it.
func (t *tuner) targets(ctx context.Context, m *tuneMachine, what *collective.Collective) ([]*tuneTarget, error) {
	names := t.spec.Algorithms
	if len(names) == 0 {
		names = sweep.AlgorithmsOf(what.Name)
	}
	type found struct {
		targets    []*tuneTarget
		refused    error // that the algorithm can have these ranks at all
		impossible error // a setting
	}
	var all []*tuneTarget
	var first error
	err := sweep.InOrder(ctx, len(names), func(i int) (f found) {
		f.targets, f.refused, f.impossible = t.ofAlgorithm(m, what, names[i])
		return f
	}, func(f found) {
		switch {
		case first != nil:
		case f.refused != nil && len(t.spec.Algorithms) > 0:
			first = f.refused
		case f.refused != nil:
			t.note("skipped on %s: %v", m.name, f.refused)
		case f.impossible != nil:
			first = f.impossible
		default:
			all = append(all, f.targets...)
		}
	})
	switch err := cmp.Or(first, err); {
	case err != nil:
		return nil, err
	case len(all) == 0:
		return nil, fmt.Errorf("no algorithm of %s supports these ranks: %s", what.Name, strings.Join(t.out.Notes, "; "))
	}
	m.pes = all[0].plan.PEs
	return all, nil
}

// ofAlgorithm returns an algorithm as it is configured, and with all settings that are others for
// it. It may be refused as it is, or a setting be impossible.
func (t *tuner) ofAlgorithm(m *tuneMachine, what *collective.Collective, name string) (all []*tuneTarget, refused, impossible error) {
	shape := sweep.Shape(m.base, name)
	plain, err := t.target(m, what, name, shape)
	if err == nil {
		_, err = sweep.FewElements(what, plain.plan)
	}
	if err != nil {
		return nil, err, nil
	}
	all = append(all, plain)
	known := map[string]bool{plain.key(t.spec.Program, m, what, collective.Call{}, false, -1): true}
	vary, err := t.vary(m, plain)
	if err != nil {
		return nil, nil, err
	}
	for _, settings := range withNone(vary) {
		v, err := t.target(m, what, name, append(slices.Clone(shape), settings...))
		if err != nil {
			return nil, nil, err
		}
		key := v.key(t.spec.Program, m, what, collective.Call{}, false, -1)
		if !known[key] {
			known[key] = true
			all = append(all, v)
		}
	}
	return all, nil, nil
}

// vary returns what of the settings makes a difference to an algorithm: combinations with what
// makes none are not worth being looked at.
func (t *tuner) vary(m *tuneMachine, plain *tuneTarget) ([]sweep.Variation, error) {
	var all []sweep.Variation
	for _, v := range t.spec.Vary {
		own := sweep.Variation{Key: v.Key}
		for _, value := range v.Values {
			different, err := m.change(plain.plan, plain.name, v.Key+"="+value)
			if err != nil {
				return nil, sweep.Varied(err, plain.name, []sweep.Setting{{Key: v.Key, Value: value}})
			}
			if different {
				own.Values = append(own.Values, value)
			}
		}
		all = append(all, own)
	}
	return all, nil
}

// withNone lists every choice of one value for each key, or of none: what is configured.
func withNone(vary []sweep.Variation) [][]sweep.Setting {
	all := [][]sweep.Setting{{}}
	for _, v := range vary {
		longer := slices.Clone(all)
		for _, c := range all {
			for _, value := range v.Values {
				longer = append(longer, append(slices.Clone(c), sweep.Setting{Key: v.Key, Value: value}))
			}
		}
		all = longer
	}
	return all
}

// target makes an algorithm ready, on a device that is only asked whether it can be.
func (t *tuner) target(m *tuneMachine, what *collective.Collective, name string, settings []sweep.Setting) (*tuneTarget, error) {
	var sets []string
	for _, s := range settings {
		sets = append(sets, s.Key+"="+s.Value)
	}
	x, err := m.base.Using(name, sets)
	if err != nil {
		return nil, err
	}
	dev, err := x.Device()
	if err != nil {
		return nil, err
	}
	plan, err := dev.InstallIPCQ(name)
	switch {
	case err != nil:
		return nil, err
	case plan.Algorithm.Collective != what.Name:
		return nil, fmt.Errorf("algorithm %s performs %s, not %s", name, plan.Algorithm.Collective, what.Name)
	case plan.PerSIP():
		return nil, fmt.Errorf("algorithm %s: found rank_level sip, want pe: only messages between PEs are measured", name)
	}
	var changes []string
	for _, set := range sets {
		if ok, err := m.change(plan, name, set); err != nil {
			return nil, err
		} else if ok {
			changes = append(changes, set)
		}
	}
	return &tuneTarget{name: name, settings: strings.Join(changes, " "), x: x, plan: plan}, nil
}

// change reports whether a setting makes a difference to what an algorithm is configured with.
func (m *tuneMachine) change(plan *device.Plan, name, setting string) (bool, error) {
	key, _, _ := strings.Cut(setting, "=")
	with, err := m.base.Entries.With(name, []string{setting})
	switch {
	case err != nil:
		return false, err
	case (key == "n_slots" || key == "slot_size") && !run.HasRings(plan), key == "chunk_size" && !plan.Algorithm.Pipelined,
		key == "protocol" && onlyProtocol(m.base.Machine.Topology()):
		return false, nil
	}
	before, after := m.base.Entries.Merge(name), with.Merge(name)
	return before.Settings != after.Settings || before.W != after.W || before.H != after.H ||
		before.Topology != after.Topology || before.Module != after.Module || before.RootCube != after.RootCube, nil
}

// onlyProtocol reports whether all protocols of a machine take the same.
func onlyProtocol(t *conf.Topology) bool {
	for _, name := range []string{"ll", "ll128"} {
		if t.Software().Protocol(name) != t.Software().Protocol("simple") {
			return false
		}
		for _, traffic := range []conf.Traffic{conf.OnRings, conf.OnTrees, conf.Switched} {
			if !slices.Equal(t.Latencies(name, traffic), t.Latencies("simple", traffic)) {
				return false
			}
		}
	}
	return true
}
