// Package plans times programs of other tools on the machines of kernbench. It joins a file
// (frontend), its verdict, a machine and the model of time (frontend/timing).
//
// It may import lab/run, frontend and the packages below it, machine and conf. Start at Load.
package plans
