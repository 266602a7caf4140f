package mem

// Chunk is a part of a vector, in elements.
type Chunk struct {
	Lo, N int
}

// ChunkOf returns part i of n elements split into parts of nearly equal length: the first n mod
// parts are one element longer. Parts beyond n are empty. Chunks of one split are
// contiguous and in order.
func ChunkOf(n, parts, i int) Chunk {
	q, r := n/parts, n%parts
	return Chunk{Lo: i*q + min(i, r), N: q + b2i(i < r)}
}

// Chunked lists all parts of ChunkOf.
func Chunked(n, parts int) []Chunk {
	cs := make([]Chunk, parts)
	for i := range cs {
		cs[i] = ChunkOf(n, parts, i)
	}
	return cs
}

func b2i(b bool) int {
	if b {
		return 1
	}
	return 0
}
