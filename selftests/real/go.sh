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

# few_at_a_switch FILE: the goroutine that waits for C, or for the runtime's own code on
# another stack, is found by the kernel's frame pointers: one chain in fifty may end there,
# and a few of the first samples, whose dumps hold none but the stack in use.
few_at_a_switch()
{
	local all lost

	closing "$1"
	all=$(chains_of "$1" | grep -cE 'runtime.(asmcgocall|systemstack)[^_]')
	lost=$(chains_of "$1" | grep -cE 'runtime.(asmcgocall|systemstack)[^_>]*>$')
	echo "$lost of $all chains end at a switch of stacks"
	[ "$all" -ge 20 ] && [ "$lost" -le $((4 + all / 50)) ]
}

# waits_in FILE SWITCH CALLER: behind that switch of stacks stands the caller. The first
# samples have dumps, which do not hold the other stack: how many these are is a matter of
# the machine's load, so that one chain in three may end there.
waits_in()
{
	local all right

	all=$(chains_of "$1" | grep -cE ">$2")
	right=$(chains_of "$1" | grep -cE ">$2$3")
	echo "$right of $all chains go on"
	[ "$right" -ge 1 ] && [ $((right * 3)) -ge $((all * 2 - 2)) ]
}

# whole NAME PERCENT DIRECTORY OPTIONS...: the program of a directory, linked in another
# way: so many of its chains go to the root.
whole()
{
	local name=$1 percent=$2 dir=$3
	shift 3

	builds "Go, $name" env -C "$real/$dir" go build "$@" -o "$work/go-${name// /-}" || return
	record "go-${name// /-}.data" "./go-${name// /-}" 1
	complete "Go, $name" "go-${name// /-}.data" 30 "$percent"
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
	judge=(--table go.table --around 20)
	exact "Go, cgo, panics" go.data "${judge[@]}" --min-exact 95 --min-root 95
	ok "chains go on where stacks are switched" few_at_a_switch go.data
	ok "the caller of a leaf" never_lost go.data main.leaf main.leaves
	ok "the caller of a function that copies" never_lost go.data main.duff main.leaves
	ok "a goroutine ends in runtime.goexit" has_chain go.data \
		'^main.routineLeaf>main.routineMid>main.routine>main.main.func1>runtime.goexit[^>]*>$'
	ok "C called by Go" has_chain go.data '^c_leaf>c_top>runtime.asmcgocall[^>]*>runtime.cgocall>main._Cfunc_c_top[^>]*>main.intoC>main.main>runtime.main>runtime.goexit'
	ok "Go called by C" has_chain go.data \
		'main.backLeaf>.*goBack>runtime.cgocallbackg.*>runtime.cgocall>.*main.intoCAndBack>main.main>'
	# Go's own linker has left out all CFI of these, of Go's part.
	whole "stripped" 90 go -ldflags="-s -w"
	whole "static" 95 go -ldflags='-linkmode external -extldflags -static'
	whole "static stripped" 90 go -ldflags='-s -w -linkmode external -extldflags -static'
	whole "PIE stripped" 90 go -buildmode=pie -ldflags="-s -w"
	# The collector, its write barriers and what makes stacks larger.
	whole "without C" 97 go-plain
	ok "the collector's workers are goroutines" waits_in go-without-C.data \
		'runtime.gcBgMarkWorker.func[0-9]*>runtime.systemstack[^>]*>' \
		'runtime.gcBgMarkWorker>runtime.goexit[^>]*>$'
	ok "whose stack was too small" waits_in go-without-C.data \
		'runtime.copystack>runtime.newstack>runtime.morestack[^>]*>' '.*main.deep>'
	whole "without C stripped" 97 go-plain -ldflags="-s -w"
	whole "without C PIE stripped" 97 go-plain -buildmode=pie -ldflags="-s -w"
}
