# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0
#
# Part of the tests of the module: the tutorial's example on a kernel without the
# analysis, before the module is loaded, with it, with it turned off, and after.
# shellcheck disable=SC2154 # scripts/lib.sh sets $here and $out, the test $work

# guest NAME KO ARGUMENT...: plans selftests/module/guest with these.
guest()
{
	plan "$1" env KO="$2" selftests/module/guest "${@:3}"
}

# chains NAME WORD [SIGN]: the two chains of the tutorial's example are exact.
chains()
{
	lines "$1" "^$2 10 func_d func_c func_b func_a main __libc_start_call_main${3:-}$" 1 &&
		lines "$1" "^$2 10 func_d handler __restore_rt .*raise func_b func_a main __libc_start_call_main${3:-}$" 1
}

# lost NAME WORD [SIGN]: both lack a caller.
lost()
{
	lines "$1" "^$2 10 func_d func_b func_a main __libc_start_call_main${3:-}$" 1 &&
		lines "$1" "^$2 10 func_d __restore_rt func_a main __libc_start_call_main${3:-}$" 1
}

same_statistics()
{
	diff <(grep -E '^loaded [a-z_]+ [0-9]+$' "$work/$1" | cut -d' ' -f2-) \
		<(grep -E '^off [a-z_]+ [0-9]+$' "$work/$1" | cut -d' ' -f2-)
}

counts()
{
	lines "$1" '^loaded samples 20$' 1 && lines "$1" '^loaded restored_signal 10$' 1 &&
		lines "$1" '^loaded restored_scan_sp 40$' 1 && lines "$1" '^loaded unknown 0$' 1
}

# What all kernels without the analysis have to show.
example()
{
	local name=$1

	ok "$name: the example: run" ran switch
	ok "$name: ... not loaded, func_c() is lost" lost switch before
	ok "$name: ... loaded, it is there" chains switch loaded
	ok "$name: ... and counted" counts switch
	ok "$name: ... turned off, it is lost" lost switch off
	ok "$name: ... nothing is counted" same_statistics switch
	ok "$name: ... and ftrace has no handler" lines switch '^handlers 0$' 1
	ok "$name: ... turned on, it is there" chains switch on
	ok "$name: ... unloaded, it is lost" lost switch after
}

# build_programs TARGET...: of part callchain, which may build them at the same time.
build_programs()
{
	build_in callchain \
		OUT="$out/selftests/callchain" \
		KHDR_INCLUDES="-isystem $out/build/kernel/usr/include" "$@"
}
