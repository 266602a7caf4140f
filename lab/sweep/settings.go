package sweep

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"kernbench/conf"
	"kernbench/device"
	"kernbench/lab/run"
)

// Variation is a key of either configuration file, or of the algorithm, with its values.
type Variation struct {
	Key    string   `json:"key"`
	Values []string `json:"values"`
}

// Setting is a key of a configuration and its value.
type Setting struct {
	Key   string `json:"key"`
	Value string `json:"value"`
}

// Combinations lists every choice of one value for each key, the last key changing fastest.
func Combinations(vary []Variation) [][]Setting {
	all := [][]Setting{{}}
	for _, v := range vary {
		var longer [][]Setting
		for _, c := range all {
			for _, value := range v.Values {
				longer = append(longer, append(slices.Clone(c), Setting{v.Key, value}))
			}
		}
		all = longer
	}
	return all
}

// Varied returns the error of a wrong setting of an algorithm. It names --vary and the setting,
// because the user wrote no --set. Other errors are returned as they are.
func Varied(err error, algorithm string, settings []Setting) error {
	wrong, ok := errors.AsType[*conf.Error](err)
	if !ok {
		return err
	}
	entry := "algorithms." + algorithm + "."
	for _, s := range settings {
		if wrong.Key != s.Key && wrong.Key != entry+s.Key {
			continue
		}
		of := ""
		if algorithm != "" {
			of = " of " + algorithm
		}
		return fmt.Errorf("--vary %s=%s%s: %s", s.Key, s.Value, of, strings.ReplaceAll(wrong.Msg, entry, ""))
	}
	return err
}

// Named returns an algorithm's name with the settings that distinguish it from others of that name.
func Named(algorithm string, settings []Setting) string {
	for _, s := range settings {
		algorithm += " " + s.Key + "=" + s.Value
	}
	return algorithm
}

// Shape returns the width of the grid that is nearest to a square, for an algorithm on a grid. It
// returns nothing if the ranks make a square, or if a width is configured.
func Shape(x *run.Job, name string) []Setting {
	resolved, err := device.ResolveAlgorithm(x.Entries, name)
	if err != nil || !resolved.Topology.Planar || resolved.Config.W > 0 || resolved.Config.H > 0 {
		return nil
	}
	world := x.World()
	if world == 0 {
		world = x.Machine.NumPEs()
	}
	h := 1
	for n := 2; n*n <= world; n++ {
		if world%n == 0 {
			h = n
		}
	}
	if h*h == world || h == 1 {
		return nil // a square needs no setting, and a line is not near a square
	}
	return []Setting{{Key: "w", Value: fmt.Sprint(world / h)}}
}
