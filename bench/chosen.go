package bench

import (
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"strconv"
	"strings"

	"kernbench/device"
	"kernbench/dtype"
)

// Input is a chosen contribution of all ranks.
type Input struct {
	Name    string // as it was chosen
	Formula string // for element i of rank r; "": by seed

	number func(rank, index int) int // nil: by seed, or from a file
	data   []byte                    // the elements of a file, rank by rank
}

var chosen = []Input{
	{Name: "random"},
	{Name: "rank", Formula: "x[i] = r + 1", number: func(rank, _ int) int { return rank + 1 }},
	{Name: "ones", Formula: "x[i] = 1", number: func(int, int) int { return 1 }},
	{Name: "index", Formula: "x[i] = i", number: func(_, index int) int { return index }},
}

// InputNames lists the inputs that have a name.
func InputNames() []string {
	var names []string
	for i := range chosen {
		names = append(names, chosen[i].Name)
	}
	return names
}

// ParseInput finds the input of a name, or else reads the numbers of a file as elements of t. It
// is nil for "".
func ParseInput(name string, t dtype.Type) (*Input, error) {
	if name == "" {
		return nil, nil
	}
	for i := range chosen {
		if chosen[i].Name == name {
			return &chosen[i], nil
		}
	}
	text, err := readNumbers(name)
	if err != nil {
		return nil, fmt.Errorf("--input %s: %w (want %s, or a FILE of numbers)", name, err, strings.Join(InputNames(), ", "))
	}
	data, err := parseNumbers(text, t)
	if err != nil {
		return nil, fmt.Errorf("--input %s:%w", name, err)
	}
	return &Input{Name: name, Formula: "the numbers of " + name, data: data}, nil
}

// mostText is the largest size of a file of numbers.
const mostText = 64 << 20

func readNumbers(name string) (string, error) {
	f, err := os.Open(name)
	if err != nil {
		return "", errors.Unwrap(err) // the caller adds the name
	}
	defer f.Close()
	text, err := io.ReadAll(io.LimitReader(f, mostText+1))
	if err == nil && len(text) > mostText {
		err = fmt.Errorf("the file is longer than %d bytes", mostText)
	}
	return string(text), err
}

// parseNumbers turns numbers, separated by spaces, commas or line ends, into elements. The rest of
// a line after # is a comment. An error begins with the line.
func parseNumbers(text string, t dtype.Type) ([]byte, error) {
	var data []byte
	line := 0
	for s := range strings.Lines(text) {
		line++
		s, _, _ = strings.Cut(s, "#")
		for _, word := range strings.FieldsFunc(s, func(c rune) bool { return c == ',' || c <= ' ' }) {
			data = append(data, make([]byte, t.Size())...)
			if err := setNumber(t, data[len(data)-t.Size():], word); err != nil {
				return nil, fmt.Errorf("%d: %.40q %w", line, word, err)
			}
		}
	}
	return data, nil
}

// setNumber writes a number to an element of type t.
func setNumber(t dtype.Type, to []byte, word string) error {
	if t.IsInt() {
		v, err := strconv.ParseInt(word, 10, 64)
		if dtype.SetInt(t, to, 0, v); err == nil && dtype.AtInt(t, to, 0) == v {
			return nil
		}
		if err != nil && !errors.Is(err, strconv.ErrRange) {
			return errors.New("is not a whole number")
		}
		return fmt.Errorf("does not fit %v", t)
	}
	v, err := strconv.ParseFloat(word, 64)
	if err != nil && !errors.Is(err, strconv.ErrRange) {
		return errors.New("is not a number")
	}
	dtype.Set(t, to, 0, v)
	if err != nil || dtype.FirstNonFinite(t, to) >= 0 && !math.IsInf(v, 0) && !math.IsNaN(v) {
		return fmt.Errorf("does not fit %v: its largest number is %g", t, dtype.MaxFinite(t))
	}
	return nil
}

// check returns an error if an input does not fit a number of ranks with n elements each.
func (in *Input) check(t dtype.Type, world, n int) error {
	switch size := t.Size(); {
	case in == nil || n == 0:
		return nil
	case in.number == nil:
		if have := len(in.data) / size; have != world*n {
			return fmt.Errorf("--input %s: the file has %d numbers; %d ranks of %d elements need %d", in.Name, have, world, n, world*n)
		}
	case in.number != nil:
		most := in.number(world-1, n-1)
		if t.IsFloat() && float64(most) > dtype.MaxFinite(t) {
			return fmt.Errorf("--input %s: %d does not fit %v: its largest number is %g", in.Name, most, t, dtype.MaxFinite(t))
		}
	}
	return nil
}

// write fills dst with the elements of a rank of n from one on. Integers wrap modulo 2^bits.
func (in *Input) write(t dtype.Type, dst []byte, rank, n, first int) {
	size := t.Size()
	if in.number == nil {
		copy(dst, in.data[(rank*n+first)*size:])
		return
	}
	for i := range len(dst) / size {
		dtype.SetInt(t, dst, i, int64(in.number(rank, first+i)))
	}
}

// bySeed reports whether an input is the usual one.
func (in *Input) bySeed() bool { return in == nil || in.Formula == "" }

// inputs returns the contributions of ranks, n elements each: as chosen, else by seed.
func (h *Host) inputs(world, n int) (Inputs, error) {
	in := Inputs{Seed: h.Seed, World: world, Type: h.DType, Op: h.Op, Elems: n}
	if !h.Input.bySeed() {
		in.Chosen = h.Input
	}
	return in, in.Chosen.check(h.DType, world, n)
}

// contribute fills a vector, whose tensors have a shard for each rank, with inputs.
func (v *Vector) contribute(in Inputs) error {
	if !v.h.Device.HasData() {
		return nil
	}
	w, first := in.writer(), 0
	for _, x := range v.tensors {
		if err := x.FillShards(func(s device.Shard, data []byte) { w.write(data, first+s.Region.Col/v.n, 0) }); err != nil {
			return err
		}
		first += len(x.Shards())
	}
	return nil
}
