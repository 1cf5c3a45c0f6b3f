// SPDX-License-Identifier: GPL-2.0

// Go: leaves without a frame (those of Go's issue 73753), goroutines, a panic
// that is recovered, cgo in both directions. Each function has one caller: what
// stands behind TRUTH: is for check-chains.
package main

/*
void c_top(long n);
void c_under(long n);
*/
import "C"

import (
	"os"
	"strconv"
	"time"
)

type small struct{ a, b, c, d, e, f, g, h int }
type large struct{ a, b, c, d, e, f, g, h, i, j, k, l int }

var a, b small
var c, d large
var sum int

//go:noinline TRUTH: main.leaf main.leaves
func leaf() {
	a = b
}

//go:noinline TRUTH: main.duff main.leaves libc
func duff() {
	c = d
}

//go:noinline TRUTH: main.leaves main.main
func leaves() {
	for i := 0; i < 200000; i++ {
		leaf()
		duff()
	}
}

//go:noinline TRUTH: main.panicLeaf main.panicMid libc
func panicLeaf(n int) {
	for i := 0; i < 2000; i++ {
		sum += i ^ n
	}
	panic(n)
}

//go:noinline TRUTH: main.panicMid main.recovers
func panicMid(n int) {
	panicLeaf(n)
	sum++
}

// TRUTH: main.recovers main.main libc
// TRUTH: main.recovers.func1 main.panicLeaf via
//
//go:noinline
func recovers() {
	defer func() {
		for i := 0; i < 2000; i++ {
			sum += i
		}
		recover()
	}()
	panicMid(sum)
}

//go:noinline TRUTH: main.intoC main.main libc
func intoC() {
	C.c_top(20000)
}

//go:noinline TRUTH: main.intoCAndBack main.main libc
func intoCAndBack() {
	C.c_under(20000)
}

// Inlined into what cgo makes of it. It runs on the goroutine's stack again: to
// whom C is below, that is the function that called C.
//
//export goBack
func goBack(n C.long) {
	backLeaf(int(n))
	sum++
}

//go:noinline TRUTH: main.backLeaf main.intoCAndBack via
func backLeaf(n int) {
	for i := 0; i < n; i++ {
		sum += i ^ n
	}
}

//go:noinline TRUTH: main.routineLeaf main.routineMid
func routineLeaf(n int) int {
	at := 0
	for i := 0; i < 100000; i++ {
		at += i ^ n
	}
	return at
}

//go:noinline TRUTH: main.routineMid main.routine
func routineMid(n int) int {
	var room [64]int
	room[n&63] = routineLeaf(n)
	return room[n&31]
}

// main() starts it from a function that the compiler makes.
//
// TRUTH: main.main.func1 @go
//
//go:noinline TRUTH: main.routine main.main.func1 libc
func routine(stop chan bool) {
	for {
		select {
		case <-stop:
			return
		default:
			routineMid(len(stop))
		}
	}
}

// TRUTH: main.main @go libc
func main() {
	seconds, _ := strconv.ParseFloat(os.Args[1], 64)
	end := time.Now().Add(time.Duration(seconds * 1e9))
	stop := make(chan bool)
	go routine(stop)
	for time.Now().Before(end) {
		leaves()
		for i := 0; i < 20; i++ {
			recovers()
			intoC()
			intoCAndBack()
		}
	}
	close(stop)
}
