#!/bin/bash
# perf record --call-graph hybrid with a kernel that has rules
# SPDX-License-Identifier: GPL-2.0
# shellcheck disable=SC2317,SC2154 # hybrid_check calls the tests, hybrid.sh sets variables

set -e

# shellcheck source=lib/hybrid.sh
. "$(dirname "$0")"/lib/hybrid.sh

clock=(-e cpu-clock:u -F 1000)

# late_share: how many percent of the samples behind the first half had no dump.
late_share()
{
	awk '
	/hybrid: samples [0-9]+ to [0-9]+: / {
		nr[++lines] = $5 - $3 + 1
		without[lines] = nr[lines] * $6 / 100
	}
	END {
		# Each line but the last is of as many samples as all before it.
		for (i = lines; i && i > lines - 2; i--) {
			all += nr[i]
			late += without[i]
		}
		print all ? int(100 * late / all) : 0
	}' "$log"
}

# record_until COMMAND... -- OPTION... PROGRAM: for longer while the command fails:
# a slow machine takes fewer samples a second, and perf longer to load rules.
record_until()
{
	local until=() span

	while [ "$1" != -- ]; do
		until+=("$1")
		shift
	done
	shift
	for span in 2 4 8 16 32; do
		record "$@" "$span" || return 1
		"${until[@]}" > "$dir/until" && return 0
	done
	cat "$dir/until" "$log"
	echo "not so after $span s: ${until[*]}"
	return 1
}

recorded() { [ "$(samples_read | tail -n 1)" -ge "$1" ]; }
without_dump() { [ "$(total 'without dump')" -ge "$1" ]; }

has_rules()
{
	recorded 3000 && without_dump 1000 && [ "$(total loaded)" -ge 10 ] &&
		[ "$(late_share)" -ge 95 ]
}

# Once it has rules, the kernel walks by itself, and nearly every sample comes
# without a dump. The chains are the true ones, before and after.
test_rules()
{
	record_until has_rules -- -v "${clock[@]}" "$calls" || return 1
	cat "$log"
	calls_are_true "$data" 2000
}

recorded_some() { recorded 1000 && without_dump 100; }

# What the file says of itself, and its chains, are those of a plain recording.
test_file()
{
	record_until recorded_some -- "${clock[@]}" "$calls" || return 1
	reads_clean "$data" || return 1
	perf evlist -v -i "$data" > "$dir/attr" || return 1
	if grep -E 'REGS_USER|STACK_USER' "$dir/attr"; then
		return 1
	fi
	perf script -D -i "$data" > "$dir/raw" 2> /dev/null || return 1
	! grep PERF_CONTEXT_USER_RULES "$dir/raw"
}

# Of the chains in the recursion, nearly all end in it, with the mark "[cut off]".
deep_is_cut()
{
	chains "$data" --max-stack 1000 | awk '
	/^leaf;middle;outer;deep;/ {
		if (/^leaf;middle;outer;(deep;)+\[cut$/) cut++
		else if (other++ < 5) print
	}
	END { print cut + 0 " cut off, " other + 0 " not"; exit cut < 1000 || other > cut / 100 }'
}

# A stack far deeper than any dump: rules read no more of it, and the chains say so.
test_deep()
{
	work_and <<- 'EOF' | build deep || return 1
	static double span;

	FN unsigned long deep(int n)
	{
		char room[10000];

		memset(room, n, sizeof(room));
		sink += *(volatile char *)room;
		if (!n) {
			work(span);
			return 1;
		}
		return deep(n - 1) + *(volatile char *)room;
	}

	int main(int argc, char **argv)
	{
		span = argc > 1 ? atof(argv[1]) : 1;
		work(span / 2);
		return deep(99) == 0;
	}
	EOF
	record_until deep_is_cut -- -v "${clock[@]}" "$dir/deep"
}

# Without, all is as on a kernel that takes no rules.
test_without_rules()
{
	record_until recorded 800 -- -v "${clock[@]}" --no-kernel-walk "$calls" || return 1
	cat "$log"
	calls_are_true "$data" 500 && ! grep -q 'without dump' "$log"
}

# The kernel takes no rules for programs on a tmpfs, which /tmp may be.
# shellcheck disable=SC2034 # hybrid_init() reads it
hybrid_tmp=/var/tmp
hybrid_init
[ -c /dev/perf_unwind_rules ] || hybrid_skip_all "no /dev/perf_unwind_rules"
hybrid_check "chains of a kernel that has rules" test_rules
hybrid_check "the file of a kernel that has rules" test_file
hybrid_check "stack deeper than the dump" test_deep
hybrid_check "without rules" test_without_rules
hybrid_done
