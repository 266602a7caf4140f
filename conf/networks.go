package conf

import (
	"fmt"
	"slices"
	"strings"
)

// Network describes the keys of topology.yaml for one kind of network. Package machine registers
// one for each kind that it builds.
type Network struct {
	Name  string
	Short string // its word in system.sips.topology; "": it has none
	Cubes bool   // joins the cubes of a SIP
	SIPs  bool   // joins the members of a level

	Dims bool     // its members form a grid: a level has dims
	Keys []string // keys of a level that only some networks have, and this one has

	// Missing describes a missing key of a level of this kind, or returns "". May be nil.
	Missing func(*Level) string
}

var networks []Network

// RegisterNetwork registers a kind of network. It panics if the name is taken.
func RegisterNetwork(n Network) {
	at, found := slices.BinarySearchFunc(networks, n.Name,
		func(known Network, name string) int { return strings.Compare(known.Name, name) })
	if found {
		panic(fmt.Sprintf("conf: two networks are called %s", n.Name))
	}
	networks = slices.Insert(networks, at, n)
}

// FindNetwork returns the kind of network called name, or the zero value.
func FindNetwork(name string) Network {
	for _, n := range networks {
		if n.Name == name {
			return n
		}
	}
	return Network{}
}

// network returns the kind that joins the SIPs of a machine without levels, or the zero value.
func (s SIPs) network() Network {
	for _, n := range networks {
		if n.Short == s.Topology && n.Short != "" {
			return n
		}
	}
	return Network{}
}

// networkWords returns the allowed words of keys that name a network, by the word in their enum
// tag.
var networkWords = map[string]func(Network) string{
	"@sips":  func(n Network) string { return nameIf(n, n.SIPs) },
	"@cubes": func(n Network) string { return nameIf(n, n.Cubes) },
	"@short": func(n Network) string { return n.Short },
}

func nameIf(n Network, usable bool) string {
	if usable {
		return n.Name
	}
	return ""
}

// wordsOf lists the words of an enum tag.
func wordsOf(tag string) []string {
	word, ok := networkWords[tag]
	if !ok {
		return strings.Split(tag, "|")
	}
	return namesOf(word)
}

// namesOf lists the results of word for all networks, in order, without empty ones.
func namesOf(word func(Network) string) []string {
	var words []string
	for _, n := range networks {
		if w := word(n); w != "" {
			words = append(words, w)
		}
	}
	slices.Sort(words)
	return words
}

// networksWith lists the networks that a key of a level belongs to.
func networksWith(key string) []string {
	return namesOf(func(n Network) string { return nameIf(n, slices.Contains(n.Keys, key)) })
}
