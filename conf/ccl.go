package conf

import (
	"maps"
	"reflect"
	"slices"

	"kernbench/unit"
)

// CCL is the collective library's configuration in ccl.yaml: settings for all algorithms, and by
// name the settings in which an algorithm differs. Only LoadCCL and With make one, and they check
// everything. It does not change afterwards.
type CCL struct {
	values library
	places places
}

// library is the content of ccl.yaml.
type library struct {
	Defaults   Settings              `conf:"defaults" doc:"settings of all algorithms; an entry of algorithms can replace them"`
	Algorithms map[string]*Algorithm `conf:"algorithms" doc:"algorithms by name; an entry changes only the settings that it names"`
}

// Defaults returns the settings of every algorithm that does not override them.
func (c *CCL) Defaults() Settings { return c.values.Defaults }

// Entry returns the entry of an algorithm, or nil if it has none.
func (c *CCL) Entry(name string) *Algorithm {
	a, ok := c.values.Algorithms[name]
	if !ok {
		return nil
	}
	return a.clone()
}

// Settings holds what an algorithm runs with.
type Settings struct {
	Algorithm        string     `conf:"algorithm" doc:"algorithm that runs by default: an entry of algorithms"`
	RankLevel        string     `conf:"rank_level" doc:"what a rank of the process group is: each PE, or each SIP" enum:"pe|sip"`
	WorldSize        int        `conf:"world_size" doc:"number of ranks; 0: all ranks of the topology" min:"0" max:"16777216"`
	NElem            int        `conf:"n_elem" doc:"elements per rank" min:"1" max:"1073741824"`
	BufferKind       string     `conf:"buffer_kind" doc:"memory that holds the ring slots" enum:"tcm|hbm|sram"`
	Backpressure     string     `conf:"backpressure" doc:"how a sender waits for a slot and a receiver for a token. sleep: an interrupt wakes it; poll: it reads the pointer repeatedly" enum:"sleep|poll"`
	NSlots           int        `conf:"n_slots" doc:"slots per direction" min:"1" max:"4096"`
	RingSlots        string     `conf:"ring_slots" json:",omitempty" doc:"number of slots of single directions, in place of n_slots; a direction has the name that its sender uses; none: n_slots applies to all directions" form:"^(none|[A-Za-z][A-Za-z0-9_.]*:[1-9][0-9]{0,3}( [A-Za-z][A-Za-z0-9_.]*:[1-9][0-9]{0,3})*)$" like:"none, or directions with their slots such as E:8 W:2"`
	SlotSize         unit.Bytes `conf:"slot_size" doc:"bytes of a slot; larger payloads take several slots" min:"8" max:"1GiB"`
	ChunkSize        unit.Bytes `conf:"chunk_size" doc:"bytes of a piece in pipelined algorithms; auto: the formula of the algorithm finds the best size" max:"1GiB" zero:"auto"`
	VCChunkSize      unit.Bytes `conf:"vc_chunk_size" doc:"reserved for interleaving virtual channels; checked, but without effect" max:"1GiB"`
	Protocol         string     `conf:"protocol" doc:"how a receiver detects that a message has arrived; software.protocols of topology.yaml has the costs" enum:"simple|ll|ll128"`
	Channels         int        `conf:"nchannels" json:",omitempty" doc:"number of parallel rings or trees of a collective: on several nodes with one network card per channel, and with ll if topology.yaml has software.channels. Also the number of channels of a point-to-point transfer. 0: the size of the call decides" min:"0" max:"1024"`
	CreditBytes      unit.Bytes `conf:"ipcq_credit_size_bytes" doc:"bytes of a credit message" max:"1MiB"`
	Credit           string     `conf:"credit" doc:"when the credit of a slot is sent. on_release: when the received tensor is released; on_recv: inside recv" enum:"on_release|on_recv"`
	Accumulate       string     `conf:"accumulate" doc:"type of partial sums of 16-bit floats, in memory and in messages. same: the element type; f32: rounded once at the end" enum:"same|f32"`
	StrictValidation bool       `conf:"strict_validation" doc:"recv rejects a token if its type or shape differs from the expected one"`
	PollInterval     unit.Time  `conf:"poll_interval_ns" doc:"time between two reads of a pointer with backpressure: poll" min:"1ps"`
	WakeCost         unit.Time  `conf:"wake_cost_ns" doc:"time from the interrupt to the next instruction with backpressure: sleep"`
}

// Algorithm is one entry. A nil field leaves the setting of that name in Defaults as it is.
type Algorithm struct {
	Module   string `conf:"module" doc:"name of the algorithm, or a dotted path that ends in it; if missing, the name of the entry"`
	Topology string `conf:"topology" doc:"logical topology (kernbench list topologies); if missing, the default of the algorithm"`
	W        int    `conf:"w" doc:"width of a mesh_2d or torus_2d; 0: computed from h, or the square root of the world size" min:"0" max:"16777216"`
	H        int    `conf:"h" doc:"height of a mesh_2d or torus_2d; 0: computed from w" min:"0" max:"16777216"`
	RootCube int    `conf:"root_cube" doc:"cube at the root of a hierarchical algorithm" min:"0" max:"1048576"`

	RankLevel        *string     `conf:"rank_level"`
	WorldSize        *int        `conf:"world_size"`
	NElem            *int        `conf:"n_elem"`
	BufferKind       *string     `conf:"buffer_kind"`
	Backpressure     *string     `conf:"backpressure"`
	NSlots           *int        `conf:"n_slots"`
	RingSlots        *string     `conf:"ring_slots"`
	SlotSize         *unit.Bytes `conf:"slot_size"`
	ChunkSize        *unit.Bytes `conf:"chunk_size"`
	VCChunkSize      *unit.Bytes `conf:"vc_chunk_size"`
	Protocol         *string     `conf:"protocol"`
	Channels         *int        `conf:"nchannels"`
	CreditBytes      *unit.Bytes `conf:"ipcq_credit_size_bytes"`
	Credit           *string     `conf:"credit"`
	Accumulate       *string     `conf:"accumulate"`
	StrictValidation *bool       `conf:"strict_validation"`
	PollInterval     *unit.Time  `conf:"poll_interval_ns"`
	WakeCost         *unit.Time  `conf:"wake_cost_ns"`
}

func (l library) clone() library {
	l.Algorithms = maps.Clone(l.Algorithms)
	for name, a := range l.Algorithms {
		l.Algorithms[name] = a.clone()
	}
	return l
}

// clone also copies the values that pointers point to.
func (a *Algorithm) clone() *Algorithm {
	to := *a
	v := reflect.ValueOf(&to).Elem()
	for i := range v.NumField() {
		if f := v.Field(i); f.Kind() == reflect.Pointer && !f.IsNil() {
			own := reflect.New(f.Type().Elem())
			own.Elem().Set(f.Elem())
			f.Set(own)
		}
	}
	return &to
}

// Names lists the algorithms in order.
func (c *CCL) Names() []string { return slices.Sorted(maps.Keys(c.values.Algorithms)) }

// Errorf makes an error about key, a dotted path such as "defaults.n_slots", at the place where it
// was set.
func (c *CCL) Errorf(key, format string, args ...any) *Error {
	return c.places.find(key).errorf(key, format, args...)
}
