package hccl

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"kernbench/algorithm"
)

// AlgConfig is a parsed algorithm string: the algorithms of an operation inside a server (level0)
// and between servers (level1).
type AlgConfig struct {
	Op             OpType
	Level0, Level1 string // Level1 may be empty
}

// levels are the algorithms of an operation, the usual one first.
type levels struct{ level0, level1 []string }

var (
	rings     = levels{level0: []string{"doublering", "ring", "fullmesh"}}
	exchanges = levels{level0: []string{"fullmesh"}, level1: []string{"pairwise"}}
	writes    = levels{level0: []string{"fullmesh"}}
)

// knownLevels has the algorithms of each operation.
func knownLevels(op OpType) levels {
	switch op {
	case OpAlltoAll, OpAlltoAllV:
		return exchanges
	case OpBatchWrite:
		return writes
	}
	return rings
}

// rowNames are the algorithms of the library for the algorithm strings.
var rowNames = map[AlgConfig]string{
	{OpAllReduce, "doublering", ""}:       "window_allreduce_bidirectional_ring",
	{OpAllReduce, "ring", ""}:             "window_allreduce_ring",
	{OpAllReduce, "fullmesh", ""}:         "window_allreduce_twophase",
	{OpAllGather, "doublering", ""}:       "window_allgather_bidirectional_ring",
	{OpAllGather, "ring", ""}:             "window_allgather_ring",
	{OpAllGather, "fullmesh", ""}:         "window_allgather",
	{OpReduceScatter, "doublering", ""}:   "window_reduce_scatter_bidirectional_ring",
	{OpReduceScatter, "ring", ""}:         "window_reduce_scatter_ring",
	{OpReduceScatter, "fullmesh", ""}:     "window_reduce_scatter",
	{OpAlltoAll, "fullmesh", ""}:          "window_all_to_all_v",
	{OpAlltoAll, "fullmesh", "pairwise"}:  "window_all_to_all_v_pairwise",
	{OpAlltoAllV, "fullmesh", ""}:         "window_all_to_all_v",
	{OpAlltoAllV, "fullmesh", "pairwise"}: "window_all_to_all_v_pairwise",
}

// DefaultAlgConfig returns the usual algorithm string of an operation, "" for one without tasks.
func DefaultAlgConfig(op OpType) string {
	switch op {
	case OpAllReduce, OpAllGather, OpReduceScatter:
		return op.String() + "=level0:doublering"
	case OpAlltoAll, OpAlltoAllV:
		return "AlltoAll=level0:fullmesh;level1:pairwise"
	case OpBatchWrite:
		return "BatchWrite=level0:fullmesh"
	}
	return ""
}

// KnownAlgConfigs lists all algorithm strings, by operation.
func KnownAlgConfigs() []string {
	var all []string
	for _, op := range OpTypes() {
		k := knownLevels(op)
		for _, l0 := range k.level0 {
			for _, l1 := range append([]string{""}, k.level1...) {
				all = append(all, AlgConfig{op, l0, l1}.String())
			}
		}
	}
	return all
}

// String returns the algorithm string: "AlltoAll=level0:fullmesh;level1:pairwise".
func (a AlgConfig) String() string {
	s := a.Op.String() + "=level0:" + a.Level0
	if a.Level1 != "" {
		s += ";level1:" + a.Level1
	}
	return s
}

// For returns an error if tasks of a type cannot have this algorithm. AlltoAllV accepts the
// algorithms of AlltoAll.
func (a AlgConfig) For(op OpType) error {
	if a.Op == op || a.Op == OpAlltoAll && op == OpAlltoAllV {
		return nil
	}
	return fmt.Errorf("the algorithm string %q is for %v, the operation is %v: its usual one is %q", a, a.Op, op, DefaultAlgConfig(op))
}

// Row returns the algorithm of the library that performs it. A list of writes has none: each of its
// items is one copy.
func (a AlgConfig) Row() (*algorithm.Algorithm, error) {
	name, ok := rowNames[a]
	switch {
	case ok:
		return algorithm.Lookup(name)
	case a.Op == OpBatchWrite:
		return nil, errors.New("BatchWrite is a list of copies: no algorithm of the library performs it")
	}
	return nil, fmt.Errorf("no algorithm performs %q: there are %s", a, strings.Join(KnownAlgConfigs(), ", "))
}

// ParseAlgConfig reads an algorithm string: an operation, "=", and the algorithm of one or
// two levels, "levelN:algorithm", with ";" between. An error has the column, the text that was
// found there, and the known ones.
func ParseAlgConfig(s string) (AlgConfig, error) {
	wrong := func(at int, format string, args ...any) (AlgConfig, error) {
		return AlgConfig{}, fmt.Errorf("algorithm string %s, column %d: %s", quoted(s),
			1+utf8.RuneCountInString(s[:at]), fmt.Sprintf(format, args...))
	}
	if s == "" {
		return AlgConfig{}, fmt.Errorf("empty algorithm string: write one such as %q", DefaultAlgConfig(OpAllReduce))
	}
	if len(s) > maxName {
		return AlgConfig{}, fmt.Errorf("algorithm string %s: at most %d bytes", quoted(s), maxName)
	}
	opName, rest, equals := strings.Cut(s, "=")
	i := slices.Index(opNames(), opName)
	if i < 0 {
		return wrong(0, "unknown operation %q: %s", opName, known(opName, opNames()))
	}
	a := AlgConfig{Op: opTypes[i].op}
	if !equals {
		return wrong(len(s), "the end: an algorithm follows, such as %q", DefaultAlgConfig(a.Op))
	}
	at := len(opName) + 1
	for part := range strings.SplitSeq(rest, ";") {
		if bad, why := a.level(part); why != "" {
			return wrong(at+bad, "%s", why)
		}
		at += len(part) + 1
	}
	if a.Level0 == "" {
		return wrong(len(opName)+1, "level1 without level0: say what is done inside a server, too: %q", DefaultAlgConfig(a.Op))
	}
	return a, nil
}

// level reads one level. On an error it returns the position and the reason.
func (a *AlgConfig) level(part string) (bad int, why string) {
	k := knownLevels(a.Op)
	names, algs, into := []string{"level0"}, k.level0, &a.Level0
	if k.level1 != nil {
		names = append(names, "level1")
	}
	name, alg, colon := strings.Cut(part, ":")
	if name == "level1" {
		algs, into = k.level1, &a.Level1
	}
	switch {
	case part == "":
		return 0, fmt.Sprintf("nothing: a level follows, such as %q", "level0:"+k.level0[0])
	case !slices.Contains(names, name):
		return 0, fmt.Sprintf("%v has no level %q: %s", a.Op, name, known(name, names))
	case *into != "":
		return 0, fmt.Sprintf("%s a second time: it is %q already", name, *into)
	case !colon:
		return len(part), fmt.Sprintf("%s has no algorithm: write one such as %q", name, name+":"+algs[0])
	case !slices.Contains(algs, alg):
		return len(name) + 1, fmt.Sprintf("%v has no algorithm %q for %s: %s", a.Op, alg, name, known(alg, algs))
	}
	*into = alg
	return 0, ""
}
