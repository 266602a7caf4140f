package sweep

import "slices"

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

// Named returns an algorithm's name with the settings that distinguish it from others of that name.
func Named(algorithm string, settings []Setting) string {
	for _, s := range settings {
		algorithm += " " + s.Key + "=" + s.Value
	}
	return algorithm
}
