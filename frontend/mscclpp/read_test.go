package mscclpp

import (
	"fmt"
	"strings"
	"testing"
)

// gpuText returns a GPU of a plan: all_reduce of two ranks, by packets into the peer's scratch.
func gpuText(rank int) string {
	return fmt.Sprintf(`    {
      "id": %d, "input_chunks": 2, "output_chunks": 2, "scratch_chunks": 2,
      "threadblocks": [
        {"id": 0,
         "ops": [
           {"name": "ppkt", "src_buff": [{"type": "i", "index": 0, "size": 2}], "dst_buff": [{"buffer_id": 0, "index": 0, "size": 2}], "channel_type": "memory"},
           {"name": "repkt", "src_buff": [{"type": "i", "index": 0, "size": 2}, {"type": "s", "index": 0, "size": 2}], "dst_buff": [{"type": "o", "index": 0, "size": 2}], "reduce_op": "sum"}
         ],
         "channels": [{"channel_type": "memory", "channel_ids": [0]}],
         "remote_buffer_refs": [{"access_channel_type": "memory", "remote_buffer_ids": [0]}]}
      ],
      "channels": [{"channel_type": "memory", "connected_to": [%d]}],
      "remote_buffers": [{"rank": %d, "type": "s", "access_channel_types": ["memory"]}],
      "semaphores": [{"init_value": 3}]
    }`, rank, 1-rank, 1-rank)
}

// base is a right plan.
var base = `{
  "name": "two", "collective": "allreduce", "protocol": "LL", "inplace": true,
  "reuse_resources": false, "num_threads_per_block": 512, "use_double_scratch_buffer": true,
  "buffer_alignment": 16, "min_message_size": 64, "max_message_size": 18446744073709551615,
  "gpus": [
` + gpuText(0) + ",\n" + gpuText(1) + `
  ]
}
`

func readText(text string) (*Plan, error) { return Read("p.json", strings.NewReader(text)) }

func TestRead(t *testing.T) {
	p, err := readText(base)
	if err != nil {
		t.Fatal(err)
	}
	if len(p.Notes) > 0 || p.Name != "two" || p.Collective != "allreduce" || !p.Packets || !p.InPlace || !p.DoubleScratch ||
		p.Threads != 512 || p.MinBytes != 64 || p.MaxBytes != 1<<64-1 || len(p.GPUs) != 2 {
		t.Errorf("read %+v", p)
	}
	g := p.GPUs[1]
	op := g.Blocks[0].Ops[1]
	got := fmt.Sprint(g.InputChunks, g.ScratchChunks, g.Memory, g.Remote, g.Semaphores, g.Blocks[0].MemoryRefs,
		op.Name, op.Line, op.Column, op.Src, op.Dst)
	want := "2 2 [0] [{0 115}] [3] [0]repkt27 12 [{27 105 -1 -1 0 2} {27 115 -1 -1 0 2}] [{27 111 -1 -1 0 2}]"
	if got != want {
		t.Errorf("rank 1 is\n%s\nwant\n%s", got, want)
	}
}

