package dtype

// Dot writes the matrix product of a, [m, k], and b, [k, n], to dst, [m, n]. All are row-major. dst
// must not overlap a or b. Each element is the sum of its products in ascending order of k. F16 and
// BF16 are summed in float32 (in which products of F16 are exact), F32 and F64 in float64. No
// multiplication is fused with an addition. Each sum is rounded to t once; integers wrap.
func Dot(t Type, dst, a, b []byte, m, k, n int) {
	checkShape("Dot", t, dst, m, n)
	checkShape("Dot", t, a, m, k)
	checkShape("Dot", t, b, k, n)
	switch {
	case t == F16 || t == BF16:
		dot(load32, store32, t, dst, a, b, m, k, n)
	case t.IsFloat():
		dot(load64, store64, t, dst, a, b, m, k, n)
	default:
		dot(loadInt, storeInt, t, dst, a, b, m, k, n)
	}
}

// dotRows is the number of result rows that dot computes for each decoded row of b.
const dotRows = 4

func dot[T float32 | float64 | int64](
	load func(Type, []T, []byte), store func(Type, []byte, []T), t Type, dst, a, b []byte, m, k, n int,
) {
	size := t.Size()
	sums, row, left := make([]T, dotRows*blockLen), make([]T, blockLen), make([]T, 1)
	for top := 0; top < m; top += dotRows {
		rows := min(m-top, dotRows)
		for column := 0; column < n; column += blockLen {
			width := min(n-column, blockLen)
			clear(sums)
			for at := range k {
				row := row[:width]
				load(t, row, b[(at*n+column)*size:])
				for r := range rows {
					load(t, left, a[((top+r)*k+at)*size:])
					addScaled(sums[r*blockLen:], row, left[0])
				}
			}
			for r := range rows {
				store(t, dst[((top+r)*n+column)*size:], sums[r*blockLen:][:width])
			}
		}
	}
}

// addScaled adds s × row to sums. The conversion prevents a fused multiply-add, which exists on
// some processors only and rounds differently.
func addScaled[T float32 | float64 | int64](sums, row []T, s T) {
	sums = sums[:len(row)]
	for i, v := range row {
		sums[i] += T(s * v)
	}
}
