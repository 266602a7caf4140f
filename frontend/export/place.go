package export

// Buffers of a rank, by the letter that a file has for each.
const (
	bufIn = iota
	bufOut
	bufScratch
)

const letters = "ios"

// piece is a range of elements of a buffer, later of chunks.
type piece struct{ buf, off, n int }

func (p piece) overlaps(q piece) bool {
	return p.buf == q.buf && p.off < q.off+q.n && q.off < p.off+p.n
}

// part is n elements of a list of pieces, from an element on.
func part(list []piece, from, n int) (out []piece) {
	for _, p := range list {
		if from >= p.n {
			from -= p.n
			continue
		}
		if n <= 0 {
			break
		}
		take := min(p.n-from, n)
		out = append(out, piece{p.buf, p.off + from, take})
		n -= take
		from = 0
	}
	return out
}

func total(list []piece) (n int) {
	for _, p := range list {
		n += p.n
	}
	return n
}

// zip cuts two lists of the same number of elements into pairs of pieces of the same length.
func zip(a, b []piece, do func(x, y piece)) {
	for i, j, at, bt := 0, 0, 0, 0; i < len(a) && j < len(b); {
		n := min(a[i].n-at, b[j].n-bt)
		do(piece{a[i].buf, a[i].off + at, n}, piece{b[j].buf, b[j].off + bt, n})
		if at += n; at == a[i].n {
			i, at = i+1, 0
		}
		if bt += n; bt == b[j].n {
			j, bt = j+1, 0
		}
	}
}

// kind is the kind of an op; the names are those of the steps.
type kind uint8

const (
	opS kind = iota
	opR
	opRcs
	opRrs
	opRrc
	opRrcs
	opCpy
	opRe
)

var kindNames = [...]string{"s", "r", "rcs", "rrs", "rrc", "rrcs", "cpy", "re"}

// none stands for no peer.
const none = -1

// op is an operation of a rank on its own memory.
type op struct {
	kind     kind
	to, from int // streams, later ports: see connect
	src, dst piece
	block    int  // of the rank
	seq      int  // its place among the operations that carry made
	gone     bool // joined with another
}

func (o *op) sends() bool {
	return o.kind == opS || o.kind == opRcs || o.kind == opRrs || o.kind == opRrcs
}
func (o *op) receives() bool { return o.kind >= opR && o.kind <= opRrcs }
func (o *op) readsSrc() bool {
	return o.kind == opS || o.kind >= opRrs
}
func (o *op) writesDst() bool {
	return o.kind == opR || o.kind == opRcs || o.kind >= opRrc
}
func (o *op) reads(p piece) bool {
	return o.readsSrc() && o.src.overlaps(p) || o.kind == opRe && o.dst.overlaps(p)
}
func (o *op) writes(p piece) bool  { return o.writesDst() && o.dst.overlaps(p) }
func (o *op) touches(p piece) bool { return o.reads(p) || o.writes(p) }

// conflicts reports whether two ops must keep their order.
func (o *op) conflicts(q *op) bool {
	if o.writesDst() && q.touches(o.dst) {
		return true
	}
	return q.writesDst() && o.touches(q.dst)
}
