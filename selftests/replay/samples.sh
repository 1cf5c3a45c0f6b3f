# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0
#
# Samples made by hand, of tools-perf/test/asm/frames.S: which frames there are,
# and by which rules, is known. Sourced; $work has frames.so.
# shellcheck disable=SC2154 # the one that sources it sets $work
# shellcheck disable=SC2034 # and reads what is set here

bias=0x7f0000000000
stack=0x7ffc00010000

# address LABEL: in the process.
address()
{
	local vaddr

	vaddr=$(nm "$work/frames.so" | awk -v label="$1" '$3 == label { print $1 }')
	printf '%x\n' $((bias + 0x$vaddr))
}

# head_of REGISTER=VALUE...: all up to the stack, with the code of frames.so mapped.
head_of()
{
	local register offset vaddr size

	echo "hybrid-sample 1"
	echo "abi 64"
	for register; do
		echo "${register/=/ }"
	done
	read -r offset vaddr size < <(readelf -lW "$work/frames.so" |
		awk '$1 == "LOAD" && /R E/ { print $2, $3, $5 }')
	printf 'map %x %x %x /frames.so\n' $((bias + vaddr)) \
		$((bias + ((vaddr + size + 4095) & -4096))) $((offset))
	printf 'stack %x\n' $((stack))
}

# words VALUE...: as they are in memory.
words()
{
	local value

	for value; do
		printf '%016x\n' "0x$value" | sed -E 's/(..)(..)(..)(..)(..)(..)(..)(..)/\8\7\6\5\4\3\2\1/'
	done
}

# place BYTES: that far up the stack.
place()
{
	printf '%x\n' $((stack + $1))
}

# What the sample of plain() must come to, in its order.
plain_frames="leaf pushed bpframe nocfi outer"

plain()
{
	head_of rip="$(address leaf_at)" rsp="$(place 0)" rbp="$(place 48)"
	words "$(address pushed_ret)"
	words 0 0 0 "$(address bpframe_ret)"
	words 0 "$(place 72)" "$(address nocfi_ret)"
	words 0 0 "$(address outer_ret)"
	echo end
}

# By an expression, and by a CFA that is in memory.
expression_frames="plt realign outer"

expression()
{
	head_of rip="$(address plt_low)" rsp="$(place 0)" rbp="$(place 24)"
	words "$(address realign_ret)" 0 "$(place 48)" 0 0 "$(address outer_ret)"
	echo end
}

# A handler that interrupted pushed(), which outer() called.
signal_frames="leaf sigframe pushed outer"

signal()
{
	local i

	head_of rip="$(address leaf_at)" rsp="$(place 0)" rbp=0
	words "$(address sigframe_ret)"
	for ((i = 0; i < 20; i++)); do
		words 0
	done
	words "$(place 192)" "$(address pushed_at)" 0
	words 0 0 0 "$(address outer_ret)"
	echo end
}
