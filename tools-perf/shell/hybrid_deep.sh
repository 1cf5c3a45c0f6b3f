#!/bin/bash
# perf record --call-graph hybrid of stacks deeper than the dump
# SPDX-License-Identifier: GPL-2.0
# shellcheck disable=SC2317,SC2154 # hybrid_check calls the tests, hybrid.sh sets variables

set -e

# shellcheck source=lib/hybrid.sh
. "$(dirname "$0")"/lib/hybrid.sh

clock=(-e cpu-clock:u -F 1000)
inner='^leaf;middle;outer;'

# usage: build_deep NAME FRAMES [OPTION...]; of 2 KiB each: four fill a dump.
build_deep()
{
	local name=$1 frames=$2

	shift 2
	work_and <<- 'EOF' | build "$name" "-DFRAMES=$frames" -DROOM=2048 "$@"
	FN unsigned long deep(int n)
	{
		char room[ROOM];

		memset(room, n, sizeof(room));
		sink += *(volatile char *)room;
		if (!n) {
			work(0.4);
			return 1;
		}
		return deep(n - 1) + *(volatile char *)room;
	}

	int main(void)
	{
	#ifdef SHALLOW
		work(SHALLOW);
	#endif
		return deep(FRAMES - 1) == 0;
	}
	EOF
}

# With frame pointers the kernel's own walk goes on where the dump ends. In
# recursion all frames look alike: only their places on the stack tell. What
# calls main() was seen before, so that the chains are whole.
test_deep()
{
	build_deep deep-fp 61 -fno-omit-frame-pointer -DSHALLOW=0.05 || return 1
	record "${clock[@]}" --no-kernel-walk "$dir/deep-fp" || return 1
	cat "$log"
	reads_clean "$data" || return 1
	[ "$(total stitched)" -ge 80 ] && [ "$(total complete)" -lt "$(total stitched)" ] || return 1
	chains "$data" | awk -F ';' '
	/^leaf;middle;outer;deep;/ {
		n++
		frames = gsub(/deep;/, "")
		if (frames != 61 || !/;main;.*_start$/) { if (wrong++ < 5) print frames " frames of deep: " $0 }
	}
	END { print n - wrong " of " n + 0 " are true"; exit n < 80 || wrong > n / 100 }'
}

# Without, what the dump holds is right, and nothing is said to be complete.
test_deep_truncated()
{
	build_deep deep-nofp 61 &&
		record "${clock[@]}" --no-kernel-walk --call-graph hybrid,8192 "$dir/deep-nofp" ||
		return 1
	cat "$log"
	chains "$data" | true_chains "${inner}deep;deep;" '^leaf$' 80 || return 1
	[ "$(total truncated)" -ge 80 ]
}

# A dump that holds the whole stack needs no stitching.
test_deep_dump()
{
	local all

	all=$(printf 'deep;%.0s' $(seq 25))
	build_deep deep-all 25 &&
		record "${clock[@]}" --call-graph hybrid,65528 "$dir/deep-all" || return 1
	cat "$log"
	chains "$data" | true_chains "$inner${all}main;([^;]+;)*_start\$" '^leaf$' 80 || return 1
	[ "$(total complete)" -ge $(($(samples_read) * 99 / 100)) ]
}

# More frames than kernel.perf_event_max_stack's 127 and perf's own default.
test_many_frames()
{
	build_deep deep-many 300 -UROOM -DROOM=64 &&
		record "${clock[@]}" --call-graph hybrid,65528 "$dir/deep-many" || return 1
	cat "$log"
	# perf script and perf report show them without being told.
	chains "$data" | awk '
	/^leaf;middle;outer;/ { n++; if (gsub(/deep;/, "") != 300 || !/;main;/) wrong++ }
	END { print n - wrong " of " n + 0 " are true"; exit n < 80 || wrong > n / 100 }' || return 1
	perf report -i "$data" --stdio --no-children -g caller,0,callee 2> /dev/null |
		awk '/-deep$|--deep$|^ *\|? *deep$/ { n++ } END { print n + 0 " shown"; exit n < 300 }' ||
		return 1
	[ "$(chains "$data" --max-stack 127 | awk -F ';' 'NF > max { max = NF } END { print max }')" -eq 127 ] ||
		return 1
	record "${clock[@]}" --call-graph hybrid,65528 --max-stack 200 "$dir/deep-many" || return 1
	# And the mark that says so.
	[ "$(chains "$data" --max-stack 1000 | awk -F ';' 'NF > max { max = NF } END { print max }')" -eq 201 ]
}

hybrid_init
hybrid_check "deep stack, frame pointers" test_deep
hybrid_check "deep stack, none" test_deep_truncated
hybrid_check "deep stack, large dump" test_deep_dump
hybrid_check "more frames than the kernel walks" test_many_frames
hybrid_done
