package chakra

import (
	"bytes"
	"fmt"
	"reflect"
	"slices"
	"strings"

	"kernbench/frontend/plan"
	"kernbench/program/text"
)

// recordedAttr is the metadata attribute for the recorded program of a rank's trace, with the
// statements of this rank only. Export writes it, because a trace has no other place for the data
// of its nodes.
const recordedAttr = "kernbench_program"

// Data carries out a recorded program on symbols. The plan has the memory and its expected final
// contents.
type Data func(*text.File) (*plan.Plan, error)

// recorded is the program from which Export made traces.
type recorded struct {
	file  *text.File
	plan  *plan.Plan
	bytes int64 // of a call
}

// findRecorded finds the program in the metadata. It checks that Export makes the same nodes from
// it, so that the program's data are those of the traces. It returns false if no trace has one.
func (p *program) findRecorded(data Data) bool {
	var file *text.File
	for rank, t := range p.traces {
		v, _ := Find(t.Metadata.Attrs, recordedAttr)
		source, _ := v.Text()
		if source == "" {
			if rank > 0 {
				p.notes = append(p.notes, fmt.Sprintf("%s has no %s, and other ranks have: the right result is unknown",
					t.File, recordedAttr))
			}
			return rank > 0
		}
		one, err := text.Read(recordedAttr, strings.NewReader(source))
		if err == nil {
			file, err = joined(file, one, rank)
		}
		if err != nil {
			p.notes = append(p.notes, fmt.Sprintf("%s: the %s of the metadata: %v", t.File, recordedAttr, err))
			return true
		}
	}
	err := p.same(file)
	var pl *plan.Plan
	if err == nil && data != nil {
		pl, err = data(file)
	}
	if err != nil || pl == nil {
		p.notes = append(p.notes, fmt.Sprintf("the metadata has a recorded program, and it does not tell what is right: %v", err))
		return true
	}
	elems := max(file.Elems, file.Results)
	if file.Collective == "all_gather" && file.Results == 0 {
		elems *= file.World
	}
	p.recorded = &recorded{file: file, plan: pl, bytes: int64(elems) * int64(file.Type.Size())}
	p.notes = append(p.notes,
		"which data nodes move is taken from the recorded program in the metadata: nodes are those that an export of it has")
	return true
}

// joined adds the statements of a rank to those of the ranks before it.
func joined(file, one *text.File, rank int) (*text.File, error) {
	for _, b := range one.Blocks {
		if !slices.Equal(b.Ranks, []int32{int32(rank)}) {
			return nil, fmt.Errorf("found statements of ranks %v, want those of rank %d", b.Ranks, rank)
		}
	}
	if file == nil {
		return one, nil
	}
	a, b := *file, *one
	a.Blocks, b.Blocks = nil, nil
	if !reflect.DeepEqual(a, b) {
		return nil, fmt.Errorf("its head differs from that of rank 0")
	}
	file.Blocks = append(file.Blocks, one.Blocks...)
	return file, nil
}

// same checks that the nodes equal those that Export makes from a program.
func (p *program) same(file *text.File) error {
	if file.World != len(p.traces) {
		return fmt.Errorf("it is for %d ranks, there are %d", file.World, len(p.traces))
	}
	made, err := nodes(file)
	if err != nil {
		return err
	}
	var has, asked encoder
	for rank, t := range p.traces {
		if has, want := len(t.Nodes), len(made[rank].Nodes); has != want {
			return fmt.Errorf("%s has %d nodes, and the export has %d", t.File, has, want)
		}
		for i := range t.Nodes {
			want := &made[rank].Nodes[i]
			has, asked = has[:0], asked[:0]
			has.node(&t.Nodes[i])
			asked.node(want)
			if !bytes.Equal(has, asked) {
				return t.fail(&t.Nodes[i], fmt.Sprintf("the export has another node here, %v %q", want.Type, want.Name))
			}
		}
	}
	return nil
}