func TestReadErrors(t *testing.T) {
	for _, c := range []struct{ name, old, new, want string }{
		{"no JSON", base, "<algo>", `p.json:1:1: found '<', want a value`},
		{"empty", base, "", `p.json:1:1: found the end of the file, want a value`},
		{"two roots", "]\n}\n", "]\n}\n{}", `p.json:38:1: found '{' after the plan`},
		{"NUL", `"LL"`, "\x00", `found '\x00', want a value`},
		{"UTF-16", base, "\xff\xfe{\x00", `p.json:1:1: found byte 0xff`},
		{"line in a string", `"two"`, "\"tw\no\"", "p.json:2:11: this is not a valid string"},
		{"open string", "]\n}\n", "], \"a", "a string that does not end"},
		{"deep", base, strings.Repeat("[", 1000), "nested more than 32 deep"},
		{"comma", `"LL",`, `"LL"`, `want ',' or '}'`},
		{"key twice", `"protocol"`, `"name"`, `p.json:2:45: the key "name" is here twice`},
		{"no number", `"buffer_alignment": 16`, `"buffer_alignment": 016`, `p.json:4:23: "016" is not a number`},
		{"fraction", `"buffer_alignment": 16`, `"buffer_alignment": 12.75`, "p.json:4:23: buffer_alignment: found 12.75, want an integer"},
		{"float", `"buffer_alignment": 16`, `"buffer_alignment": 16.0`, "not written as an integer"},
		{"huge", `"min_message_size": 64`, `"min_message_size": 18446744073709551616`, "too large"},
		{"negative", `"scratch_chunks": 2`, `"scratch_chunks": -2`, "p.json:7:73: gpus[0].scratch_chunks: found -2"},
		{"text for a number", `"input_chunks": 2`, `"input_chunks": "2"`,
			"p.json:7:16: gpus[0].input_chunks: found a string, want a number"},
		{"not an object", `{"init_value": 3}`, `3`, "p.json:19:22: gpus[0].semaphores[0]: found a number, want an object"},
		{"name missing", `"name": "two", `, "", `p.json:1:1: "name" is missing`},
		{"protocol", `"LL"`, `"LL128"`, `protocol: found "LL128", want Simple, LL`},
		{"no GPUs", gpuText(0) + ",\n" + gpuText(1), "", "gpus: found 0 GPUs"},
		{"GPU out of place", `"id": 1`, `"id": 0`, "gpus[1].id: found 0, want 1"},
		{"chunks 0", `"output_chunks": 2`, `"output_chunks": 0`, "gpus[0].output_chunks: found 0, want 1 or more: the executor divides"},
		{"v0.7", `"input_chunks"`, `"inputChunks"`, "p.json:7:16: gpus[0].inputChunks: this key is of the schema up to v0.7"},
		{"v0.5", `"collective"`, `"colletive"`, "p.json:2:18: colletive: this key is of the schema up to v0.5"},
		{"stale switch", `{"channel_type": "memory", "connected_to": [1]}`, `{"channel_type": "switch", "buff": "s", "rank_groups": []}`,
			`gpus[0].channels[0].buff: found "buff", want "buffer_type"`},
		{"channel type", `{"channel_type": "memory", "connected_to": [1]}`,
			`{"channel_type": "proxy", "connected_to": [1]}`, `found "proxy", want none, memory, port, switch`},
		{"self peer", `"connected_to": [1]`, `"connected_to": [0]`, "gpus[0].channels[0].connected_to[0]: found 0, the GPU itself"},
		{"peer too high", `"connected_to": [1]`, `"connected_to": [2]`, "connected_to[0]: found 2, want 0 to 1: there are 2 GPUs"},
		{"channel not there", `"channel_ids": [0]`, `"channel_ids": [1]`,
			"channel_ids[0]: found 1, there are 1 memory channels of the GPU"},
		{"remote not there", `"remote_buffer_ids": [0]`, `"remote_buffer_ids": [7]`, "found 7, there are 1 remote buffers of the GPU"},
		{"buffer not there", `"buffer_id": 0`, `"buffer_id": 1`,
			"dst_buff[0].buffer_id: found 1, there are 1 memory remote buffers of the thread block"},
		{"buffer type", `{"type": "i", "index"`, `{"type": "x", "index"`, `src_buff[0].type: found "x", want i, o, s`},
		{"two of one", `{"type": "i", "index"`, `{"type": "i", "buffer_id": 0, "index"`,
			"2 of type, buffer_id and switch_channel_id, want one"},
		{"none of one", `{"type": "i", "index"`, `{"index"`, "0 of type, buffer_id and switch_channel_id"},
		{"unknown op", `"ppkt"`, `"ppk"`,
			`gpus[0].threadblocks[0].ops[0].name: "ppk" is not an operation of the executor; did you mean "ppkt"?`},
		{"glre", `"repkt"`, `"glre"`, `the executor's parser rejects`},
		{"wrong channel", `"name": "ppkt"`, `"name": "gstore"`, "gstore over a channel of type memory, want switch"},
		{"remote for local", `"name": "ppkt"`, `"name": "copy"`, "dst_buff[0]: copy takes a local buffer here, found a remote one"},
		{"too few", `"name": "repkt"`, `"name": "recpkt"`, "recpkt has 1 of them, want 2 to 10"},
		{"unequal lists", `"dst_buff": [{"buffer_id"`,
			`"dst_buff": [{"buffer_id": 0, "index": 0, "size": 1}, {"buffer_id"`, "ppkt has 1 of src_buff and 2 of dst_buff"},
		{"pipeline in pipeline", `{"name": "ppkt"`,
			`{"name": "pipeline", "iter_context": {"unit_size": 1, "num_chunks": 1}, "ops": [{"name": "pipeline"}]}, {"name": "ppkt"`,
			"a pipeline within a pipeline"},
		{"unit 0", `{"name": "ppkt"`, `{"name": "pipeline", "iter_context": {"unit_size": 0, "num_chunks": 1}, "ops": []}, {"name": "ppkt"`,
			"iter_context.unit_size: found 0, want 1 to"},
		{"semaphore not there", `{"name": "ppkt"`, `{"name": "sem_acquire", "semaphore_ids": [1]}, {"name": "ppkt"`,
			"found 1, there are 1 semaphores of the GPU"},
		{"barrier id", `{"name": "ppkt"`, `{"name": "barrier", "barrier_id": 16, "num_threadblocks": 1}, {"name": "ppkt"`,
			"barrier_id: found 16, want 0 to 15"},
		{"group", `{"name": "ppkt"`, `{"name": "nop", "tbg_info": {"tb_id": 2, "tbg_size": 2}}, {"name": "ppkt"`,
			"tbg_info.tb_id: found 2, want 0 to 1"},
		{"too many ops", `{"name": "ppkt"`, strings.Repeat(`{"name": "nop"}, `, 63) + `{"name": "ppkt"`,
			"found 65 operations, the executor has space for 64"},
		{"too many semaphores", `{"name": "ppkt"`,
			`{"name": "sem_acquire", "semaphore_ids": [0` + strings.Repeat(`, 0`, 16) + `]}, {"name": "ppkt"`,
			"ops[0].semaphore_ids: found 17 semaphores, an operation of the executor has space for 16"},
		{"threads", `512`, `2048`, "num_threads_per_block: found 2048, want 1 to 1024"},
		{"range", `"max_message_size": 18446744073709551615`, `"max_message_size": 63`, "max_message_size: found 63, want 64 to"},
	} {
		t.Run(c.name, func(t *testing.T) {
			text := strings.Replace(base, c.old, c.new, 1)
			if text == base {
				t.Fatalf("%q is not in the plan", c.old)
			}
			_, err := readText(text)
			if err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("error %v\nwant one with %s", err, c.want)
			}
			if _, ok := err.(*Error); err != nil && !ok {
				t.Errorf("error of type %T, want *Error", err)
			}
		})
	}
}

