package conf

import (
	"reflect"
	"slices"

	"kernbench/unit"
)

// Topology is the physical machine as topology.yaml describes it: a system of SIPs on a network.
// Each SIP is a mesh of cubes, and each cube has PEs at its corners around a mesh of routers.
//
// LoadTopology is the only constructor and checks every value. A Topology is immutable: its methods
// return copies. The zero value is no machine: see Loaded.
type Topology struct {
	values machine
	places places
}

// machine is the content of topology.yaml, key by key.
type machine struct {
	System System `conf:"system" doc:"the SIPs and the networks between them"`
	SIP    SIP    `conf:"sip" doc:"one SIP (package): a mesh of cubes and an IO chiplet"`
	Cube   Cube   `conf:"cube" doc:"one cube: PEs at its corners, a router mesh, an HBM stack, an SRAM"`
	PE     PE     `conf:"pe" doc:"one PE and the engines in it"`

	CommEngine CommEngine `conf:"comm_engine" doc:"the communication engines, which execute the tasks that programs post to them"`

	Fabric Fabric `conf:"fabric" doc:"sizes of messages, flits and buffers on all links"`

	Software Software `conf:"software" doc:"times that software adds to those of the hardware"`
	Rings    Rings    `conf:"rings" doc:"defaults of rings, if ccl.yaml sets none"`

	// Choices do not count in the fingerprint. Each table contains the fingerprint of its machine.
	Choices []TuningTable `conf:"choices" doc:"tuning tables of this machine for the algorithm auto, written by kernbench calibrate; each table is for one collective, number of ranks and type" json:"-"`
}

// Loaded reports whether t was made by LoadTopology.
func (t *Topology) Loaded() bool { return t != nil && t.places != nil }

// clone also copies the elements of slices.
func (m machine) clone() machine {
	m.System, m.SIP, m.Cube = m.System.clone(), m.SIP.clone(), m.Cube.clone()
	m.Software.Starts = m.Software.Starts.clone()
	m.Choices = slices.Clone(m.Choices)
	for i := range m.Choices {
		m.Choices[i].Rows = slices.Clone(m.Choices[i].Rows)
	}
	return m
}

func (s System) clone() System {
	s.Levels = slices.Clone(s.Levels)
	s.Switch.Reduce.Types = slices.Clone(s.Switch.Reduce.Types)
	s.Nodes.Dims, s.Nodes.Switch.Reduce.Types = slices.Clone(s.Nodes.Dims), slices.Clone(s.Nodes.Switch.Reduce.Types)
	for i := range s.Levels {
		s.Levels[i].Dims = slices.Clone(s.Levels[i].Dims)
		s.Levels[i].Switch.Reduce.Types = slices.Clone(s.Levels[i].Switch.Reduce.Types)
	}
	return s
}

func (s SIP) clone() SIP {
	s.UCIe.ConnectionOfPE = slices.Clone(s.UCIe.ConnectionOfPE)
	return s
}

func (c Cube) clone() Cube {
	c.PELayout.Corners = slices.Clone(c.PELayout.Corners)
	return c
}

// EmbeddedRoutes reports whether the machine differs from the embedded one at most in its system,
// its PEs, its fabric and its choices. Then its SIPs have the embedded routes, in any number. PEs
// and the fabric set rates, sizes and orders only.
func (t *Topology) EmbeddedRoutes() bool {
	own, base := t.values, builtinTopology().values
	own.System, own.PE, own.Fabric, own.Choices = base.System, base.PE, base.Fabric, base.Choices
	return reflect.DeepEqual(own, base)
}

// System returns the description of the SIPs and of the networks between them.
func (t *Topology) System() System { return t.values.System.clone() }

// SIP returns the description of a SIP.
func (t *Topology) SIP() SIP { return t.values.SIP.clone() }

// Cube returns the description of a cube.
func (t *Topology) Cube() Cube { return t.values.Cube.clone() }

// PE returns the description of a PE.
func (t *Topology) PE() PE { return t.values.PE }

// CommEngine returns the description of communication engines.
func (t *Topology) CommEngine() CommEngine { return t.values.CommEngine }

// Fabric returns the sizes of packets and buffers of the links.
func (t *Topology) Fabric() Fabric { return t.values.Fabric }

// Software returns the times that software adds to those of the hardware.
func (t *Topology) Software() Software {
	s := t.values.Software
	s.Starts = s.Starts.clone()
	return s
}

// Rings returns the machine's own defaults of the rings.
func (t *Topology) Rings() Rings { return t.values.Rings }

// Choices returns the tuning tables of the machine, by which auto chooses.
func (t *Topology) Choices() []TuningTable { return t.values.clone().Choices }

