package draw

import (
	"fmt"
	"strings"

	"kernbench/conf"
	"kernbench/unit"
)

// Switches holds the capabilities of the switches of a network. All of them have the same ones.
type Switches struct {
	Multicast bool      `json:"multicast"` // they copy what one member stores to all members of a group
	Types     []string  `json:"reduce_types"`
	Rate      unit.Rate `json:"reduce_bytes_per_second"` // of a link, for data that they combine or copy; 0: that of the link
	Latency   unit.Time `json:"reduce_ps"`               // from the last data until the result leaves
}

// switchesOf returns the capabilities of the switches of a level, or nil if they only forward
// messages.
func switchesOf(s *conf.Switch) *Switches {
	if !s.Multicast && len(s.Reduce.Types) == 0 {
		return nil
	}
	return &Switches{Multicast: s.Multicast, Types: append([]string{}, s.Reduce.Types...), Rate: s.Reduce.BW, Latency: s.Reduce.Latency}
}

// Text returns the capabilities as a line below a drawing: "each switch copies (multicast), ...".
func (x *Switches) Text() string {
	var does []string
	if x.Multicast {
		does = append(does, "copies (multicast)")
	}
	if len(x.Types) > 0 {
		does = append(does, "reduces "+strings.Join(x.Types, ", "))
	}
	rate := "at the rate of the link"
	if x.Rate > 0 {
		rate = fmt.Sprintf("at %v", x.Rate)
	}
	text := fmt.Sprintf("each switch %s %s", strings.Join(does, ", "), rate)
	if len(x.Types) > 0 {
		text += fmt.Sprintf(", a result after %s", x.Latency.Spaced())
	}
	return text
}
