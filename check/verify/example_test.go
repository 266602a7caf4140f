package verify_test

import (
	"fmt"

	"kernbench/check/verify"
	"kernbench/collective"
	"kernbench/dtype"
	"kernbench/tl"
)

// Two ranks add their vectors; rank 1 forgets its own.
func ExampleCheck() {
	call := collective.Call{World: 2, Elems: 4, Type: dtype.F32, Op: tl.Sum}
	h := collective.NewHasher(1, true)
	in := make([][]byte, 2)
	own := make([]collective.Prov, 2)
	for r := range in {
		in[r] = make([]byte, 16)
		dtype.Fill(dtype.F32, in[r], float64(r+1))
		own[r] = collective.AllReduce.Own(h, nil, call, r)
	}
	sum := make([]byte, 16)
	dtype.Binary(dtype.Add, dtype.F32, sum, in[0], in[1])
	out := [][]byte{sum, in[0]}
	prov := []collective.Prov{h.Merge(nil, own[0], own[1], 0), own[0]}

	v, err := verify.Check(verify.Input{
		Collective: collective.AllReduce, Call: call, Hasher: h,
		In:   func(r int) []byte { return in[r] },
		Out:  func(r int) []byte { return out[r] },
		Prov: func(r int) collective.Prov { return prov[r] },
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println("provenance", v.Provenance)
	fmt.Println("values", v.Values)
	fmt.Println(v.Failures[0])
	// Output:
	// provenance FAIL: 1 of 2 ranks hold elements with other contributions than all_reduce requires, 4 elements in all
	// values FAIL: 1 of 2 ranks have wrong values, 4 elements in all (against float64, allowed error 5.96e-08 sum|x| (1 rounding))
	// rank 1, element 0 and 3 more: got 1, expected 3 ± 1.79e-07; holds only the input of rank 0 (input element 0)
}
