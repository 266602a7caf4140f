package des

// Loop holds the functions that Run calls while it handles the events of a queue.
type Loop struct {
	Work   func() bool      // does something that needs no event; false: there is nothing to do. May be nil
	Handle func(Event) bool // false ends the loop
	Idle   func() bool      // called when no event is left: reports whether it has posted some. May be nil
	Look   func() error     // called every so many events; an error ends the loop
	until  int
}

// lookEvery is the number of steps and events between two calls of Look.
const lookEvery = 1 << 12

// LookNext makes Run call Look before the next event.
func (l *Loop) LookNext() { l.until = 0 }

// Run handles events in their order until none is left. Work that needs no event is done first.
func (q *Queue) Run(l *Loop) error {
	for ; ; l.until-- {
		if l.until <= 0 {
			if err := l.Look(); err != nil {
				return err
			}
			l.until = lookEvery
		}
		if l.Work != nil && l.Work() {
			continue
		}
		e, ok := q.Pop()
		switch {
		case ok:
			if !l.Handle(e) {
				return nil
			}
		case l.Idle == nil || !l.Idle():
			return nil
		}
	}
}
