# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0
# shellcheck disable=SC2154 # real.sh sets what is shared
#
# Stacks in pieces (stacks.c): right as far as the dump shows, and the reason said.

# only_truncated FILE: what is not whole is so because the stack goes on elsewhere.
only_truncated()
{
	closing "$1"
	[ "$(outcome "$1" truncated)" -ge 1 ] &&
		[ $(($(outcome "$1" "no map") + $(outcome "$1" "no CFI") + $(outcome "$1" "bad CFI"))) -le 2 ]
}

# right_prefix FILE: only frames that may stand there, in their order, and no more
# of split() than there are. Before main() and after it is no split().
right_prefix()
{
	local own='(split_leaf>)?((__morestack>)?split>){0,20}'
	local root='(split_start>(__morestack>)?(main>(__libc_start[^>]*>)*(_start>)?)?)?'
	local above='([^>]*sigmask[^>]*>)?((__morestack_|__generic_)[^>]*>)?(__morestack>)?'
	local wrong

	wrong=$(chains_of "$1" | sed -E 's/^.*(entry_SYSCALL_64|asm_)[^>]*>//' | grep split |
		grep -vE "^$above$own(__morestack>)?$root$")
	sort <<< "$wrong" | uniq -c | sort -rn | head -n 5
	[ "$(grep -c . <<< "$wrong")" -le 3 ]
}

test_stacks()
{
	builds "alternate stack" gcc "${cflags[@]}" -o above "$real/stacks.c" || return
	record above.data --no-kernel-walk ./above 1
	ok "an alternate stack above the thread's: no wrong chain" no_wrong above.data
	ok "an alternate stack above the thread's: truncated" only_truncated above.data
	builds "-fsplit-stack" gcc "${cflags[@]}" -DSPLIT -fsplit-stack -o split "$real/stacks.c" ||
		return
	record split.data --no-kernel-walk ./split 1
	ok "-fsplit-stack: no wrong chain" right_prefix split.data
	ok "-fsplit-stack: truncated" only_truncated split.data
}
