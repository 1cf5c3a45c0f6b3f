# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0
#
# Part of selftests/callchain/run-tests: what a user call chain costs, in instructions that
# QEMU counts, beside the unpatched kernel and beside the figures that are known.
# shellcheck disable=SC2154,SC2317 # run-tests sets them; called by ok

cheap_enough()
{
	local with without stock

	{ read -r with; read -r without; } < "$work/cost"
	stock=$(head -n 1 "$work/cost-stock")
	echo "a chain of 20 frames: $with instructions, $without without the analysis, $stock unpatched"
	[ "$with" -gt "$stock" ] && [ $((with * 100)) -le $((stock * 140)) ]
}

# The first series alone takes less: it neither searches nor has a cache.
first_cheap_enough()
{
	local with without stock

	{ read -r with; read -r without; } < "$work/cost-first"
	stock=$(head -n 1 "$work/cost-stock")
	echo "a chain of 20 frames: $with instructions with the first series, $without" \
		"turned off, $stock unpatched"
	[ "$with" -gt 0 ] && [ $((with * 100)) -le $((stock * 125)) ]
}

# The third figure is of deferred chains.
first_deferred_cheap_enough()
{
	local with stock

	with=$(sed -n 3p "$work/cost-first")
	stock=$(sed -n 3p "$work/cost-stock")
	echo "a deferred chain of 20 frames: $with instructions with the first series, $stock unpatched"
	[ "$with" -gt "$stock" ] && [ $((with * 100)) -le $((stock * 140)) ]
}

# Of a frame: by frame pointer, and by rule.
rules_cheap_enough()
{
	local by_pointer by_rule

	{ read -r by_pointer; read -r by_rule; } < "$work/frame-cost"
	echo "a frame: $by_pointer instructions by frame pointer, $by_rule by rule"
	[ "$by_pointer" -gt 10 ] && [ "$by_rule" -gt "$by_pointer" ] &&
		[ "$by_rule" -le $((by_pointer * 5)) ]
}

# compiler KERNEL: the one that built it, as cost-figures has it.
compiler()
{
	sed -n 's/^CONFIG_CC_VERSION_TEXT="\([a-z]*\)[^"]* \([0-9]*\)\.[^"]*"$/\1-\2/p' \
		"$out/$1$at/config"
}

# cost_of WHAT: the figure, as it is known of this Linux and this compiler.
cost_of()
{
	awk -v linux="$linux" -v compiler="$(compiler kernel)" -v what="$1" '
		$1 == linux && $2 == compiler && $3 == what { print $4 }' \
		"$here/selftests/callchain/cost-figures"
}

# within_3_percent COUNTED FIGURE
within_3_percent()
{
	echo "$1 instructions, $2 by selftests/callchain/cost-figures"
	[ $(($1 * 100)) -ge $(($2 * 97)) ] && [ $(($1 * 100)) -le $(($2 * 103)) ]
}

# costs_as WHAT FILE LINE: what was counted is what the figures say.
costs_as()
{
	local figure

	figure=$(cost_of "$1")
	if [ -z "$figure" ]; then
		tap_skip "... as its figure says: $1" "none for $linux by $(compiler kernel)"
	else
		ok "... as its figure says: $1" within_3_percent "$(sed -n "$3p" "$work/$2")" "$figure"
	fi
}

# The series comes in parts for one Linux only.
first_costs()
{
	[ -z "$at" ] || return 0
	if [ ! -e "$out/kernel-first/bzImage" ]; then
		tap_skip "the first series alone: at most 1.25" "no kernel: make kernel-first"
		return
	fi
	guest cost-first cost
	boot_kernel kernel-first "$@"
	ok "the first series alone: run" ran cost-first
	ok "... at most 1.25" first_cheap_enough
	costs_as 20-frames-first-series cost-first 1
	costs_as 20-frames-first-series-off cost-first 2
	ok "... deferred: at most 1.40" first_deferred_cheap_enough
	costs_as 20-frames-first-series-deferred cost-first 3
}

costs()
{
	local counted=(--cpus 1 --qemu=-icount --qemu=shift=0)

	guest cost cost
	guest frame-cost frame-cost
	boot_kernel kernel "${counted[@]}"
	guest cost-stock cost
	boot_kernel kernel-stock "${counted[@]}"
	ok "cost: run" ran cost
	ok "... unpatched: run" ran cost-stock
	ok "... at most 1.40" cheap_enough
	costs_as 20-frames cost 1
	costs_as 20-frames-turned-off cost 2
	costs_as 20-frames-unpatched cost-stock 1
	# Linux 6.12 has no deferred call chains.
	[ -n "$at" ] || costs_as 20-frames-deferred-unpatched cost-stock 3
	first_costs "${counted[@]}"
	ok "a frame's cost: run" ran frame-cost
	ok "... at most 5 by rule" rules_cheap_enough
	costs_as a-frame-by-pointer frame-cost 1
	costs_as a-frame-by-rule frame-cost 2
}
