// Package mscclpp reads execution plans of MSCCL++, in the JSON schema of v0.8 and later. It lowers
// them to a plan (frontend/plan) at a message size. It rejects what the executor's own parser
// rejects, with file, line and column of the key.
//
// It may import frontend/plan and internal/near. Start at Read.
package mscclpp

// Plan is an execution plan: what every GPU does for one call of a collective.
type Plan struct {
	File           string
	Name           string
	Collective     string // as in the file: allreduce, allgather, ...
	Packets        bool   // protocol LL: scratch has space for flags
	InPlace        bool
	ReuseResources bool
	Threads        int // of a thread block
	DoubleScratch  bool
	Alignment      int
	MinBytes       uint64
	MaxBytes       uint64 // inclusive
	GPUs           []GPU

	// Notes list what is legal and ignored, such as unknown keys.
	Notes []string
}

// GPU holds what one rank does.
type GPU struct {
	InputChunks   int
	OutputChunks  int
	ScratchChunks int
	Blocks        []Block

	// Memory and Port are the channels of each type: the peer of each. The k-th channel
	// from a to b pairs with the k-th one of the type from b to a.
	Memory, Port []int
	Switch       []SwitchChannel
	Remote       []RemoteBuffer
	Semaphores   []int // initial values
}

// SwitchChannel is a multicast group of ranks, over a buffer that each of them has.
type SwitchChannel struct {
	Buffer Buffer
	Ranks  []int
}

// RemoteBuffer is a buffer of another rank that this one may access.
type RemoteBuffer struct {
	Rank   int
	Buffer Buffer
}

// Buffer is one of the buffers that each rank has.
type Buffer byte

// The buffers of a rank.
const (
	NoBuffer Buffer = 0
	Input    Buffer = 'i'
	Output   Buffer = 'o'
	Scratch  Buffer = 's'
)

// ChannelType is the mechanism by which a channel reaches its peer.
type ChannelType uint8

// The channel types.
const (
	NoChannel     ChannelType = iota
	MemoryChannel             // threads load and store the peer's memory
	PortChannel               // a proxy copies, asynchronously
	SwitchType                // the switch multicasts and reduces
)

var channelTypes = []string{"none", "memory", "port", "switch"}

// String returns the name of the type in a plan.
func (t ChannelType) String() string { return channelTypes[t] }

// Block is a thread block: operations, carried out one after the other. The channels and
// the remote buffers of operations are places in the lists of their block.
type Block struct {
	Ops                  []Op
	Memory, Port, Switch []int // channels of the GPU
	MemoryRefs, PortRefs []int // remote buffers of the GPU
}

// Op is one operation.
type Op struct {
	Name         string
	Line, Column int
	Type         ChannelType
	Channels     []int
	Src, Dst     []Ref
	Part, Parts  int // tbg_info: this block carries out one of the parts
	Barrier      int
	Blocks       int // num_threadblocks of a barrier
	Semaphores   []int
	UnitSize     uint64 // of a pipeline, in bytes
	NumChunks    int    // of a pipeline
	Ops          []Op   // of a pipeline
}

// Ref is a range of chunks of a buffer. The buffer is a local one (Local is set), a remote one
// (Remote is a place in the block's list), or a switch channel's.
type Ref struct {
	Line   int
	Local  Buffer
	Remote int // -1: none
	Switch int // -1: none
	Index  int // in chunks
	Size   int // in chunks
}

// The limits of the executor's structures.
const (
	maxOps        = 64 // of a thread block, with those in pipelines
	maxChannels   = 16 // of a thread block and type
	maxOpChannels = 8
	maxRefs       = 10
	maxBarriers   = 16
	maxSemaphores = 16 // of an operation; a GPU has any number
)

// shape holds what the executor reads of an operation.
type shape struct {
	types    []ChannelType // allowed values of channel_type; empty: it is not read
	src, dst int           // least number of references
	channels bool          // channel_ids are read
	packets  bool
}

var (
	memoryOnly   = []ChannelType{MemoryChannel}
	portOnly     = []ChannelType{PortChannel}
	memoryOrPort = []ChannelType{MemoryChannel, PortChannel}
	switchOnly   = []ChannelType{SwitchType}
)

var shapes = map[string]shape{
	"nop":         {},
	"barrier":     {},
	"signal":      {types: memoryOrPort, channels: true},
	"wait":        {types: memoryOrPort, channels: true},
	"rlxsignal":   {types: memoryOrPort, channels: true},
	"rlxwait":     {types: memoryOrPort, channels: true},
	"flush":       {types: portOnly, channels: true},
	"put":         {types: memoryOrPort, src: 1, dst: 1, channels: true},
	"pws":         {types: memoryOrPort, src: 1, dst: 1, channels: true},
	"pwsf":        {types: memoryOrPort, src: 1, dst: 1, channels: true},
	"get":         {types: memoryOnly, src: 1, dst: 1},
	"copy":        {src: 1, dst: 1},
	"re":          {src: 1, dst: 1},
	"res":         {types: memoryOnly, src: 1, dst: 1},
	"rre":         {types: memoryOnly, src: 1, dst: 1},
	"rres":        {types: memoryOnly, src: 1, dst: 1},
	"ppkt":        {types: memoryOrPort, src: 1, dst: 1, channels: true, packets: true},
	"rppkt":       {types: memoryOrPort, src: 1, dst: 1, channels: true, packets: true},
	"cpkt":        {src: 1, dst: 1, packets: true},
	"upkt":        {src: 1, dst: 1, packets: true},
	"repkt":       {src: 1, dst: 1, packets: true},
	"recpkt":      {src: 1, dst: 2, packets: true},
	"respkt":      {types: memoryOnly, src: 1, dst: 1, packets: true},
	"recspkt":     {types: memoryOnly, src: 1, dst: 2, packets: true},
	"glres":       {types: switchOnly, src: 1, dst: 1},
	"gstore":      {types: switchOnly, src: 1, dst: 1},
	"gstorepkt":   {types: switchOnly, src: 1, dst: 1, packets: true},
	"pipeline":    {},
	"sem_acquire": {},
	"sem_release": {},
}
