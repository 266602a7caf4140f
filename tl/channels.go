package tl

import "fmt"

// MostChannels is the largest number of channels of a message.
const MostChannels = 1024

// UseChannels sets the number of channels of the kernel's later messages: its sends, and its puts
// with a signal. Each channel writes at the machine's rate of a thread block. A receiver sees a
// message no earlier than its channels have written it. Messages of one ring take turns. With 0,
// the default, a message is as fast as the links. See Args.TransferChannels.
func (c *Context) UseChannels(n int) {
	if n < 0 || n > MostChannels {
		c.misuse("use_channels", fmt.Sprintf("%d channels: a message has 0 to %d", n, MostChannels))
	}
	c.channels = int32(n)
}
