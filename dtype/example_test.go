package dtype_test

import (
	"fmt"

	"kernbench/dtype"
)

func ExampleBinary() {
	a, b := make([]byte, 8), make([]byte, 8)
	dtype.Fill(dtype.F16, a, 2048)
	dtype.Fill(dtype.F16, b, 1)
	dtype.Set(dtype.F16, b, 3, 3)
	dtype.Binary(dtype.Add, dtype.F16, a, a, b)
	for i := range 4 {
		fmt.Print(dtype.At(dtype.F16, a, i), " ")
	}
	// Output: 2048 2048 2048 2052
}

func ExampleParse() {
	t, err := dtype.Parse("bfloat16")
	fmt.Println(t, t.Size(), err)
	_, err = dtype.Parse("f8")
	fmt.Println(err)
	// Output:
	// bf16 2 <nil>
	// unknown element type "f8": want one of f16, bf16, f32, f64, i8, i16, i32, i64, u8
}

func ExampleReduceAxis() {
	src, dst := make([]byte, 6*4), make([]byte, 2*4)
	for i := range 6 {
		dtype.Set(dtype.F32, src, i, float64(i))
	}
	dtype.ReduceAxis(dtype.Add, dtype.F32, dst, src, 2, 3, 1) // the rows of a 2 × 3 matrix
	fmt.Println(dtype.At(dtype.F32, dst, 0), dtype.At(dtype.F32, dst, 1))
	// Output: 3 12
}
