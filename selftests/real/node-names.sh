# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0
# shellcheck disable=SC2154 # real.sh sets what is shared
#
# JavaScript by name (selftests/node/truth.js), without an option of Node.js that writes names.
# Functions that V8 has inlined are in the chains, too.

test_node-names()
{
	local name="JavaScript by name" log=js.data.log

	need nodejs node "Node.js" || return
	record js.data node "$here/selftests/node/truth.js" 5
	if ! grep -q '^hybrid: BPF walked' "$log"; then
		tap_skip "$name" "no BPF here"
		return
	fi
	# Fewer than asked of a quiet machine: first samples come before perf has found V8.
	ok "$name" "$here/selftests/python/judge" --js --min-whole 95 "$perf" js.data
	ok "$name: perf script has file and line" has_js_line js.data
	record plain.data --no-interpreter-frames node "$here/selftests/node/truth.js" 1
	ok "$name: not with --no-interpreter-frames" no_js plain.data
	record dumps.data --no-kernel-walk node "$here/selftests/node/truth.js" 2
	ok "$name: without BPF perf says that it shows none" \
		grep -q '^hybrid: functions of JavaScript are not shown' dumps.data.log
}

no_js()
{
	! "$perf" script -i "$1" --no-inline -F ip,sym 2> /dev/null | grep -m 1 'js::'
}

# The lines that the function has. addr2line takes seconds for an address of node's own code, so
# this asks for innermost frames only.
has_js_line()
{
	local file=$here/selftests/node/truth.js said first last

	first=$(grep -n '^function p_round_of_run' "$file" | cut -d: -f1)
	last=$(awk -v first="$first" 'NR > first && /^}/ { print NR; exit }' "$file")
	said=$("$perf" script -i "$1" --no-inline -F ip,sym,srcline --dsos js-functions \
		--max-stack 1 2> /dev/null |
		grep -A 1 'js::p_round_of_run ' | grep -v -e js:: -e '^--' | sort -u)
	awk -F: -v first="$first" -v last="$last" '/truth\.js:[0-9]+$/ && $NF >= first &&
		$NF <= last { found = 1 } END { exit !found }' <<< "$said" && return
	head -n 10 <<< "$said"
	return 1
}
