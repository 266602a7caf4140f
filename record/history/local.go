package history

// Invariant of this file: a launch is local if each of its ranks accesses only memory of its own
// PE, where no other rank runs. Its ranks also receive from named rings only. A local launch has no
// hazard, with any launches before and after it. So its records need not be judged.

// mostHeld is the number of records of a launch that are held back until it is known whether the
// launch stays local.
const mostHeld = 1 << 13

// local holds back the records of a launch that is local so far.
type local struct {
	Brief   bool // launches that stay local may be left out
	holding bool
	held    []Record
	left    bool
}

// Hold begins to hold records back. It returns false, and holds none, if the log is not brief.
func (l *Log) Hold() bool {
	if !l.Brief {
		return false
	}
	l.holding, l.held = true, l.held[:0]
	return true
}

// Full reports whether the limit of held records is reached. The executor then calls Forget and
// makes no more.
func (l *Log) Full() bool { return len(l.held) >= mostHeld }

// Release hands over the held records: the launch is not local.
func (l *Log) Release() {
	l.holding = false
	for i := range l.held {
		l.note(&l.held[i])
		*l.next() = l.held[i]
	}
	l.held = l.held[:0]
}

// Forget drops the held records: the launch was local until now.
func (l *Log) Forget() { l.holding, l.held = false, l.held[:0] }

// LeftOut notes that a launch is not local though some of its records were dropped. The run must be
// repeated with a log that is not brief.
func (l *Log) LeftOut() { l.left = true }

// WasLeftOut reports whether LeftOut was called.
func (l *Log) WasLeftOut() bool { return l.left }