// System describes the SIPs and the networks between them.
type System struct {
	SIPs   SIPs   `conf:"sips" doc:"number and arrangement of the SIPs"`
	Link   Link   `conf:"link" doc:"one link of the network between SIPs, per direction"`
	Switch Switch `conf:"switch" doc:"the switch between SIPs, if the network has one"`

	Levels []Level `conf:"levels" doc:"the levels of the network between SIPs, innermost first. The product of their counts is the number of SIPs. They replace sips.count, sips.topology, sips.w, sips.h, link and switch, the short form for one level"`
	Nodes  Level   `conf:"nodes" doc:"the network between nodes, one more level above the machine; its count is the number of nodes, each one such machine; --nodes sets the count"`

	nodes bool // Levels has the level of nodes at its end, and SIPs.Count counts all of them
	short bool // Levels[0] was made from the short form
}

// SIPs is the number of SIPs, and the network that joins them.
type SIPs struct {
	Count       int    `conf:"count" doc:"number of SIPs; with levels, the product of their counts" min:"1" max:"1048576"`
	Topology    string `conf:"topology" doc:"network between SIPs" enum:"@short"`
	W           int    `conf:"w" doc:"width of the SIP grid (torus_2d, mesh_2d_no_wrap); 0: the square root of count" min:"0" max:"65536"`
	H           int    `conf:"h" doc:"height of the SIP grid; w × h must be count" min:"0" max:"65536"`
	CubesPerSIP int    `conf:"cubes_per_sip" doc:"redundant: 0, or the product of sip.cube_mesh.w and h" min:"0" max:"1048576"`
}

// Link is a link between two SIPs or from a SIP to the switch.
type Link struct {
	BW      unit.Rate `conf:"bw_gbs" doc:"bandwidth in GB/s that programs reach"`
	Latency unit.Time `conf:"latency_ns" doc:"propagation delay"`
	Line    unit.Rate `conf:"line_bw_gbs" doc:"line rate in GB/s, for information; the difference to bw_gbs is protocol overhead; 0: unknown" min:"0GB/s"`
}

// Passage is a switch or gateway that only passes messages on.
type Passage struct {
	Overhead unit.Time `conf:"overhead_ns" doc:"time from the arrival of a message's head to its departure"`
}

// Switch is a switch in a network level.
type Switch struct {
	Overhead  unit.Time `conf:"overhead_ns" doc:"time from the arrival of a message's head to its departure"`
	Multicast bool      `conf:"multicast" doc:"the switch copies one store to all members of a group"`
	Reduce    Reduce    `conf:"reduce" doc:"reductions: the switch combines the data of all members of a group"`
}

// Reduce describes the reductions of a switch.
type Reduce struct {
	Types   []string  `conf:"types" doc:"element types that the switch reduces; empty: no reductions" enum:"f16|bf16|f32|f64|i32|i64" unique:"true"`
	BW      unit.Rate `conf:"bw_gbs" doc:"link rate in GB/s for reduced or copied data; 0: the normal link rate" min:"0GB/s"`
	Latency unit.Time `conf:"latency_ns" doc:"time from the arrival of the last member's data until the result leaves"`
}

// Plain reports whether a switch has no property in topology.yaml.
func (s *Switch) Plain() bool {
	return s.Overhead == 0 && !s.Multicast && len(s.Reduce.Types) == 0 && s.Reduce.BW == 0 && s.Reduce.Latency == 0
}

// SIP is one package.
type SIP struct {
	CubeMesh CubeMesh `conf:"cube_mesh" doc:"arrangement of the cubes"`
	UCIe     UCIe     `conf:"ucie" doc:"the ports that join neighbouring cubes"`
	IO       IO       `conf:"io" doc:"the IO chiplet that joins the cubes to the network between SIPs"`
}

// CubeMesh is the arrangement of the cubes of a SIP.
type CubeMesh struct {
	W       int     `conf:"w" doc:"cubes per row" min:"1" max:"1024"`
	H       int     `conf:"h" doc:"rows of cubes" min:"1" max:"1024"`
	Network string  `conf:"network" doc:"network that joins the cubes" enum:"@cubes"`
	Switch  Passage `conf:"switch" doc:"the switch between cubes, for network: switch"`
}

// UCIe is one side of a cube: several connections to the neighbour on that side.
type UCIe struct {
	Connections    int       `conf:"connections" doc:"connections per side of a cube" min:"1" max:"256"`
	BW             unit.Rate `conf:"bw_gbs" doc:"bandwidth of one connection per direction in GB/s"`
	Port           unit.Time `conf:"port_ns" doc:"delay of one port; a crossing has two"`
	ConnectionOfPE []int     `conf:"connection_of_pe" doc:"connection that carries the traffic of each PE of the destination cube; empty: PE i uses connection i modulo connections" min:"0" max:"255"`
}

