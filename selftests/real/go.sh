# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0
# shellcheck disable=SC2154 # real.sh sets what is shared
#
# Go (go/): its own stacks, C's, and the way between.

# never_lost FILE LEAF CALLER: each sample but one in LEAF, whatever it calls above it, has
# CALLER below. Not those in a handler of the runtime, which asks goroutines to
# stop by signals: it has a stack of its own, and the dump ends with that.
never_lost()
{
	local all right

	all=$(chains_of "$1" | grep -v 'runtime.sigtramp' | grep -c "$2>")
	right=$(chains_of "$1" | grep -v 'runtime.sigtramp' | grep -c "$2>$3>")
	echo "$right of $all samples of $2() have $3()"
	[ "$all" -ge 10 ] && [ "$right" -ge $((all - 1 - all / 100)) ]
}

# lost_in_asmcgocall FILE: what the stack switch leads to is counted as incomplete,
# and little else is.
lost_in_asmcgocall()
{
	local lost counted

	lost=$(chains_of "$1" | grep -cE 'runtime.(asmcgocall|systemstack|mcall)')
	counted=$(($(outcome "$1" "no map") + $(outcome "$1" "no CFI") + $(outcome "$1" "bad CFI")))
	closing "$1"
	echo "$lost with a switch of stacks"
	[ "$lost" -ge 5 ] && [ "$counted" -le $((lost + lost / 10 + 5)) ] && [ "$lost" -le $((counted + lost / 4)) ]
}

test_go()
{
	local judge

	need golang-go go "Go" || return
	export GOCACHE=$work/go-cache GO111MODULE=off GOFLAGS=
	builds "Go" sh -c "cd '$real/go' && go build -o '$work/go-program'" || return
	sed 's, \*/$,,' "$real"/go/* > go.table
	record go.data ./go-program 1
	# Threads of the runtime have none of the functions.
	# C runs on another stack than the goroutine that called it, and the CFI of
	# runtime.asmcgocall does not say so: what old words on that stack lead to
	# ends in no map.
	judge=(--table go.table --around 20)
	exact "Go, cgo, panics" go.data "${judge[@]}" --min-exact 75 --min-root 75
	ok "where stacks are switched, chains are counted as incomplete" lost_in_asmcgocall go.data
	ok "the caller of a leaf" never_lost go.data main.leaf main.leaves
	ok "the caller of a function that copies" never_lost go.data main.duff main.leaves
	ok "a goroutine ends in runtime.goexit" has_chain go.data \
		'^main.routineLeaf>main.routineMid>main.routine>main.main.func1>runtime.goexit[^>]*>$'
	ok "C called by Go" has_chain go.data '^c_leaf>c_top>runtime.asmcgocall'
	ok "Go called by C" has_chain go.data \
		'main.backLeaf>.*goBack>runtime.cgocallbackg.*>runtime.cgocall>.*main.intoCAndBack>main.main>'
}
