// Package msccl reads and writes the XML algorithms of MSCCL and of the forks of NCCL and RCCL
// that run them. Read checks a file by the rules of the runtimes and names line and attribute
// of each mistake. The Program that it returns makes a plan for a call: chunks, aliases,
// messages, and dependencies, as these runtimes carry them out.
//
// It may import frontend/plan, internal/near and unit. Start at Read.
package msccl
