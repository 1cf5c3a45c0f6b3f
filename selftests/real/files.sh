# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0
# shellcheck disable=SC2154 # real.sh sets what is shared
#
# Where a program's file is, and what is left of it: static, stripped, without
# section headers, with its debug information elsewhere, in memory, in another
# mount namespace, deleted, replaced. The program is one of selftests/truth.

all=(--min-exact 99.9 --min-root 99.9)

# With the file from before it was stripped: its build-id is the same and its content is not, so perf
# takes names from it only if the user has put it into the build-id cache.
whole_file()
{
	local home=$PWD/whole.home

	rm -rf "$home"
	mkdir "$home"
	cp stripped.whole stripped
	HOME=$home "$perf" buildid-cache --add stripped.whole || return
	HOME=$home exact "$@"
	rm -rf "$home"
}

files_stripped()
{
	builds "stripped" gcc "${cflags[@]}" -Wl,--build-id -o stripped "$truth/libc.c" || return
	cp stripped stripped.whole
	strip stripped
	record stripped.data -N ./stripped 0.5
	whole_file "a stripped program" stripped.data "${all[@]}"

	cp stripped.whole stripped
	python3 - stripped <<- 'END'
	import sys
	with open(sys.argv[1], "r+b") as file:
	    file.seek(40); file.write(bytes(8))   # e_shoff
	    file.seek(58); file.write(bytes(6))   # e_shentsize, e_shnum, e_shstrndx
	END
	record noheaders.data -N ./stripped 0.5
	whole_file "a program without section headers" noheaders.data "${all[@]}"
}

# Only the file that .gnu_debuglink names has CFI (.debug_frame), and the names.
files_debuglink()
{
	builds "debuglink" gcc "${cflags[@]}" -g -fno-asynchronous-unwind-tables \
		-o linked "$truth/calls.c" || return
	objcopy --only-keep-debug linked linked.debug
	objcopy --strip-all --add-gnu-debuglink=linked.debug linked
	record linked.data ./linked 0.5
	# crt1.o's CFI is .eh_frame's still.
	exact "CFI and names in a separate debug file" linked.data "${all[@]}"
}

files_static()
{
	local name

	for name in calls libc; do
		builds "static" gcc "${cflags[@]}" -static -o "static-$name" "$truth/$name.c" || continue
		record "static-$name.data" "./static-$name" 0.5
		exact "a static program: $name.c" "static-$name.data" "${all[@]}"
	done
	builds "static-pie" gcc "${cflags[@]}" -static-pie -fPIE -o static-pie "$truth/libc.c" || return
	record static-pie.data ./static-pie 0.5
	exact "a static position-independent program" static-pie.data "${all[@]}"
}

# Its code is in anonymous memory, as of programs that put it on huge pages.
files_copied()
{
	builds "copied" gcc "${cflags[@]}" -static -o copied "$truth/libc.c" "$real/copied.c" || return
	record copied.data ./copied 2
	exact "a program that runs from a copy of its code" copied.data --min-exact 99 --min-root 99
	walked "a program that runs from a copy of its code" copied.data 75
}

# until_runs PID: until the process is the program gone. Before that the file is the
# shell's to open.
until_runs()
{
	while [ "$(readlink "/proc/$1/exe")" != "$PWD/gone" ] && kill -0 "$1"; do
		sleep 0.05
	done
}

# while_it_runs DATA COMMAND: records the program for a second; the command comes once it
# has begun.
while_it_runs()
{
	export -f until_runs
	record "$1" bash -c "./gone 1 & until_runs \$!; sleep 0.2; $2; wait"
}

# perf keeps a copy by build-id: that is where names come from, once all are gone.
files_gone()
{
	mkdir -p whole
	builds "deleted" gcc "${cflags[@]}" -o whole/gone "$truth/libc.c" || return
	cp whole/gone gone
	while_it_runs gone.data 'rm gone'
	cp whole/gone gone
	exact "deleted while it runs" gone.data "${all[@]}"

	gcc "${cflags[@]}" -O0 -fno-omit-frame-pointer -o other "$truth/calls.c"
	while_it_runs replaced.data 'mv other gone'
	cp whole/gone gone
	exact "replaced while it runs" replaced.data "${all[@]}"

	./gone 60 &
	local pid=$!
	until_runs $pid
	rm gone
	record late.data -p $pid -- sleep 0.5
	{ kill $pid; wait $pid; } 2> /dev/null
	cp whole/gone "gone (deleted)"
	exact "deleted before perf came (-p)" late.data --truth whole/gone "${all[@]}"
}

files_memfd()
{
	builds "memfd" gcc "${cflags[@]}" -o in-memory "$truth/libc.c" || return
	record memfd.data /usr/bin/python3 -c 'import os, sys
fd = os.memfd_create("in-memory")
os.write(fd, open("in-memory", "rb").read())
os.execve(fd, ["in-memory", "0.5"], os.environ)'
	# No file has the names: the chains are the same, address for address.
	ok "a program in a memfd" memfd_like memfd.data
}

# memfd_like FILE: whole, but for a few; and where the program ends, libc goes on.
# Python's own stack may be deeper than a dump.
memfd_like()
{
	local lost

	closing "$1"
	lost=$(sed -n '/python/d; s/^hybrid: *\([0-9]*\) .* in .*/\1/p' "$1.log" |
		awk '{ n += $1 } END { print n + 0 }')
	[ "$(outcome "$1" complete)" -ge 30 ] && [ "$lost" -le 2 ] &&
		has_chain "$1" '>__libc_start_call_main>.*>(_start|\[unknown\])>$'
}

# The program exists in the mount namespace only; so does its libc with chroot.
files_namespace()
{
	mkdir -p ns
	builds "namespace" gcc "${cflags[@]}" -o hidden "$truth/libc.c" || return
	if ! unshare -m true 2> /dev/null; then
		tap_skip "in another mount namespace" "unshare -m is not allowed here"
		return
	fi
	record ns.data unshare -m sh -c 'mount -t tmpfs none ns; cp hidden ns/; exec ns/hidden 0.5'
	cp hidden ns/hidden
	exact "in another mount namespace" ns.data --comm hidden "${all[@]}"
	rm -f ns/hidden

	# shellcheck disable=SC2016 # it is sh that expands
	record chroot.data unshare -m sh -c 'mount -t tmpfs none ns; mkdir -p ns/lib64 ns/lib
		cp hidden ns/; cp $(ldd hidden | grep -o "/[^ ]*libc[^ ]*") ns/lib/
		cp $(ldd hidden | grep -o "/[^ ]*ld-linux[^ ]*") ns/lib64/
		exec chroot ns /hidden 0.5'
	ok "under another root" root_like chroot.data
}

# root_like FILE: no name tells what is right, but no frame was without its file.
root_like()
{
	closing "$1"
	[ "$(outcome "$1" complete)" -ge 30 ] &&
		[ $(($(outcome "$1" "no map") + $(outcome "$1" "no CFI") + $(outcome "$1" "bad CFI"))) -le 2 ]
}

test_files()
{
	files_static
	files_copied
	files_stripped
	files_debuglink
	files_gone
	files_memfd
	files_namespace
}
