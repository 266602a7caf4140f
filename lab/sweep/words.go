package sweep

import (
	"fmt"
	"slices"
)

// Joined joins a list of any length. Of a long list it has the first and the last.
func Joined(list []string) string {
	const most = 8
	if len(list) > most {
		list = append(append(slices.Clone(list[:most-2]), fmt.Sprintf("%d more", len(list)-most+1)), list[len(list)-1])
	}
	text := ""
	for i, s := range list {
		switch {
		case i == 0:
		case i == len(list)-1:
			text += " and "
		default:
			text += ", "
		}
		text += s
	}
	return text
}
