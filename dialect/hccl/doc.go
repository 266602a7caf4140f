// Package hccl is the HCCL task API of Ascend C for kernels, over the instructions of tl: a
// kernel prepares tasks of collective communication on a group, releases and awaits them turn
// by turn, and computes meanwhile; the communication engine of its PE performs them by
// algorithms of the library.
//
// Host side: Comm is a group, Tiling its configuration, Launch runs a kernel on the cores of
// all devices. Kernel side: Kernel is one core, Hccl the object. The words are the vendor's.
// It stands on device and below bench.
package hccl
