// Package machine turns a conf.Topology into the physical machine. That is a directed graph of PEs,
// memories, routers, chiplets and links, and the route of a message from one node to another. Only
// this package knows the graph; components get lists of hops. A kind of network (mesh, ring,
// switch, ...) is one file.
//
// It may import conf and unit only. Start at Build, Machine.Route and Machine.Latency.
package machine
