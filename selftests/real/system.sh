# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0
# shellcheck disable=SC2154 # real.sh sets what is shared
#
# Samples of the kernel (system.c): its chain, then the user's from the stub of
# the system call on, or from the instruction that faulted. And of execve(), which has
# no stack any more when it is half done.

# of_kernel FILE PATTERN: a chain that begins in the kernel and goes on so.
of_kernel()
{
	has_chain "$1" "^.*(do_syscall_64|asm_exc_page_fault|entry_SYSCALL_64[^>]*)>$2" || {
		echo "no such chain"
		return 1
	}
}

# dash makes its children by vfork(): each gives its address space back to the shell
# before it has one of its own, and the shell runs on, on the same stack. What samples
# show of that is judged as every recording is.
vforks()
{
	need dash dash "execve() of children of vfork()" || return
	hz=10000 record vfork.data timeout 2 dash -c 'while :; do /bin/true; /bin/true; done'
	has_chain vfork.data '^[^>]*>.*execve>' > /dev/null
	tap $? "execve() of children of vfork()" "no sample of execve()"
}

test_system()
{
	local root='main>__libc_start_call_main>.*>_start>$'

	builds "system" gcc "${cflags[@]}" -o system "$real/system.c" || return
	event=cpu-clock:k record system.data ./system 1
	exact "samples of the kernel only" system.data --min-exact 99.9 --min-root 99.9
	ok "a system call through libc" of_kernel system.data "[^>]*read>do_read>reading>$root"
	ok "a system call without" of_kernel system.data "raw_call>raw_calls>$root"
	ok "a page fault" of_kernel system.data "touch_leaf>touch>faulting>$root"
	vforks
}
