package tl

// Wiring is the set of rings that one rank has: those it sends into and those it receives from. A
// direction may exist on one side only (a skip ring has no opposite direction); credits have a path
// of their own.
type Wiring struct {
	Out []OutPort // by direction
	In  []InPort  // by direction
}

// OutPort is a ring that a rank sends into.
type OutPort struct {
	Peer   int32  // rank in the group that receives
	Dir    Dir    // what the sender calls it
	PeerIn uint8  // index of this ring in the peer's In
	Slots  uint16 // of this ring; 0: Ring.Slots
}

// InPort is a ring that a rank receives from.
type InPort struct {
	Peer    int32  // rank in the group that sends
	Dir     Dir    // what the receiver calls it
	PeerOut uint8  // index of this ring in the peer's Out
	Slots   uint16 // of this ring; 0: Ring.Slots
}

// OutIndex returns the index in Out of direction d, or -1.
func (w *Wiring) OutIndex(d Dir) int {
	for i := range w.Out {
		if w.Out[i].Dir == d {
			return i
		}
	}
	return -1
}

// InIndex returns the index in In of direction d, or -1.
func (w *Wiring) InIndex(d Dir) int {
	for i := range w.In {
		if w.In[i].Dir == d {
			return i
		}
	}
	return -1
}
