package tl

import "fmt"

// MostChannels is the largest number of channels of a message.
const MostChannels = 1024

// UseChannels sets through how many channels the kernel's later messages go: its sends, and its
// puts with a signal. A channel writes at the machine's rate of a thread block. So a receiver sees
// a message after its channels have written it, or later. Messages of one ring take turns. With 0,
// as at first, a message is as fast as the links. See Args.TransferChannels.
func (c *Context) UseChannels(n int) {
	if n < 0 || n > MostChannels {
		c.misuse("use_channels", fmt.Sprintf("%d channels: a message has 0 to %d", n, MostChannels))
	}
	c.channels = int32(n)
}
