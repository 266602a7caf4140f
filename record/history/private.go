package history

// Invariant of this file: a launch is private as long as each of its ranks touches memory of its
// own PE only, where no other rank runs, and takes messages from rings that it names. Nothing that
// it does then can be a hazard, whatever comes before and after it. So its records need not be
// judged.

// mostHeld is how many records of a launch are held back until it is known whether it stays
// private.
const mostHeld = 1 << 13

// private holds back the records of a launch that is private so far.
type private struct {
	Brief   bool // launches that stay private may be left out
	holding bool
	held    []Record
	left    bool
}

// Hold holds back the records that follow. It reports false, and holds none, if the log is not to
// be brief.
func (l *Log) Hold() bool {
	if !l.Brief {
		return false
	}
	l.holding, l.held = true, l.held[:0]
	return true
}

// Full reports whether so many records are held back that the executor should make no more: Forget
// is next.
func (l *Log) Full() bool { return len(l.held) >= mostHeld }

// Told hands over what was held back: the launch is not private.
func (l *Log) Told() {
	l.holding = false
	for i := range l.held {
		l.add(&l.held[i])
	}
	l.held = l.held[:0]
}

// Forget drops what was held back: the launch was private until now.
func (l *Log) Forget() { l.holding, l.held = false, l.held[:0] }

// LeftOut says that a launch is not private of which records were dropped. The run must be repeated
// with a log that is not brief.
func (l *Log) LeftOut() { l.left = true }

// WasLeftOut reports whether LeftOut was said.
func (l *Log) WasLeftOut() bool { return l.left }
