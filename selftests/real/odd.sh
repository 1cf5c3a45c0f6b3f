# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0
# shellcheck disable=SC2154 # real.sh sets what is shared
#
# Stacks that jump (odd.c).

test_odd()
{
	builds "odd" gcc "${cflags[@]}" -z execstack -o odd "$real/odd.c" || return
	record odd.data ./odd 1
	# The code on the stack itself has no file, and no frame pointer of its own.
	exact "contexts, longjmp, trampolines" odd.data --min-exact 99 --min-root 99
}
