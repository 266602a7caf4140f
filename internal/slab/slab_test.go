package slab

import "testing"

// TestTable: entries stay where they are while others come and go, and numbers are taken again.
func TestTable(t *testing.T) {
	var s Table[int]
	at := map[uint32]*int{}
	for v := range 1000 {
		i := s.Put(&v)
		if i == 0 || at[i] != nil {
			t.Fatalf("number %d is none, or in use", i)
		}
		at[i] = s.At(i)
		if v%3 == 0 {
			s.Drop(i)
			delete(at, i)
		}
	}
	if len(at) != 666 {
		t.Errorf("%d are in use", len(at))
	}
	for i, p := range at {
		if s.At(i) != p || *p%3 == 0 {
			t.Errorf("number %d has moved, or has %d", i, *p)
		}
	}
	n := 0
	s.Each(func(*int) { n++ })
	if n != len(at) {
		t.Errorf("%d of %d in use", n, len(at))
	}
	if v := 7; s.Put(&v) > 668 {
		t.Error("no number is taken again")
	}
}

// TestTableGivesBack: a large table gives its memory back when it is empty, and not before.
func TestTableGivesBack(t *testing.T) {
	var s Table[int]
	for range 2 {
		for v := range large {
			s.Put(&v)
		}
		for i := range uint32(large - 1) {
			s.Drop(i + 1)
		}
		if len(s.blocks) < large>>blockBits || *s.At(large) != large-1 {
			t.Fatalf("%d blocks, last entry %d", len(s.blocks), *s.At(large))
		}
		if s.Drop(large); s.blocks != nil || s.free != nil {
			t.Fatalf("an empty table has %d blocks", len(s.blocks))
		}
	}
}
