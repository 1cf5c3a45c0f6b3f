# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0
# shellcheck disable=SC2154 # real.sh sets what is shared
#
# CFI that only a server of debug information has: .debug_frame of a stripped
# program, by its build-id, from elfutils' debuginfod on this machine.

# serve DIRECTORY: sets server, port and DEBUGINFOD_URLS, once it has what is there.
serve()
{
	local try

	for port in 8{7..9}{1..9}{3,7}; do
		debuginfod -p "$port" -d :memory: -F "$1" > debuginfod.log 2>&1 &
		server=$!
		for ((try = 0; try < 100; try++)); do
			kill -0 "$server" 2> /dev/null || break
			export DEBUGINFOD_URLS=http://127.0.0.1:$port
			debuginfod-find debuginfo served.whole > /dev/null 2>&1 && return
			rm -rf "$DEBUGINFOD_CACHE_PATH"
			sleep 0.2
		done
		kill "$server" 2> /dev/null
		wait "$server" 2> /dev/null
	done
	cat debuginfod.log
	return 1
}

test_debuginfod()
{
	local server port
	export DEBUGINFOD_CACHE_PATH=$work/debuginfod-cache

	need debuginfod debuginfod "debuginfod" || return
	need debuginfod debuginfod-find "debuginfod" || return
	builds "debuginfod" gcc "${cflags[@]}" -g -fno-asynchronous-unwind-tables \
		-Wl,--build-id -o served.whole "$truth"/frames.c "$truth"/frames-asm.S || return
	rm -rf served-files "$DEBUGINFOD_CACHE_PATH"
	mkdir served-files
	objcopy --only-keep-debug served.whole served-files/served.debug
	cp served.whole served
	strip served

	ok "without a server some have no CFI" not_whole
	serve "$work/served-files" || { tap 1 "debuginfod serves" "$(cat debuginfod.log)"; return; }
	# Without the option perf asks no server.
	record served.data -N --debuginfod ./served 2
	kill "$server"
	wait "$server" 2> /dev/null
	unset DEBUGINFOD_URLS
	cp served.whole served
	exact "CFI from a debuginfod server" served.data --min-exact 99.9 --min-root 99.9
}

# Most frames the code tells, and a realigned stack in runs in which it happens to
# be aligned: one run in two or three is enough.
not_whole()
{
	for _ in {1..12}; do
		record served.data -N ./served 1
		[ "$(outcome served.data "no CFI")" -lt 10 ] || return 0
	done
	closing served.data
	return 1
}
