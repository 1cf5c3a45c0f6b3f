// SPDX-License-Identifier: GPL-2.0

// work() calls leaf(), which has no frame, and duff(), which copies by the
// runtime's duffcopy: samples in all of them must show work() above them.
package main

type small struct{ a, b, c, d, e, f, g, h int }
type large struct{ a, b, c, d, e, f, g, h, i, j, k, l int }

var a, b small
var c, d large

//go:noinline
func leaf() {
	a = b
}

//go:noinline
func duff() {
	c = d
}

//go:noinline
func work() {
	for i := 0; i < 100000; i++ {
		leaf()
		duff()
	}
}

//go:noinline
func main() {
	work()
}
