// Package plans times programs of other tools on the machines of kernbench: it joins a file
// (frontend), its verdict, a machine and the model of time (frontend/timing). Start at Load.
// The package may import lab/run, the front ends, machine and conf.
package plans
