package bench

import (
	"fmt"

	"kernbench/device"
	"kernbench/dist"
	"kernbench/tl"
)

// Contributions makes what one worker brings to a collective: with rank_level: pe, where
// there is one worker, everything, with rank_level: sip the tensor of its own SIP.
func (h *Host) Contributions(w *dist.Worker, p *device.Plan) ([]*device.Tensor, error) {
	if !p.PerSIP() {
		return h.AllContributions(p)
	}
	x, err := h.contribution(p, w.GetRank())
	return []*device.Tensor{x}, err
}

// AllContributions makes what all ranks bring and fills it with Inputs. With rank_level: pe
// a rank is a PE, has Elems elements, and there is a tensor on every SIP that has some of
// the ranks; with rank_level: sip every SIP has one, of Elems elements over all its PEs.
func (h *Host) AllContributions(p *device.Plan) ([]*device.Tensor, error) {
	sips, perSIP := p.World, 0
	if !p.PerSIP() {
		perSIP = h.Device.Machine().CubesPerSIP() * h.Device.Machine().PEsPerCube()
		sips = tl.CDiv(p.World, perSIP)
	}
	var tensors []*device.Tensor
	for sip := range sips {
		if err := h.Device.SetDevice(sip); err != nil {
			return nil, err
		}
		var x *device.Tensor
		var err error
		if p.PerSIP() {
			x, err = h.contribution(p, sip)
		} else {
			x, err = h.vector(min(perSIP, p.World-sip*perSIP), h.Elems(p))
			err = h.fill(x, p, sip*perSIP, err)
		}
		if err != nil {
			return nil, err
		}
		tensors = append(tensors, x)
	}
	return tensors, h.Device.SetDevice(0)
}

// contribution is what a SIP that is a rank brings, on the current SIP.
func (h *Host) contribution(p *device.Plan, rank int) (*device.Tensor, error) {
	x, err := h.Device.Empty(1, h.Elems(p), h.DType, device.DPPolicy{Cube: device.ColumnWise, PE: device.ColumnWise})
	return x, h.fill(x, p, rank, err)
}

// vector is a vector on the current SIP of which each of the first ranks PEs has n
// elements.
func (h *Host) vector(ranks, n int) (*device.Tensor, error) {
	pes := h.Device.Machine().PEsPerCube()
	switch {
	case ranks <= pes:
		return h.Device.Empty(1, ranks*n, h.DType, device.DPPolicy{PE: device.ColumnWise, NumCubes: 1, NumPEs: ranks})
	case ranks%pes == 0:
		return h.Device.Empty(1, ranks*n, h.DType, device.DPPolicy{Cube: device.ColumnWise, PE: device.ColumnWise, NumCubes: ranks / pes})
	}
	return h.Device.EmptyRanks(ranks, n, h.DType)
}

// fill copies inputs into a vector whose first elements are those of rank first, the next
// those of the next rank. It hands on the error of making the vector.
func (h *Host) fill(x *device.Tensor, p *device.Plan, first int, err error) error {
	if err != nil || !h.Device.HasData() {
		return err
	}
	x.Named(fmt.Sprintf("contributions on SIP %d", x.Device()))
	in := Inputs{Seed: h.Seed, World: p.World, Type: h.DType, Op: h.Op}
	data, n := make([]byte, 0, x.Elems()*h.DType.Size()), h.Elems(p)
	for rank := first; len(data) < cap(data); rank++ {
		data = in.append(data, rank, n)
	}
	return x.CopyInBytes(data)
}

// Elems is the number of elements per rank: as asked for, else as configured.
func (h *Host) Elems(p *device.Plan) int {
	if h.NElem > 0 {
		return h.NElem
	}
	return p.Config.NElem
}