// IO is the IO chiplet of a SIP.
type IO struct {
	Overhead unit.Time `conf:"overhead_ns" doc:"delay of the IO chiplet's own network"`
	PCIe     unit.Time `conf:"pcie_ep_ns" doc:"delay of the PCIe endpoint"`
	BW       unit.Rate `conf:"bw_gbs" doc:"bandwidth of the IO chiplet per direction in GB/s"`
}

// Cube is one cube.
type Cube struct {
	PELayout PELayout  `conf:"pe_layout" doc:"positions of the PEs"`
	NoC      NoC       `conf:"noc" doc:"the router mesh of a cube"`
	HBMBW    unit.Rate `conf:"hbm_to_router_bw_gbs" doc:"bandwidth between a PE's HBM slice and its router in GB/s"`
	SRAMBW   unit.Rate `conf:"sram_to_router_bw_gbs" doc:"bandwidth between the cube's SRAM and its router in GB/s"`
	HBM      HBM       `conf:"hbm" doc:"the HBM stack, one slice per PE"`
	SRAM     SRAM      `conf:"sram" doc:"the SRAM that the PEs of a cube share"`
}

// PELayout places the PEs of a cube.
type PELayout struct {
	PEPerCorner int      `conf:"pe_per_corner" doc:"PEs at each corner" min:"1" max:"64"`
	Corners     []string `conf:"corners" doc:"corners that have PEs, in the order in which the PEs are numbered" enum:"NW|NE|SW|SE" unique:"true"`
}

// NoC is the router mesh of a cube.
type NoC struct {
	W       int       `conf:"w" doc:"routers per row" min:"2" max:"64"`
	H       int       `conf:"h" doc:"rows of routers" min:"2" max:"64"`
	Router  unit.Time `conf:"router_ns" doc:"delay of one router"`
	BW      unit.Rate `conf:"link_bw_gbs" doc:"bandwidth of a link between routers per direction in GB/s"`
	Pitch   float64   `conf:"pitch_mm" doc:"distance between neighbouring routers in mm" min:"0" max:"1000"`
	NsPerMM float64   `conf:"ns_per_mm" doc:"delay of a wire in ns per mm" min:"0" max:"1000"`
}

// HBM is a PE's slice of the HBM stack.
type HBM struct {
	Capacity unit.Bytes `conf:"capacity_per_pe" doc:"size of one PE's slice"`
	Access   unit.Time  `conf:"access_ns" doc:"delay of one access before its first byte"`
}

// SRAM is the memory that a cube's PEs share.
type SRAM struct {
	Capacity unit.Bytes `conf:"capacity" doc:"size of the cube's SRAM"`
	Access   unit.Time  `conf:"access_ns" doc:"delay of one access before its first byte"`
}

// PE is one processing element.
type PE struct {
	Issue    unit.Time `conf:"issue_ns" doc:"time that the PE's CPU takes to issue one instruction"`
	Programs int       `conf:"programs" doc:"programs of a grid that a PE holds at the same time; a program that has started keeps its place until it ends" min:"1" max:"65536"`
	SMs      int       `conf:"multiprocessors" doc:"number of streaming multiprocessors (compute units) of a GPU. An imported program with more thread blocks gets a warning. It affects no time. 0: unknown" min:"0" max:"65536" json:"-"`
	LinkBW   unit.Rate `conf:"link_bw_gbs" doc:"bandwidth between a PE and its router per direction in GB/s"`
	TCM      TCM       `conf:"tcm" doc:"the PE's own memory"`
	Math     Math      `conf:"math" doc:"the vector engine"`
	GEMM     GEMM      `conf:"gemm" doc:"the matrix engine"`
	DMA      DMA       `conf:"dma" doc:"the DMA engine"`
	IPCQ     IPCQ      `conf:"ipcq" doc:"the controller of the rings to other PEs"`
}

// TCM is a PE's tightly coupled memory.
type TCM struct {
	Capacity unit.Bytes `conf:"capacity" doc:"size of the TCM"`
	Scratch  unit.Bytes `conf:"scratch" doc:"part of the TCM that holds a kernel's intermediate tensors"`
	BW       unit.Rate  `conf:"bw_gbs" doc:"bandwidth in GB/s"`
	Access   unit.Time  `conf:"access_ns" doc:"delay of one access before its first byte"`
}

