package main

import (
	"kernbench/kerneltest"
	"kernbench/tl"
)

// mistakes are run by the guide's test, which holds what comes out against the error
// blocks of the guide.
var mistakes = map[string]struct {
	kernel tl.Kernel
	config kerneltest.Config
}{
	"sendNorth":    {sendNorth, kerneltest.Config{}},
	"onlySend":     {onlySend, kerneltest.Config{}},
	"sendTwice":    {sendTwice, kerneltest.Config{}},
	"recvFirst":    {recvFirst, kerneltest.Config{}},
	"forgetful":    {forgetful, kerneltest.Config{}},
	"tooLate":      {tooLate, kerneltest.Config{}},
	"otherShape":   {otherShape, kerneltest.Config{}},
	"jumpsQueue":   {jumpsQueue, kerneltest.Config{}},
	"hoarder":      {hoarder, kerneltest.Config{Scratch: 64}},
	"tooLong":      {tooLong, kerneltest.Config{Scratch: 64}},
	"outside":      {outside, kerneltest.Config{}},
	"oneSlot":      {ringSum, kerneltest.Config{Slots: 1}},
	"differentLen": {differentLen, kerneltest.Config{}},
}
