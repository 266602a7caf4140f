// Package export turns a recorded program of kernbench into an algorithm of MSCCL: it carries out
// the statements of all ranks on places, so that sends, puts, and loads and stores of other ranks'
// memory all become messages; joins receives with additions, copies and sends into the steps that
// the format has; spreads steps over thread blocks, one peer to send to and one to receive from for
// each; and orders the blocks by dependencies. The package may import program/text, frontend/msccl,
// collective, dtype and tl. Start at MSCCL.
package export
