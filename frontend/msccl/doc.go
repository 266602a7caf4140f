// Package msccl reads and writes the XML files that MSCCL, and the forks of NCCL and RCCL that
// carry out such files, take as an algorithm. Read checks a file by the rules of the runtimes and
// names line and attribute of what breaks them; the Program that it returns makes a plan for a
// call: chunks, aliases, messages and how they are split, and dependencies, as the interpreters of
// these runtimes carry them out. The package may import frontend/plan, near and unit.
package msccl
