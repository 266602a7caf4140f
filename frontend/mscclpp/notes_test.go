package mscclpp

import (
	"strings"
	"testing"
)

func TestProgramNotes(t *testing.T) {
	nop := `{"name":"nop"}`
	rres := move("rres", "memory", refs(local("i", 0), remote(0, 0)), refs(local("i", 0), remote(0, 0)))
	both := func(ops ...string) text {
		return text{scratch: 2, semaphores: `{"init_value":0}`, blocks: only(func(int) []string { return ops })}
	}
	signal, wait := sync("signal", "memory"), sync("wait", "memory")
	for _, c := range []struct {
		name string
		text text
		want string // "" for none
	}{
		{"all nops", both(signal, wait, nop, rres, nop, signal, wait), ""},
		{"packets need none", right["ppkt, respkt, upkt"], ""},
		{"no nop behind a wait", both(signal, wait, rres, nop, signal, wait),
			"t.json:4: rank 0 tb 0: rres after wait at line 3 without a nop between: only the waiting threads are ordered after the signal (and 1 more)"},
		{"no nop before a signal", both(signal, wait, nop, rres, signal, wait),
			"rank 0 tb 0: signal after rres at line 5 without a nop between"},
		{"no nop before a release", both(signal, wait, nop, rres, release(0)), "sem_release after rres"},
		{"a barrier is a nop too", both(signal, wait, barrier(0, 1), rres, barrier(0, 1), signal, wait), ""},
		{"over the end of an iteration", both(pipeline(64, 1, acquire(0), nop, rres, nop, release(0)), signal), ""},
		{"not over it", both(pipeline(64, 1, rres, nop, acquire(0)), nop, signal), "rres after sem_acquire"},
		{"no flush", both(move("put", "port", refs(local("i", 1)), refs(remote(1, 1)))), "put over a port without a flush after it"},
		{"flush", both(move("put", "port", refs(local("i", 1)), refs(remote(1, 1))), sync("flush", "port")), ""},
		{"pws over memory", both(move("pws", "memory", refs(local("i", 1)), refs(remote(1, 1)))),
			"pws over a memory channel copies and gives no signal"},
	} {
		p := c.text.program(t)
		got := strings.Join(p.Notes, "\n")
		if c.want == "" && got != "" || !strings.Contains(got, c.want) {
			t.Errorf("%s: notes %q, want %q", c.name, got, c.want)
		}
	}
}
