#!/bin/bash
# perf record --call-graph hybrid with a kernel that is taught
# SPDX-License-Identifier: GPL-2.0
# shellcheck disable=SC2317 # hybrid_check calls the tests

set -e

# shellcheck source=lib/hybrid.sh
. "$(dirname "$0")"/lib/hybrid.sh

clock=(-e cpu-clock:u -F 1000)

# late_share: how many percent of the samples behind the 1024th had no dump.
late_share()
{
	awk '
	/hybrid: samples [0-9]+ to [0-9]+: / && $3 >= 1024 {
		nr = $5 - $3 + 1
		all += nr
		without += nr * $6 / 100
	}
	END { print all ? int(100 * without / all) : 0 }' "$log"
}

# Once it was taught, the kernel walks by itself, and nearly every sample comes
# without a dump. The chains are the true ones, before and after.
test_taught()
{
	record -v "${clock[@]}" "$calls" 4 || return 1
	cat "$log"
	calls_are_true "$data" 2000 || return 1
	[ "$(total taught)" -ge 10 ] && [ "$(total 'without dump')" -ge 1000 ] &&
		[ "$(late_share)" -ge 95 ]
}

# What the file says of itself, and its chains, are those of a plain recording.
test_file()
{
	record "${clock[@]}" "$calls" 2 || return 1
	[ "$(total 'without dump')" -ge 100 ] && reads_clean "$data" || return 1
	perf evlist -v -i "$data" > "$dir/attr" || return 1
	if grep -E 'hybrid_callchain|REGS_USER|STACK_USER' "$dir/attr"; then
		return 1
	fi
	perf script -D -i "$data" > "$dir/raw" 2> /dev/null || return 1
	! grep PERF_CONTEXT_USER_HYBRID "$dir/raw"
}

# A stack far deeper than any dump: the kernel has all of it at hand.
test_deep()
{
	work_and <<- 'EOF' | build deep || return 1
	FN unsigned long deep(int n)
	{
		char room[10000];

		memset(room, n, sizeof(room));
		sink += *(volatile char *)room;
		if (!n) {
			work(3);
			return 1;
		}
		return deep(n - 1) + *(volatile char *)room;
	}

	int main(void)
	{
		work(1);
		return deep(99) == 0;
	}
	EOF
	record -v "${clock[@]}" "$dir/deep" || return 1
	cat "$log"
	chains "$data" --max-stack 1000 | awk '
	/^leaf;middle;outer;deep;/ {
		if (gsub(/deep;/, "") == 100 && /;main;.*_start$/) whole++
		else cut++
	}
	END { print whole + 0 " whole, " cut + 0 " not"; exit whole < 1000 }'
}

# Without, all is as on a kernel that can't be taught.
test_not_taught()
{
	record -v "${clock[@]}" --no-hybrid-teach "$calls" 1 || return 1
	cat "$log"
	calls_are_true "$data" 500 && ! grep -q 'without dump' "$log"
}

hybrid_init
[ -c /dev/perf_hybrid ] || hybrid_skip_all "no /dev/perf_hybrid"
perf record -vv -e cpu-clock:u --call-graph hybrid -o "$data" true > /dev/null 2> "$log" || true
! grep -q 'switching off hybrid_callchain' "$log" ||
	hybrid_skip_all "the kernel has no hybrid_callchain"
hybrid_check "chains of a kernel that is taught" test_taught
hybrid_check "the file of a kernel that is taught" test_file
hybrid_check "stack deeper than the dump" test_deep
hybrid_check "not taught" test_not_taught
hybrid_done
