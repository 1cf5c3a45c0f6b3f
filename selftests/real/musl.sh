# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0
# shellcheck disable=SC2154 # real.sh sets what is shared
#
# musl instead of glibc, shared and static. The programs are selftests/truth's. musl has neither CFI
# nor frame pointers. Chains are whole, but for those of the dynamic linker's first functions, which
# never return: how long they take is the machine's.

# test_musl_program TEXT NAME OPTION...: selftests/truth/NAME.c, built with these.
test_musl_program()
{
	local text=$1 name=$2 file=musl-$2 sources=("$truth/$2.c")
	shift 2

	[ $# -eq 0 ] || file+=$(tr -d ' ' <<< "$*")
	[ "$name" != frames ] || sources+=("$truth/frames-asm.S")
	builds "musl" musl-gcc "${cflags[@]}" "$@" -o "$file" "${sources[@]}" || return
	record "$file.data" "./$file" 2
	exact "$text" "$file.data" --min-exact 99
	complete "$text: to the outermost frame" "$file.data" 1000 99
}

test_musl()
{
	local name

	need musl-tools musl-gcc "musl" || return
	for name in calls frames signals threads; do
		test_musl_program "musl: $name.c" "$name"
		test_musl_program "musl, static: $name.c" "$name" -static
	done
}