// Math is the vector engine: setup + elements / (lanes × clock).
type Math struct {
	Lanes    int       `conf:"lanes" doc:"elements per clock" min:"1" max:"65536"`
	ClockGHz float64   `conf:"clock_ghz" doc:"clock in GHz" min:"0.001" max:"1000"`
	Setup    unit.Time `conf:"setup_ns" doc:"time before the first element"`
}

// GEMM is the matrix engine.
type GEMM struct {
	MACM     int       `conf:"mac_m" doc:"rows of the product per clock" min:"1" max:"65536"`
	MACK     int       `conf:"mac_k" doc:"products summed per clock" min:"1" max:"65536"`
	MACN     int       `conf:"mac_n" doc:"columns of the product per clock" min:"1" max:"65536"`
	TileM    int       `conf:"tile_m" doc:"rows of a composite's tile" min:"1" max:"65536"`
	TileK    int       `conf:"tile_k" doc:"depth of a composite's tile" min:"1" max:"65536"`
	TileN    int       `conf:"tile_n" doc:"columns of a composite's tile" min:"1" max:"65536"`
	ClockGHz float64   `conf:"clock_ghz" doc:"clock in GHz" min:"0.001" max:"1000"`
	Setup    unit.Time `conf:"setup_ns" doc:"time before the first tile"`
}

// DMA is the DMA engine of a PE.
type DMA struct {
	Queue int       `conf:"queue_depth" doc:"descriptors per queue" min:"1" max:"65536"`
	Setup unit.Time `conf:"setup_ns" doc:"time to start one descriptor"`
}

// IPCQ is the controller of the rings.
type IPCQ struct {
	Send unit.Time `conf:"send_ns" doc:"time of a send in addition to issue and DMA"`
	Recv unit.Time `conf:"recv_ns" doc:"time of a recv in addition to issue, once the token is visible"`
}

// CommEngine describes communication engines: cores next to the PEs, with a CPU, a DMA and a vector
// engine like theirs.
type CommEngine struct {
	Per string `conf:"per" doc:"pe: each PE has an engine; sip: the first PE of a SIP has one engine for all PEs of the SIP" enum:"pe|sip"`
}

// Fabric has the sizes of packets and buffers of the links.
type Fabric struct {
	MessageBytes unit.Bytes `conf:"message_bytes" doc:"maximum size of a message; larger transfers are split" max:"1GiB"`
	FlitBytes    unit.Bytes `conf:"flit_bytes" doc:"size of a flit in the flit-level reference model" max:"1GiB"`
	BufferBytes  unit.Bytes `conf:"buffer_bytes" doc:"size of each input buffer, per channel; at least one message" max:"1GiB"`
	RequestBytes unit.Bytes `conf:"request_bytes" doc:"size of a read request and of a control message" max:"1GiB"`
	MemoryOrder  string     `conf:"memory_order" doc:"order in which the puts, stores and notifications of one PE take effect at other PEs. From weak to strong: put_signal, by_channel, in_order, sequential. sequential hides missing fences" enum:"put_signal|by_channel|in_order|sequential"`
	Atomics      bool       `conf:"p2p_native_atomics" doc:"PEs can perform fetch-add and compare-and-swap on words in the memory of other PEs"`
}

// Grid returns the width and height of the SIP grid: w and h where they are given. Otherwise a
// network with two dimensions has the square root of count, and any other has one row. A side that
// is left out follows from the other.
func (s SIPs) Grid() (w, h int) {
	switch {
	case s.W > 0 && s.H > 0:
		return s.W, s.H
	case s.W > 0:
		return s.W, s.Count / s.W
	case s.H > 0:
		return s.Count / s.H, s.H
	}
	if s.network().Dims {
		for side := 1; side*side <= s.Count; side++ {
			if side*side == s.Count {
				return side, side
			}
		}
	}
	return s.Count, 1
}

// PEsPerCube returns the number of PEs of one cube.
func (t *Topology) PEsPerCube() int {
	return t.values.Cube.PELayout.PEPerCorner * len(t.values.Cube.PELayout.Corners)
}

// CubesPerSIP returns the number of cubes of one SIP.
func (t *Topology) CubesPerSIP() int { return t.values.SIP.CubeMesh.W * t.values.SIP.CubeMesh.H }

// NumPEs returns the number of PEs of the system.
func (t *Topology) NumPEs() int { return t.values.System.SIPs.Count * t.CubesPerSIP() * t.PEsPerCube() }

// Errorf makes an error about key, a dotted path such as "cube.noc.w", at the place where it was
// set. It is for packages that find a mistake which only the whole machine shows.
func (t *Topology) Errorf(key, format string, args ...any) *Error {
	return t.places.find(key).errorf(key, format, args...)
}
