package scene

import "strings"

// advances are the widths of the printable ASCII characters in thousandths of the font size. Each
// is the larger width of DejaVu Sans and Go Regular. Helvetica, Arial and Liberation Sans are
// narrower.
var advances = [95]int{
	318, 401, 460, 838, 637, 951, 780, 275, 391, 391, 584, 838, 318, 584, 318, 337,
	637, 637, 637, 637, 637, 637, 637, 637, 637, 637, 337, 337, 838, 838, 838, 557,
	1016, 685, 687, 723, 771, 667, 611, 778, 752, 399, 496, 667, 558, 863, 749, 788,
	667, 788, 723, 667, 611, 732, 685, 989, 686, 667, 686, 391, 337, 391, 838, 557,
	500, 613, 635, 550, 635, 616, 353, 635, 634, 278, 278, 580, 278, 975, 634, 612,
	635, 635, 412, 521, 393, 634, 592, 818, 592, 592, 525, 637, 337, 637, 838,
}

// TextWidth returns the largest width of a text of a size in the fonts of a picture.
func TextWidth(text string, size float64) float64 {
	sum := 0
	for _, r := range text {
		switch {
		case r >= ' ' && r <= '~':
			sum += advances[r-' ']
		case r == 'µ':
			sum += 637
		case r == '·':
			sum += 318
		default:
			sum += 1016
		}
	}
	return float64(sum) * size / 1000
}

// Shorten returns a text that is no wider than it may be, with … where a part is missing.
func Shorten(text string, size, width float64) string {
	if TextWidth(text, size) <= width {
		return text
	}
	runes := []rune(text)
	for n := len(runes) - 1; n > 0; n-- {
		if short := strings.TrimRight(string(runes[:n]), " ") + "…"; TextWidth(short, size) <= width {
			return short
		}
	}
	return ""
}

// Wrap breaks a text into lines no wider than a width, at spaces where it can.
func Wrap(text string, size, width float64) []string {
	var lines []string
	line := ""
	for _, word := range strings.Fields(text) {
		switch {
		case line == "":
			line = word
		case TextWidth(line+" "+word, size) <= width:
			line += " " + word
		default:
			lines = append(lines, line)
			line = word
		}
		for TextWidth(line, size) > width && len([]rune(line)) > 1 {
			n := len([]rune(line)) - 1
			for n > 1 && TextWidth(string([]rune(line)[:n]), size) > width {
				n--
			}
			lines, line = append(lines, string([]rune(line)[:n])), string([]rune(line)[n:])
		}
	}
	if line != "" {
		lines = append(lines, line)
	}
	return lines
}
