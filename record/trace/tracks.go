package trace

import (
	"strconv"

	"kernbench/unit"
)

// engine is a track's place and name within its PE.
type engine uint8

var engineNames = [...]string{"kernel", "calls", "dma", "math", "gemm", "messages", "credits", "copy engine", "arrivals"}

// perCore is the distance between the engines of two cores of a PE.
const perCore engine = 9

var engineOf = [...]engine{
	Kernel: 0, Send: 1, Recv: 1, Wait: 1, Load: 2, Store: 2, Math: 3, Gemm: 4, Message: 5, Credit: 6,
	Put: 2, Get: 2, Notify: 5, Signal: 1, Atomic: 1, Copy: 7, Arrive: 8, Post: 1, Scratch: 0,
}

type track struct {
	pe     int32
	engine engine
}

// trackOf returns the track of an event.
func trackOf(e *Event) track { return track{e.PE, engineOf[e.Kind] + perCore*engine(e.Core)} }

// name returns the name of a track.
func (t track) name() string {
	if t.engine >= perCore {
		return "communication engine: " + engineNames[t.engine-perCore]
	}
	return engineNames[t.engine]
}

// laneName returns the name of a lane of a track.
func (t track) laneName(lane int) string {
	if lane > 0 {
		return t.name() + " " + strconv.Itoa(lane+1)
	}
	return t.name()
}

// lanes spread the spans of a track over as many lanes as it takes, because viewers want spans of a
// lane to nest. They hold the end of the last span of each lane.
type lanes map[track][]unit.Time

// take finds the first lane of a track that is free at a span's start, and opens one if none is.
func (l lanes) take(t track, start, end unit.Time) (lane int, opened bool) {
	ends := l[t]
	for i, last := range ends {
		if last <= start {
			ends[i] = end
			return i, false
		}
	}
	l[t] = append(ends, end)
	return len(ends), true
}
