// Package machine turns a conf.Topology into the physical machine: a directed graph of PEs, memories, routers, chiplets
// and the links between them, and the route that a message takes from one node to another.
// Only this package knows the graph; a component that moves messages is handed a list of hops. Start with Build, then
// Machine.Route and Machine.Latency. A kind of network (mesh, ring, switch, ...) is one file: see kind.
// The package may import conf and unit, nothing else of the house.
package machine
