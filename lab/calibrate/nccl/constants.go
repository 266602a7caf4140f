package nccl

// Generation is a generation of GPUs, by which NCCL has its constants.
type Generation string

// The generations.
const (
	Volta     Generation = "volta"
	Ampere    Generation = "ampere"
	Hopper    Generation = "hopper"
	Blackwell Generation = "blackwell"
)

// Generations lists them, oldest first.
func Generations() []Generation { return []Generation{Volta, Ampere, Hopper, Blackwell} }

// The protocols, as indices of the tables below.
const (
	ll = iota
	ll128
	simple
)

var protocolNames = [3]string{"ll", "ll128", "simple"}

// latencies are in µs, by protocol: the base of a collective, and hops over NVLink and the network.
type latencies struct{ base, nvlink, network [3]float64 }

var (
	ringLatencies     = latencies{base: [3]float64{6.6, 14, 8.4}, nvlink: [3]float64{0.6, 1.9, 3.4}, network: [3]float64{2.7, 4, 14}}
	treeLatencies     = latencies{base: [3]float64{6.8, 14, 8.4}, nvlink: [3]float64{0.6, 1.25, 4}, network: [3]float64{5, 8.5, 14}}
	nvlsLatencies     = latencies{nvlink: [3]float64{simple: 25}, network: [3]float64{simple: 18}}
	nvlsTreeLatencies = latencies{nvlink: [3]float64{simple: 25}, network: [3]float64{simple: 20.9}}
)

// caps are limits in GB/s of a generation for one, two, and four or more nodes. All are by channel,
// but ll: it is of all channels on one node.
type caps struct {
	ll                                   float64
	ringLL128, treeLL128, tree, nvlsTree [3]float64
}

// networkLL has the limits in GB/s of all channels with LL for two, and four or more nodes: with
// CPUs of AMD, and with others.
var networkLL = map[bool][2]float64{true: {22.5, 19}, false: {39, 20.4}}

// Time in µs to post a message of LL and LL128 to a network; a message of Simple takes three times
// as long.
const (
	post    = 1.
	postAMD = 2.
)

func same(v float64) [3]float64 { return [3]float64{v, v, v} }

var generationCaps = map[Generation]caps{
	Volta:     {39, same(20), same(20), [3]float64{26.5, 18.5, 10}, [3]float64{26.5, 18.5, 10}},
	Ampere:    {87.7, same(20), same(20), [3]float64{24, 23.6, 17.8}, [3]float64{24, 23.6, 17.8}},
	Hopper:    {141, same(36.7), [3]float64{36.7, 36.7, 29}, [3]float64{38.7, 41.4, 36}, [3]float64{0, 57.7, 45.5}},
	Blackwell: {282, same(40), [3]float64{55.6, 31.7, 20}, [3]float64{70, 42.8, 24}, [3]float64{0, 96, 80}},
}

// nvlsShare is the part of a link's rate that NCCL expects of reductions in a switch.
var nvlsShare = map[Generation]float64{Volta: 0.85, Ampere: 0.85, Hopper: 0.85, Blackwell: 0.74}

// speeds are the rates of a channel, in GB/s, that the search for rings tries.
var speeds = map[Generation][]float64{
	Volta:     {40, 30, 24, 20, 18, 15, 12, 10, 9, 7, 6, 5, 4, 3},
	Ampere:    {40, 30, 24, 20, 18, 15, 12, 10, 9, 7, 6, 5, 4, 3},
	Hopper:    {60, 50, 40, 30, 24, 20, 15, 12, 11, 6, 3},
	Blackwell: {90, 80, 70, 60, 50, 45, 40, 30, 24, 20, 19, 18},
}

// treeShares is the usable share of a tree's rate, by protocol, at 64 B, 128 B and so on. On
// Blackwell it is that of NVLSTree too.
var treeShares = [3][24]float64{
	ll:     {1, 1, 1, 1, .9, .8, .7, .7, .7, .7, .6, .5, .4, .4, .5, .6, .7, .8, .9, 1, 1, 1, 1, 1},
	ll128:  {1, 1, 1, 1, 1, .9, .8, .8, .8, .7, .6, .6, .6, .6, .6, .6, .8, .9, .9, .9, .9, 1, 1, 1},
	simple: {.9, .9, .9, .9, .9, .9, .9, .8, .7, .6, .6, .5, .5, .5, .5, .6, .7, .8, .7, .7, .8, .9, .9, .9},
}
