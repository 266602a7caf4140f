package race_test

import (
	"testing"

	"kernbench/mem"

	"github.com/google/go-cmp/cmp"
)

func TestSlots(t *testing.T) {
	for _, c := range []struct {
		name string
		run  func(h *account)
		want []string
	}{
		{"used before the credit", func(h *account) {
			for range 6 {
				h.send(0, 3)
				s := h.recv(1, 3)
				h.useSlot(1, 3, s)
				h.credit(1, 3, s)
			}
		}, nil},
		{"used after the credit, before the slot is sent again", func(h *account) {
			h.send(0, 3)
			s := h.recv(1, 3)
			h.credit(1, 3, s)
			h.useSlot(1, 3, s)
			h.send(0, 3)
			h.send(0, 3)
		}, []string{"slot store send"}},
		{"used after the credit and after the slot is sent again", func(h *account) {
			h.send(0, 3)
			s := h.recv(1, 3)
			h.credit(1, 3, s)
			h.send(0, 3)
			h.send(0, 3)
			h.useSlot(1, 3, s)
		}, []string{"slot store send"}},
		{"used after the credit, but the slot is not sent again", func(h *account) {
			h.send(0, 3)
			s := h.recv(1, 3)
			h.credit(1, 3, s)
			h.useSlot(1, 3, s)
			h.send(0, 3)
		}, nil},
		{"messages order memory", func(h *account) {
			h.store(0, at(0, 0, 64))
			h.drain(0)
			h.send(0, 3)
			h.recv(1, 3)
			h.read(1, at(0, 0, 64))
		}, nil},
		{"messages do not complete stores", func(h *account) {
			h.store(0, at(0, 0, 64))
			h.send(0, 3)
			h.recv(1, 3)
			h.read(1, at(0, 0, 64))
		}, []string{"race store load"}},
		{"credits order memory", func(h *account) {
			for range 2 {
				h.send(0, 3)
			}
			s := h.recv(1, 3)
			h.store(1, at(0, 0, 64))
			h.drain(1)
			h.credit(1, 3, s)
			h.send(0, 3)
			h.read(0, at(0, 0, 64))
		}, nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			rep := judged(t, 2, mem.PutSignal, c.run)
			if diff := cmp.Diff(c.want, kinds(rep)); diff != "" {
				t.Errorf("hazards (-want +got):\n%s%v", diff, rep)
			}
		})
	}
}