// A GPU may have more semaphores than an operation names.
func TestManySemaphores(t *testing.T) {
	text := strings.ReplaceAll(base, `{"init_value": 3}`, strings.Repeat(`{"init_value": 3}, `, 111)+`{"init_value": 3}`)
	if p, err := readText(text); err != nil || len(p.GPUs[1].Semaphores) != 112 {
		t.Errorf("%v; want a plan with 112 semaphores", err)
	}
}

func TestNotes(t *testing.T) {
	text := strings.ReplaceAll(base, `"sum"`, `"max"`)
	text = strings.Replace(text, `"num_threads_per_block"`, `"num_thread_per_block"`, 1)
	p, err := readText(text)
	if err != nil {
		t.Fatal(err)
	}
	want := `p.json:3:29: num_thread_per_block: the executor ignores this key; did you mean "num_threads_per_block"?
p.json:12:185: gpus[0].threadblocks[0].ops[1].reduce_op: the executor ignores reduce_op "max" and always sums`
	if got := strings.Join(p.Notes, "\n"); got != want {
		t.Errorf("notes\n%s\nwant\n%s", got, want)
	}
}

func FuzzRead(f *testing.F) {
	// Seeds are short: Go spends its time on making long ones shorter.
	f.Add([]byte(`{"name":"a","collective":"c","protocol":"LL","inplace":true,"gpus":[{"id":0,"input_chunks":1,"output_chunks":1,` +
		`"scratch_chunks":1,"threadblocks":[{"id":0,"ops":[{"name":"copy","src_buff":[{"type":"i","index":0,"size":1}],` +
		`"dst_buff":[{"type":"s","index":0,"size":1}]}],"channels":[]}],"channels":[],"remote_buffers":[]}]}`))
	f.Add([]byte(`{"name": "\u0000", "gpus": [{"id": 1e9}], "a": [[[]]]}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		p, err := Read("fuzz.json", strings.NewReader(string(data)))
		if (p == nil) == (err == nil) {
			t.Errorf("plan %v and error %v", p, err)
		}
		if e, ok := err.(*Error); ok && (e.Line < 1 || e.Column < 1) {
			t.Errorf("error without a place: %v", e)
		}
	})
}
