package trace

import (
	"strconv"
	"strings"
)

// tracks are the tracks of a Perfetto trace, by their names in the tree.
type tracks struct {
	ids    map[string]uint64 // by the path of names from the root
	places map[int32]uint64  // of PEs
	spans  map[laneOf]uint64
	last   uint64
}

type laneOf struct {
	track
	lane int
}

func newTracks() tracks {
	return tracks{ids: map[string]uint64{}, places: map[int32]uint64{}, spans: map[laneOf]uint64{}}
}

// Fields of TrackDescriptor and CounterDescriptor.
const (
	trackID       = 1
	trackName     = 2
	trackParent   = 5
	trackCounter  = 8
	trackOrdering = 11
	trackRank     = 12

	explicitOrder = 3 // children of a track come in the order of their ranks

	counterUnit     = 3
	counterUnitName = 6
)

// counterUnits are the units of counters.
type counterUnits struct {
	unit uint64
	name string
}

var (
	slotsUnit = counterUnits{name: "slots"}
	bytesUnit = counterUnits{unit: 3}
)

// track returns the number of a track below another, and makes the track if there is none. Tracks
// of one parent are shown by rank.
func (p *PFTrace) track(name string, parent uint64, rank int) uint64 {
	return p.newTrack(name, parent, rank, nil)
}

func (p *PFTrace) newTrack(name string, parent uint64, rank int, counter []byte) uint64 {
	t := &p.tracks
	key := strconv.FormatUint(parent, 10) + "." + name
	if id, ok := t.ids[key]; ok {
		return id
	}
	t.last++
	t.ids[key] = t.last
	b := appendText(appendUint(nil, trackID, t.last), trackName, name)
	if parent != 0 {
		b = appendUint(b, trackParent, parent)
	}
	b = appendUint(appendUint(b, trackOrdering, explicitOrder), trackRank, uint64(rank))
	if counter != nil {
		b = appendMessage(b, trackCounter, counter)
	}
	p.put(appendMessage(appendUint(nil, packetSequence, anyOrder), packetTrack, b))
	return t.last
}

// place returns the track of a PE. Its name, such as sip0.cube3.pe5, determines its place in the
// tree.
func (p *PFTrace) place(pe int32) uint64 {
	if id, ok := p.tracks.places[pe]; ok {
		return id
	}
	id := uint64(0)
	for _, name := range strings.Split(p.name(pe), ".") {
		id = p.track(name, id, 1+trailingNumber(name))
	}
	p.tracks.places[pe] = id
	return id
}

// trailingNumber returns the number at the end of a name, so that cube10 comes after cube9.
func trailingNumber(name string) int {
	n, _ := strconv.Atoi(name[len(strings.TrimRight(name, "0123456789")):])
	return n
}

// trackOf returns the track of an event's lane.
func (p *PFTrace) trackOf(e *Event) uint64 {
	t := trackOf(e)
	lane, _ := p.lanes.take(t, e.Start, e.End)
	id, ok := p.tracks.spans[laneOf{t, lane}]
	if !ok {
		id = p.track(t.laneName(lane), p.place(e.PE), int(t.engine)*maxLanes+lane)
		p.tracks.spans[laneOf{t, lane}] = id
	}
	return id
}

// counter returns the track of a counter of a PE.
func (p *PFTrace) counter(pe int32, name string, u counterUnits) uint64 {
	var b []byte
	if u.unit != 0 {
		b = appendUint(b, counterUnit, u.unit)
	}
	if u.name != "" {
		b = appendText(b, counterUnitName, u.name)
	}
	return p.newTrack(name, p.place(pe), 1<<30, b)
}

// interned are strings of a file that are written once and have a number from then on.
type interned struct {
	field uint64 // of InternedData
	ids   map[string]uint64
}

func newInterned(field uint64) interned { return interned{field, map[string]uint64{}} }

// number returns the number of a string, which may be new.
func (n *interned) number(s string) (id uint64, fresh bool) {
	if id, ok := n.ids[s]; ok {
		return id, false
	}
	id = uint64(len(n.ids)) + 1
	n.ids[s] = id
	return id, true
}

// intern returns the number of a string, and writes the string if it is new.
func (p *PFTrace) intern(n *interned, s string) uint64 {
	id, fresh := n.number(s)
	if fresh {
		p.putInterned(n.field, appendText(appendUint(nil, 1, id), 2, s))
	}
	return id
}

func (p *PFTrace) putInterned(field uint64, entry []byte) {
	m := appendUint(nil, packetSequence, inOrder)
	p.put(appendMessage(m, packetInterned, appendMessage(nil, field, entry)))
}
