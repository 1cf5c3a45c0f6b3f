// SPDX-License-Identifier: GPL-2.0

// Go without C, as most of it is: maps, sorting, formatting and closures, in
// goroutines that wait for each other.
package main

import (
	"fmt"
	"os"
	"sort"
	"strconv"
	"strings"
	"time"
)

type entry struct {
	name  string
	count int
}

//go:noinline
func count(words []string) map[string]int {
	counts := make(map[string]int, len(words))
	for _, word := range words {
		counts[word]++
	}
	return counts
}

//go:noinline
func order(counts map[string]int) []entry {
	entries := make([]entry, 0, len(counts))
	for name, n := range counts {
		entries = append(entries, entry{name, n})
	}
	sort.Slice(entries, func(i, j int) bool {
		return entries[i].count > entries[j].count ||
			entries[i].count == entries[j].count && entries[i].name < entries[j].name
	})
	return entries
}

//go:noinline
func deep(n int, words []string) int {
	if n > 0 {
		return deep(n-1, words) + 1
	}
	return len(fmt.Sprint(order(count(words))[:10]))
}

func main() {
	seconds, _ := strconv.ParseFloat(os.Args[1], 64)
	end := time.Now().Add(time.Duration(seconds * 1e9))
	words := strings.Fields(strings.Repeat("a b c d e f g h i j k l m n o p ", 100))
	for i := range words {
		words[i] += strconv.Itoa(i * 7919 % 300)
	}
	sum := 0
	for time.Now().Before(end) {
		sums := make(chan int)
		for i := 0; i < 2; i++ {
			go func() { sums <- deep(20, words) }()
		}
		sum += <-sums + <-sums
	}
	if sum == 0 {
		os.Exit(1)
	}
}
