// Package hccl is the HCCL task API of Ascend C for kernels. A kernel prepares tasks of
// collective communication, releases and awaits them turn by turn, and computes meanwhile. The
// communication engine of its PE performs them by algorithms of the library. On the host, Comm
// is a group, Tiling its configuration, and Launch runs a kernel. In a kernel, Kernel is one
// core, Hccl the object.
//
// It may import device and packages below it.
package hccl
