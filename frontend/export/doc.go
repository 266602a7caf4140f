// Package export turns a program of kernbench into an algorithm of MSCCL. Sends,
// puts, and loads and stores of other ranks' memory become messages. Receives are joined with
// additions, copies and sends into the steps of the format. Steps are spread over thread
// blocks, each with one peer to send to and one to receive from; dependencies order the
// blocks.
//
// It may import program/text, frontend/msccl, frontend/plan, collective, dtype and tl. Start
// at MSCCL.
package export
