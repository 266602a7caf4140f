package bench

import (
	"fmt"
	"iter"

	"kernbench/device"
	"kernbench/dialect/torch"
)

// Contributions makes the contribution of one worker to a collective. With rank_level: pe there is
// one worker, with all contributions. With rank_level: sip a worker has the tensor of its own SIP.
func (h *Host) Contributions(w *torch.Worker, p *device.Plan) ([]*device.Tensor, error) {
	if !p.PerSIP() {
		return h.AllContributions(p)
	}
	x, err := h.contribution(p, w.GetRank())
	return []*device.Tensor{x}, err
}

// AllContributions makes the contributions of all ranks and fills them with Inputs. With
// rank_level: pe a rank is a PE and has Elems elements. There is a tensor on every SIP that has
// some of the ranks. With rank_level: sip every SIP has one tensor, of Elems elements over all its
// PEs.
func (h *Host) AllContributions(p *device.Plan) ([]*device.Tensor, error) {
	var tensors []*device.Tensor
	add := func(sip int, x func() (*device.Tensor, error)) error {
		if err := h.Device.SetDevice(sip); err != nil {
			return err
		}
		t, err := x()
		tensors = append(tensors, t)
		return err
	}
	if p.PerSIP() {
		for sip := range p.World {
			if err := add(sip, func() (*device.Tensor, error) { return h.contribution(p, sip) }); err != nil {
				return nil, err
			}
		}
		return tensors, h.Device.SetDevice(0)
	}
	rank := 0
	for sip, pes := range h.bySIP(p.PEs) {
		if err := add(sip, func() (*device.Tensor, error) {
			x, err := h.Device.EmptyOn(pes, h.Elems(p), h.DType)
			return x, h.fill(x, p, rank, err)
		}); err != nil {
			return nil, err
		}
		rank += len(pes)
	}
	return tensors, h.Device.SetDevice(0)
}

// bySIP splits a list of PEs by the SIP that they are on, and visits those that have some.
func (h *Host) bySIP(pes []int32) iter.Seq2[int, []int32] {
	perSIP := h.Device.Machine().CubesPerSIP() * h.Device.Machine().PEsPerCube()
	return func(yield func(int, []int32) bool) {
		for lo := 0; lo < len(pes); {
			sip, hi := int(pes[lo])/perSIP, lo
			for hi < len(pes) && int(pes[hi])/perSIP == sip {
				hi++
			}
			if !yield(sip, pes[lo:hi]) {
				return
			}
			lo = hi
		}
	}
}

// contribution makes the contribution of the current SIP, which is a rank.
func (h *Host) contribution(p *device.Plan, rank int) (*device.Tensor, error) {
	x, err := h.Device.Empty(1, h.Elems(p), h.DType, device.DPPolicy{Cube: device.ColumnWise, PE: device.ColumnWise})
	return x, h.fill(x, p, rank, err)
}

// fill fills a vector with inputs, whose first elements are those of rank first, the next
// those of the next rank. It returns the error of making the vector.
func (h *Host) fill(x *device.Tensor, p *device.Plan, first int, err error) error {
	if err != nil {
		return err
	}
	n, size := h.Elems(p), h.DType.Size()
	in, err := h.inputs(p.World, n)
	if err != nil || !h.Device.HasData() {
		return err
	}
	x.Named(fmt.Sprintf("contributions on SIP %d", x.Device()))
	w := in.writer()
	return x.FillShards(func(s device.Shard, data []byte) {
		for at := s.Region.Col; len(data) > 0; {
			k := min(n-at%n, len(data)/size)
			w.write(data[:k*size], first+at/n, at%n)
			data, at = data[k*size:], at+k
		}
	})
}

// Elems returns the number of elements per rank: as asked for, else as configured.
func (h *Host) Elems(p *device.Plan) int {
	if h.NElem > 0 {
		return h.NElem
	}
	return p.Config.NElem
}
