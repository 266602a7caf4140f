package unit_test

import (
	"fmt"

	"kernbench/unit"
)

func ExampleRate_Serial() {
	link := unit.GBs(128).Serial()
	fmt.Println(link.Time(1), link.Time(4096))
	// Output: 0.008ns 32ns
}

func ExampleParseTime() {
	t, err := unit.ParseTime("1.5us")
	fmt.Println(t, err)
	_, err = unit.ParseTime("30")
	fmt.Println(err)
	// Output:
	// 1500ns <nil>
	// time "30" has no unit: write 30ns, or use ps, us, ms or s
}

func ExampleParseBytes() {
	b, err := unit.ParseBytes("64K")
	fmt.Println(b, int64(b), err)
	// Output: 64 KiB 65536 <nil>
}

func ExampleParseRate() {
	r, err := unit.ParseRate("204.8GB/s")
	fmt.Println(r, int64(r), err)
	// Output: 204.8 GB/s 204800000000 <nil>
}
