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
	record lines.data node --no-enable-lazy-source-positions "$here/selftests/node/truth.js" 2
	ok "$name: perf script has file and line" has_js_line lines.data
	v8_witness
	without_functions "$name" JavaScript js:: node "$here/selftests/node/truth.js" 2
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
	all_lies "V8 that lies" js_run circles nowhere names
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
		END { exit !(loop >= 20 && loop >= nr * 0.8) }' <<< "$said" && return
	sort <<< "$said" | uniq -c | sort -rn | head -n 10
	return 1
}
