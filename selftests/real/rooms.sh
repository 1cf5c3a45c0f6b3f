# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0
# shellcheck disable=SC2154 # real.sh sets what is shared
#
# Large frames (rooms.c), and programs that have them, by the default options.

# share FILE OUTCOME PERCENT: at least so many of the samples.
share()
{
	local all

	all=$(sed -n 's/.*perf record: hybrid: \([0-9]*\) samples.*/\1/p' "$1.log")
	closing "$1"
	[ "${all:-0}" -ge 30 ] && [ $(($(outcome "$1" "$2") * 100)) -ge $((all * $3)) ]
}

# no_advice FILE: no larger dump would show more.
no_advice()
{
	closing "$1"
	! grep 'are deeper than' "$1.log"
}

# rooms_of NAME PACKAGE PERCENT COMMAND...: that share is known to the outermost frame.
rooms_of()
{
	local name=$1 package=$2 percent=$3
	shift 3

	need "$package" "$1" "$name" || return
	record "$name.data" "$@"
	complete "$name" "$name.data" 30 "$percent"
}

test_rooms()
{
	builds "large frames" gcc -O2 -g0 -fomit-frame-pointer -Wall -pthread -o rooms "$real/rooms.c" ||
		return
	record wide.data ./rooms wide 1
	complete "an array of 20 KiB" wide.data 100 98
	mode=hybrid,8192 record narrow.data --no-kernel-walk ./rooms wide 1
	ok "the same, of which 8 KiB are copied" share narrow.data truncated 80
	# The first samples have perf make the pages be there, as soon as it is run.
	record holed.data --no-kernel-walk ./rooms holed 2
	ok "pages that were never touched" share holed.data complete 50
	ok "no larger dump is advised" no_advice holed.data
	record once.data --no-kernel-walk ./rooms once 2
	complete "a frame larger than any copy, of a call that is made once" once.data 100 95
	ok "the process was asked" share once.data stitched 80
	ok "huge() is called by the thread's first function" \
		has_chain once.data '>huge>once>'
	record among.data --no-kernel-walk ./rooms among 2
	complete "the same, of one call among others" among.data 100 95
	ok "huge() is called by the function with other calls" \
		has_chain among.data '>huge>among>'
	record either.data --no-kernel-walk ./rooms either 2
	ok "two functions that call it: not said which" share either.data truncated 80
	record twice.data --no-kernel-walk ./rooms twice 2
	ok "one of two calls: not said which" share twice.data truncated 80
	[ -n "$full" ] || return
	rooms_of magick imagemagick 99 convert-im6.q16 -size 900x700 plasma:red-blue -blur 0x4 \
		-resize 70% -rotate 20 picture.jpg
	rooms_of fio fio 98 fio --name=a --rw=randread --size=16m --ioengine=psync --time_based \
		--runtime=3 --output=fio.out --thread
	awk 'BEGIN { for (i = 1; i <= 30000; i++)
		printf "int f%d(int a) { return a ? f%d(a - 1) * 3 : 5; }\n", i, i }' > functions.c
	rooms_of tcc tcc 98 sh -c 'for i in 1 2 3 4 5 6; do tcc -c functions.c -o functions.o; done'
	cp "$here/Documentation/internals.md" document.txt
	rooms_of libreoffice libreoffice-writer-nogui 98 soffice --headless --convert-to pdf \
		document.txt
	rm -f a.0.0 functions.* document.* picture.jpg
}
