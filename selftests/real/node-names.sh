# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0
# shellcheck disable=SC2154 # real.sh sets what is shared
#
# JavaScript by name (selftests/node/truth.js), without an option of Node.js that writes names.
# Functions that V8 has inlined are in the chains, too.

test_node-names()
{
	local name="JavaScript by name" log=js.data.log

	v8_lies
	need nodejs node "Node.js" || return
	record js.data node "$here/selftests/node/truth.js" 5
	if ! grep -q '^hybrid: BPF walked' "$log"; then
		tap_skip "$name" "no BPF here"
		return
	fi
	# Fewer than asked of a quiet machine: first samples come before perf has found V8.
	ok "$name" "$here/selftests/python/judge" --js --min-whole 95 "$perf" js.data
	# Without this option V8 has no lines of a function until one is asked for.
	record lines.data node --no-enable-lazy-source-positions "$here/selftests/node/truth.js" 4
	ok "$name: perf script has file and line" has_js_line lines.data
	v8_witness
	v8_gone
	without_functions "$name" JavaScript js:: node "$here/selftests/node/truth.js" 4
}

# perf is stopped while a program runs and ends: all that it can find out of it is what BPF has
# written. It has run before, so that BPF has rules of the builtins that it calls.
v8_gone()
{
	local name="JavaScript by name, read after its end"

	cp "$here/selftests/node/short.js" before.js
	cp before.js gone.js
	# shellcheck disable=SC2016 # it is the shell's that runs
	record gone.data -m 4M sh -c 'for i in 1 2; do node --jitless "$PWD/before.js"; done; sleep 0.5
		kill -STOP $PPID; node --jitless "$PWD/gone.js"; kill -CONT $PPID'
	ok "$name: whole" has_share gone.data 'Builtins_InterpreterEntryTrampoline>.*>_start>' \
		'Builtins_InterpreterEntryTrampoline>js::[^[>]*>.*>_start>' 95
	ok "$name: a name and its line" has_chain gone.data \
		'js::größe € [^>]*/gone\.js:20>.*>js::main [^>]*/gone\.js:24>.*>_start>'
	ok "$name: a method and its line" has_chain gone.data 'js::fill [^>]*/gone\.js:10>'
	ok "$name: lines of Node.js's own functions" has_chain gone.data \
		'js::[^ >]+ node:internal/modules/[^>]+:[0-9]+>'
	rm -f gone.data before.js gone.js
}

# V8 writes its own names, too, in a map.
v8_witness()
{
	local name="JavaScript by name, and by V8"

	record witness.data node --perf-basic-prof "$here/selftests/node/truth.js" 4
	ok "$name: the same" "$here/selftests/node/witness" "$perf" witness.data
	forget_maps witness.data
	rm -f witness.data
}

# A process that says it is V8: perf ends, and its file is small enough.
v8_lies()
{
	builds "liar" gcc -O1 -Wall -Wextra -rdynamic -o liar "$here/selftests/node/liar.c" \
		-lpthread || return
	all_lies "V8 that lies" js_run circles nowhere names scopes
}

# Compiled code, too, is in the lines of the function's loop. addr2line takes seconds for an address
# of node's own code, so this asks for innermost frames only.
has_js_line()
{
	local file=$here/selftests/node/truth.js said first

	first=$(grep -n '^function p_busy_of_thread' "$file" | cut -d: -f1)
	said=$("$perf" script -i "$1" --no-inline -F ip,sym,srcline --dsos js-functions \
		--max-stack 1 2> /dev/null |
		grep -A 1 'js::p_busy_of_thread ' | grep -v -e js:: -e '^--')
	awk -F: -v first="$first" '/truth\.js:[0-9]+$/ { nr++ }
		/truth\.js:[0-9]+$/ && $NF >= first + 3 && $NF <= first + 4 { loop++ }
		END { exit !(loop >= 3 && loop >= nr * 0.8) }' <<< "$said" && return
	sort <<< "$said" | uniq -c | sort -rn | head -n 10
	return 1
}
