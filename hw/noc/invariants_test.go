//go:build invariants

package noc

import (
	"fmt"
	"strings"
	"testing"

	"kernbench/des"
	"kernbench/hw/noc/buffer"
)

// broken returns a fabric of one link of 100 bytes, at which messages 1 and 2 wait.
func broken() *Fabric {
	n := &Fabric{
		q: des.From(5),
		linkState: linkState{kinds: []kind{{space: 100}}, queues: make([]queue, 2), vcs: make([]vc, 2),
			vcBuffers: make([]buffer.Buffer, 2)},
		inTransit: inTransit{msgs: make([]message, 3), sourceQueues: map[sourceQueue]chain{{link: 0, source: 4}: {}}},
	}
	n.links = []link{{own: buffer.Empty(0, 1), vcs: 1, queue: 1}}
	n.vcs[1], n.vcBuffers[1] = vc{head: 1, tail: 2}, buffer.Empty(0, 1)
	n.msgs[1], n.msgs[2] = message{vc: 1, arrived: 3, next: 2}, message{vc: 1, arrived: 4}
	n.queues[1] = queue{waiting: 2, sourceQueues: 1}
	return n
}

// Each possible error of the lists is detected.
func TestCheck(t *testing.T) {
	for _, c := range []struct {
		name  string
		spoil func(n *Fabric)
		want  string
	}{
		{"right", func(n *Fabric) {}, ""},
		{"too much held", func(n *Fabric) { n.links[0].own.Fill(&n.releases, 101, 0) }, "holds 101"},
		{"a message that is not counted", func(n *Fabric) { n.queues[1].waiting = 1 }, "2 messages wait, and 1"},
		{"a source queue that is not counted", func(n *Fabric) { n.queues[1].sourceQueues = 0 }, "1 source queues"},
		{"the last message", func(n *Fabric) { n.vcs[1].tail = 1 }, "is noted"},
		{"circle of messages", func(n *Fabric) { n.msgs[2].next, n.msgs[1].arrived = 1, 4 }, "circle"},
		{"messages out of order", func(n *Fabric) { n.msgs[1].arrived = 5 }, "stands behind"},
		{"another class", func(n *Fabric) { n.msgs[2].vc = 2 }, "waits for 1"},
	} {
		func() {
			defer func() {
				got := fmt.Sprint(recover())
				if c.want == "" && got != "<nil>" || !strings.Contains(got, c.want) {
					t.Errorf("%s: %s, want %q", c.name, got, c.want)
				}
			}()
			n := broken()
			c.spoil(n)
			n.check(0)
		}()
	}
}
