# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0
# shellcheck disable=SC2154 # real.sh sets what is shared
#
# musl instead of glibc, shared and static. The programs are selftests/truth's. musl
# has neither CFI nor frame pointers: chains are right up to main(), through signal
# handlers, and end there with "no CFI".

# musl_reason FILE: no CFI, and nothing else.
musl_reason()
{
	closing "$1"
	[ "$(outcome "$1" "no CFI")" -ge 30 ] &&
		[ $(($(outcome "$1" "no map") + $(outcome "$1" "bad CFI"))) -eq 0 ]
}

test_musl()
{
	local name

	need musl-tools musl-gcc "musl" || return
	for name in calls frames; do
		local sources=("$truth/$name.c")

		[ $name != frames ] || sources+=("$truth/frames-asm.S")
		builds "musl" musl-gcc "${cflags[@]}" -o "musl-$name" "${sources[@]}" || continue
		record "musl-$name.data" "./musl-$name" 1
		exact "musl: $name.c" "musl-$name.data" --min-exact 99
	done
	builds "musl" musl-gcc "${cflags[@]}" -o musl-signals "$truth/signals.c" || return
	record musl-signals.data ./musl-signals 1
	exact "musl: signals.c" musl-signals.data --min-exact 99
	builds "musl" musl-gcc "${cflags[@]}" -static -o musl-static "$truth/calls.c" || return
	record musl-static.data ./musl-static 1
	exact "musl, static" musl-static.data --min-exact 99
	ok "musl: the reason is said" musl_reason musl-static.data
}
