package judge

import (
	"fmt"
	"maps"

	"kernbench/frontend/plan"
)

// result compares the outputs with the expected contents.
func (j *Judgment) result(r *run) {
	if r.plan.Data != nil {
		of := Judge(r.plan.Data)
		j.Right, j.Cells, j.Root, j.Races = of.Right, of.Cells, of.Root, of.Races
		j.Findings, j.Notes = append(j.Findings, of.Findings...), append(j.Notes, of.Notes...)
		return
	}
	want := r.plan.Want
	if want == nil {
		j.Findings = append(j.Findings, plan.Finding{Verdict: plan.NoPostcondition,
			Text: fmt.Sprintf("nothing says what the outputs of collective %q must hold", r.plan.Collective)})
		return
	}
	root := want.Root
	if want.Rooted && root == plan.None {
		root = r.data.likelyRoot(want)
		j.Notes = append(j.Notes, fmt.Sprintf("root %d: found in the program; the file does not state it", root))
	}
	if want.Rooted {
		j.Root = root
	}
	var buf []plan.Contribution
	wrong := 0
	r.data.outputs(func(launch, rank, cell int, v value) {
		parts, asked := wanted(want, buf, launch, root, rank, cell)
		if buf = parts[:0]; !asked {
			return
		}
		j.Cells++
		if r.data.holds(v, parts) {
			j.Right++
			return
		}
		if wrong++; wrong <= limit {
			j.Findings = append(j.Findings, plan.Finding{Verdict: plan.Wrong, Text: r.data.difference(launch, rank, cell, v, parts)})
		}
	})
	if wrong > 0 {
		j.rest(plan.Wrong, wrong-min(wrong, limit), "chunks are wrong")
		summary := plan.Finding{Verdict: plan.Wrong, Text: fmt.Sprintf("%d of %d chunks", wrong, j.Cells)}
		j.Findings = append([]plan.Finding{summary}, j.Findings...)
	}
	if !r.plan.InPlace {
		j.inputs(r)
	}
}

// wanted returns the expected contents of a cell after a call, in buf.
func wanted(want *plan.Relation, buf []plan.Contribution, launch, root, rank, cell int) ([]plan.Contribution, bool) {
	parts, asked := want.Want(buf[:0], root, rank, cell)
	for i := range parts {
		parts[i].Launch = launch
	}
	return parts, asked
}

// outputs calls do for each cell of each output, after each call.
func (d *data) outputs(do func(launch, rank, cell int, v value)) {
	for launch := range d.earlier {
		for rank := range d.earlier[launch] {
			for c, v := range d.earlier[launch][rank] {
				do(launch, rank, c, v)
			}
		}
	}
	for rank := range d.run.plan.Ranks {
		k := &d.run.plan.Ranks[rank]
		if k.Output == plan.None {
			continue
		}
		out := k.Views[k.Output]
		for c, v := range d.memory[rank][out.Memory][out.First:][:out.Cells] {
			do(len(d.earlier), rank, c, v)
		}
	}
}

// holds reports whether a value has exactly these contributions.
func (d *data) holds(v value, parts []plan.Contribution) bool {
	if v == undefined {
		return false
	}
	var sum [2]uint64
	for _, c := range parts {
		sum = plus(sum, digest(c))
	}
	return d.values.nodes[v].sum == sum
}

// likelyRoot returns the root with which most cells are right, the lowest of several.
func (d *data) likelyRoot(want *plan.Relation) int {
	best, most := 0, -1
	var buf []plan.Contribution
	for root := range d.run.plan.Ranks {
		right, asked := 0, 0
		d.outputs(func(launch, rank, cell int, v value) {
			parts, is := wanted(want, buf, launch, root, rank, cell)
			if buf = parts[:0]; is {
				asked++
				if d.holds(v, parts) {
					right++
				}
			}
		})
		if right > most {
			best, most = root, right
		}
		if right == asked && asked > 0 {
			break
		}
	}
	return best
}

// difference describes what a cell holds and what it should hold.
func (d *data) difference(launch, rank, cell int, v value, want []plan.Contribution) string {
	k := &d.run.plan.Ranks[rank]
	place := fmt.Sprintf("rank %d %s", rank, plan.Cells(k.Views[k.Output].Name, cell, 1))
	if len(d.earlier) > 0 {
		place = fmt.Sprintf("after launch %d %s", launch+1, place)
	}
	wanted := map[plan.Contribution]uint64{}
	for _, c := range want {
		wanted[c]++
	}
	if v == undefined {
		return fmt.Sprintf("%s is undefined; it must hold %s", place, d.list(wanted))
	}
	has := d.values.contents(v)
	if len(wanted) == 1 || len(has) == 1 {
		return fmt.Sprintf("%s holds %s; it must hold %s", place, d.list(has), d.list(wanted))
	}
	lacks, often, extra := map[plan.Contribution]uint64{}, map[plan.Contribution]uint64{}, maps.Clone(has)
	for c, n := range wanted {
		if delete(extra, c); has[c] < n {
			lacks[c] = n - has[c]
		} else if has[c] > n {
			often[c] = has[c]
		}
	}
	text := fmt.Sprintf("%s holds %d of %d contributions", place, len(wanted)-len(lacks), len(wanted))
	if len(lacks) > 0 {
		text += "; it lacks " + d.list(lacks)
	}
	if len(often) > 0 {
		text += "; it has too often " + d.list(often)
	}
	if len(extra) > 0 {
		text += "; it must not hold " + d.list(extra)
	}
	return text
}

// inputs warns if an input was changed though the result has memory of its own.
func (j *Judgment) inputs(r *run) {
	changed, first := 0, ""
	for rank := range r.plan.Ranks {
		k := &r.plan.Ranks[rank]
		if k.Input == plan.None || k.Output == plan.None || k.Views[k.Input].Memory == k.Views[k.Output].Memory {
			continue
		}
		in := k.Views[k.Input]
		for c, v := range r.data.memory[rank][in.Memory][in.First:][:in.Cells] {
			if !r.data.holds(v, []plan.Contribution{{Rank: rank, Cell: c, Launch: len(r.data.earlier)}}) {
				if changed++; changed == 1 {
					first = fmt.Sprintf("rank %d %s", rank, plan.Cells(in.Name, c, 1))
				}
			}
		}
	}
	if changed > 0 {
		j.Notes = append(j.Notes, fmt.Sprintf("out of place, yet %d input chunks are changed, %s first: NCCL leaves inputs as they are",
			changed, first))
	}
}
