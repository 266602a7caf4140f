package mscclpp

import (
	"cmp"
	"fmt"
	"strings"
	"testing"

	"kernbench/frontend/judge"
	"kernbench/frontend/plan"
)

// The functions below write plans of two ranks: r and the peer, 1-r. Each has two chunks of
// input and output; rank r reduces chunk r.

func local(buffer string, index int) string {
	return fmt.Sprintf(`{"type":%q,"index":%d,"size":1}`, buffer, index)
}

// remote buffers: 0 is i, 1 is s, 2 is o, by memory and port channels.
func remote(id, index int) string {
	return fmt.Sprintf(`{"buffer_id":%d,"index":%d,"size":1}`, id, index)
}

func multicast(index int) string {
	return fmt.Sprintf(`{"switch_channel_id":0,"index":%d,"size":1}`, index)
}

func refs(list ...string) []string { return list }

func move(name, channel string, src, dst []string) string {
	text := fmt.Sprintf(`{"name":%q,"src_buff":[%s],"dst_buff":[%s]`, name, strings.Join(src, ","), strings.Join(dst, ","))
	if channel != "" {
		text += fmt.Sprintf(`,"channel_type":%q,"channel_ids":[0]`, channel)
	}
	return text + "}"
}

func sync(name, channel string) string {
	return fmt.Sprintf(`{"name":%q,"channel_type":%q,"channel_ids":[0]}`, name, channel)
}

// meet returns a signal and a wait.
func meet(channel string) []string { return []string{sync("signal", channel), sync("wait", channel)} }

func acquire(id int) string { return fmt.Sprintf(`{"name":"sem_acquire","semaphore_ids":[%d]}`, id) }
func release(id int) string { return fmt.Sprintf(`{"name":"sem_release","semaphore_ids":[%d]}`, id) }

func barrier(id, n int) string {
	return fmt.Sprintf(`{"name":"barrier","barrier_id":%d,"num_threadblocks":%d}`, id, n)
}

func pipeline(unit, chunks int, ops ...string) string {
	return fmt.Sprintf(`{"name":"pipeline","iter_context":{"unit_size":%d,"num_chunks":%d},"ops":[%s]}`, unit, chunks,
		strings.Join(ops, ","))
}

// group returns an operation as a part of a group of thread blocks.
func group(op string, part, parts int) string {
	return strings.TrimSuffix(op, "}") + fmt.Sprintf(`,"tbg_info":{"tb_id":%d,"tbg_size":%d}}`, part, parts)
}

// text is a plan: blocks lists, for a rank, the operations of its thread blocks. Block b has
// memory channel b and port channel b.
type text struct {
	collective string
	top        string // more keys of the plan
	scratch    int
	semaphores string
	multicast  string // buffer of the switch channel; "" is i
	blocks     func(r int) [][]string
}

func (x text) String() string {
	var gpus []string
	for r := range 2 {
		blocks := x.blocks(r)
		var tbs, peers []string
		for b, ops := range blocks {
			tbs = append(tbs, fmt.Sprintf(`{"id":%d,"ops":[
%s],
"channels":[{"channel_type":"memory","channel_ids":[%d]},{"channel_type":"port","channel_ids":[%d]},{"channel_type":"switch","channel_ids":[0]}],
"remote_buffer_refs":[{"access_channel_type":"memory","remote_buffer_ids":[0,1,2]},{"access_channel_type":"port","remote_buffer_ids":[0,1,2]}]}`,
				b, strings.Join(ops, ",\n"), b, b))
			peers = append(peers, fmt.Sprint(1-r))
		}
		p := strings.Join(peers, ",")
		buffers := ""
		for i, name := range []string{"i", "s", "o"} {
			if i > 0 {
				buffers += ","
			}
			buffers += fmt.Sprintf(`{"rank":%d,"type":%q,"access_channel_types":["memory","port"]}`, 1-r, name)
		}
		gpus = append(gpus, fmt.Sprintf(`{"id":%d,"input_chunks":2,"output_chunks":2,"scratch_chunks":%d,"threadblocks":[%s],
"channels":[{"channel_type":"memory","connected_to":[%s]},{"channel_type":"port","connected_to":[%s]},{"channel_type":"switch","buffer_type":%q,"rank_groups":[{"size":2,"ranks":[0,1]}]}],
"remote_buffers":[%s],"semaphores":[%s]}`, r, x.scratch, strings.Join(tbs, ","), p, p, cmp.Or(x.multicast, "i"), buffers, x.semaphores))
	}
	collective := x.collective
	if collective == "" {
		collective = "allreduce"
	}
	top := x.top
	if !strings.Contains(top, "inplace") {
		top += `"inplace":true,`
	}
	if !strings.Contains(top, "protocol") {
		top += `"protocol":"Simple",`
	}
	return fmt.Sprintf(`{"name":"t","collective":%q,%s"gpus":[%s]}`, collective, top, strings.Join(gpus, ","))
}

// program reads a text as a program.
func (x text) program(t *testing.T) *plan.Program {
	t.Helper()
	p, findings := Program(plan.File{Name: "t.json", Data: []byte(x.String())})
	if p == nil {
		t.Fatalf("%v in\n%s", findings, x)
	}
	return p
}

// judgeAt judges a program in three launches of a size.
func judgeAt(t *testing.T, p *plan.Program, bytes int64) (*judge.Judgment, []plan.Finding) {
	t.Helper()
	pl, findings := p.Plan(plan.Call{Bytes: bytes, InPlace: p.Modes[0], Launches: 3})
	if pl == nil {
		return nil, findings
	}
	return judge.Judge(pl), nil
}

// verdicts returns those for all probes of a program, and the first finding.
func (x text) verdicts(t *testing.T) (string, string) {
	t.Helper()
	p := x.program(t)
	for _, bytes := range p.Probes {
		j, findings := judgeAt(t, p, bytes)
		if j != nil {
			findings = j.Findings
		}
		if len(findings) > 0 {
			return fmt.Sprint(plan.Verdicts(findings)), fmt.Sprintf("%d bytes: %v", bytes, findings)
		}
	}
	return "[OK]", ""
}

func join(lists ...[]string) []string {
	var out []string
	for _, l := range lists {
		out = append(out, l...)
	}
	return out
}

// only returns a plan of one thread block.
func only(ops func(r int) []string) func(int) [][]string {
	return func(r int) [][]string { return [][]string{ops(r)} }
}
