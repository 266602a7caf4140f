package device

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"kernbench/tl"
)

// mostRingSlots is the largest value of a configuration, as of n_slots.
const mostRingSlots = 4096

// ringSlots sets the slots of the rings of some directions, by the setting ring_slots.
func (p *Plan) ringSlots() error {
	if text := p.Config.RingSlots; text == "" || text == "none" {
		return nil
	}
	slots, err := p.parseRingSlots(p.Config.RingSlots)
	if err != nil {
		return p.Config.Errorf("ring_slots", "%v", err)
	}
	p.Ring.Mixed = true
	for r := range p.Wiring {
		for i := range p.Wiring[r].Out {
			o := &p.Wiring[r].Out[i]
			if n, ok := slots[o.Dir]; ok {
				o.Slots = n
				p.Wiring[o.Peer].In[o.PeerIn].Slots = n
			}
		}
	}
	return nil
}

// parseRingSlots reads directions and numbers, such as "E:8 W:2".
func (p *Plan) parseRingSlots(text string) (map[tl.Dir]uint16, error) {
	var dirs []tl.Dir
	for r := range p.Wiring {
		for _, o := range p.Wiring[r].Out {
			if !slices.Contains(dirs, o.Dir) {
				dirs = append(dirs, o.Dir)
			}
		}
	}
	slots := map[tl.Dir]uint16{}
	for word := range strings.FieldsSeq(text) {
		name, number, ok := strings.Cut(word, ":")
		n, err := strconv.Atoi(number)
		switch {
		case !ok || err != nil || n < 1 || n > mostRingSlots:
			return nil, fmt.Errorf("found %q, want a direction and 1 to %d slots, such as E:8", word, mostRingSlots)
		}
		d, err := tl.ParseDir(name)
		if err != nil || !slices.Contains(dirs, d) {
			return nil, fmt.Errorf("found %q; ranks of %s send to %s", word, p.Name, dirNames(dirs))
		}
		if _, twice := slots[d]; twice {
			return nil, fmt.Errorf("found %s twice in %q", name, text)
		}
		slots[d] = uint16(n)
	}
	return slots, nil
}

func dirNames(dirs []tl.Dir) string {
	if len(dirs) == 0 {
		return "no rings"
	}
	var names []string
	for _, d := range dirs {
		names = append(names, d.String())
	}
	return strings.Join(names, ", ")
}
