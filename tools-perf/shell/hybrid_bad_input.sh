#!/bin/bash
# perf record --call-graph hybrid: bad options, bad files, full disks, signals (exclusive)
# SPDX-License-Identifier: GPL-2.0
# shellcheck disable=SC2317,SC2154 # hybrid_check calls the tests, hybrid.sh sets variables

set -e

# shellcheck source=lib/hybrid.sh
. "$(dirname "$0")"/lib/hybrid.sh

# size_refused SIZE: one line that quotes it and states the valid range.
size_refused()
{
	one_line "'$1'.*range 8 to 65528" perf record --call-graph "hybrid,$1" -o "$data" true
}

top_refused()
{
	one_line "'$1'.*range 8 to 65528" timeout 300 perf top --call-graph "hybrid,$1" --stdio -p $$
}

# The same for the size of one event.
term_refused()
{
	one_line "$1.*range 8 to 65528" \
		perf record -e "cpu-clock/call-graph=hybrid,stack-size=$1/u" -o "$data" true
}

# config TEXT: what perf reads in place of its configuration.
config()
{
	printf '[call-graph]\n%s\n' "$1" > "$dir/config"
	export PERF_CONFIG=$dir/config
}

# The same for the one of the configuration, before and behind the mode.
config_refused()
{
	(
		config $'record-mode=hybrid\ndump-size='"$1"
		one_line "'$1'.*range 8 to 65528" perf record -g -o "$data" true
	) && (
		config "dump-size=$1"
		one_line "'$1'.*range 8 to 65528|Incorrect stack dump size.* $1$" \
			perf record --call-graph hybrid -o "$data" true
	)
}

# The configured size is what the kernel is asked for.
test_config_size()
{
	(
		config 'dump-size=1024'
		perf record -vv --call-graph hybrid -e cpu-clock:u -o "$data" true 2>&1 |
			grep -E 'sample_stack_user +1024'
	) && (
		config $'record-mode=hybrid\ndump-size=1000'
		perf record -vv -g -e cpu-clock:u -o "$data" true 2>&1 |
			grep -E 'sample_stack_user +1000'
	) && (
		config $'dump-size=1024'
		perf record -vv --call-graph hybrid,2048 -e cpu-clock:u -o "$data" true 2>&1 |
			grep -E 'sample_stack_user +2048'
	)
}

size_works()
{
	record -e cpu-clock:u -F 1000 --call-graph "hybrid,$1" "$calls" 0.1 &&
		reads_clean "$data" && chains "$data" | grep -q '^leaf'
}

unknown_mode()
{
	one_line "Unknown --call-graph option.*$1" \
		perf record --call-graph "$1" -o "$data" true
}

# A trace event of the kernel's own functions has no user registers: perf says
# so itself, and the rest goes on.
test_no_callchain()
{
	local said

	record -e '{bpf-output,cpu-clock:u}' "$calls" 0.1 2> "$log" || {
		said=$(perf record -g -e '{bpf-output,cpu-clock:u}' -o "$data" true 2>&1 | tail -n 1)
		grep -q "$said" "$log" && echo "not on this machine" && return 77
		return 1
	}
	reads_clean "$data"
}

test_dummy()
{
	record -e dummy:u true && [ "$(samples_read)" -eq 0 ]
}

# What perf's own --kernel-callchains leaves out is not put in again.
test_exclude()
{
	record -e cpu-clock -F 1000 --kernel-callchains "$calls" 0.2 || return 1
	[ "$(grep -c "kernel-callchains leaves out what --call-graph hybrid" "$log")" -eq 1 ] ||
		{ cat "$log"; return 1; }
	! chains "$data" --comm calls | grep -q 'main' || return 1
	record -e cpu-clock -F 1000 --user-callchains "$calls" 0.2 || return 1
	chains "$data" --comm calls | true_chains "$calls_true" "$calls_own" 40 &&
		! chains "$data" | grep -q entry_SYSCALL
}

record_dwarf()
{
	[ -s "$dir/dwarf.data" ] && return
	perf record -e cpu-clock:u -F 1000 --call-graph dwarf -o "$dir/dwarf.data" "$calls" 0.6 \
		> /dev/null 2> "$log" || { cat "$log"; return 1; }
	# File offset and size of the 100th sample.
	read -r offset size < <(perf report -D -i "$dir/dwarf.data" 2> /dev/null |
		sed -n 's/^[^ ]* [^ ]* *\(0x[0-9a-f]*\) \[\(0x[0-9a-f]*\)\]: PERF_RECORD_SAMPLE.*/\1 \2/p' |
		sed -n 100p)
	[ -n "$size" ]
}

# convert FILE: fails, names the offset in one line, and keeps what came before.
convert()
{
	local file=$1 at=$2 status=0 kept

	rm -f "$dir/converted"
	timeout 300 perf inject --convert-callchain --unwind-style hybrid -i "$file" \
		-o "$dir/converted" > "$log" 2>&1 || status=$?
	cat "$log"
	case $status in
	0|124|134|137|139) echo "exit status $status"; return 1 ;;
	esac
	[ "$(grep -c "$at" "$log")" -eq 1 ] || { echo "no line names $at"; return 1; }
	kept=$(chains "$dir/converted" | grep -c '^leaf;middle;outer;main;')
	echo "kept: $kept of 99"
	[ "$kept" -ge 50 ]
}

test_corrupt()
{
	record_dwarf && cp "$dir/dwarf.data" "$dir/corrupt" || return 1
	# A size that is less than that of the header itself.
	printf '\x04\x00' | dd of="$dir/corrupt" bs=1 seek=$((offset + 6)) conv=notrunc 2> /dev/null
	convert "$dir/corrupt" "$offset"
}

# In the midst of the 100th sample's dump. The header's own sections, which stand
# at the end, are gone.
test_cut()
{
	record_dwarf || return 1
	head -c $((offset + size / 2)) "$dir/dwarf.data" > "$dir/cut"
	convert "$dir/cut" "$offset:" && grep -q 'is cut off at 0x.* are missing' "$log"
}

# Between two samples: what is there is whole, and yet not all.
test_cut_between()
{
	record_dwarf || return 1
	head -c $((offset)) "$dir/dwarf.data" > "$dir/cut"
	convert "$dir/cut" "is cut off at $offset, in its data"
}

# perf script and perf report show what is there, and fail.
test_cut_read()
{
	local status=0 kept

	record_dwarf || return 1
	head -c $((offset + size / 2)) "$dir/dwarf.data" > "$dir/cut"
	perf script --unwind-style hybrid -i "$dir/cut" -F ip,sym \
		> "$dir/read" 2> "$log" || status=$?
	kept=$(grep -c ' main$' "$dir/read")
	cat "$log"
	echo "perf script: exit status $status, kept: $kept of 99"
	[ "$status" -gt 0 ] && [ "$status" -ne 139 ] && [ "$kept" -ge 50 ] || return 1

	status=0
	perf report --unwind-style hybrid --stdio -g none -i "$dir/cut" \
		> "$dir/read" 2> "$log" || status=$?
	cat "$log"
	echo "perf report: exit status $status"
	[ "$status" -gt 0 ] && [ "$status" -ne 139 ] && grep -q '% .* main *$' "$dir/read"
}

# Of a compressed file, too, whose header does not say how much a record holds then.
test_cut_compressed()
{
	local status=0 kept

	record -z -e cpu-clock:u -F 5000 "$calls" 0.5 || return 1
	head -c $(($(stat -c %s "$data") * 2 / 3)) "$data" > "$dir/cut"
	perf script -i "$dir/cut" -F ip,sym > "$dir/read" 2> "$log" || status=$?
	kept=$(grep -c ' main$' "$dir/read")
	cat "$log"
	echo "exit status $status, kept: $kept"
	[ "$status" -gt 0 ] && [ "$status" -ne 139 ] && [ "$kept" -ge 10 ]
}

# What can't be read so is refused, with the place and the reason.
test_cut_refused()
{
	record_dwarf && head -c 200 "$dir/dwarf.data" > "$dir/cut" &&
		one_line "is cut off at 0xc8.*no data" perf script -i "$dir/cut"
}

# A dump size that lies makes one sample wrong, not more.
test_bad_dump()
{
	local all kept status=0

	record_dwarf && cp "$dir/dwarf.data" "$dir/lies" || return 1
	# The last word of a sample is how much of the dump is valid.
	printf '\xff\xff\xff\xff\xff\xff\xff\xff' |
		dd of="$dir/lies" bs=1 seek=$((offset + size - 8)) conv=notrunc 2> /dev/null
	timeout 300 perf script --unwind-style hybrid -i "$dir/lies" -F ip,sym > "$dir/read" \
		2> "$log" || status=$?
	# Those before it; on a busy machine the loader has some.
	all=$(perf script -i "$dir/dwarf.data" -F ip,sym 2> /dev/null |
		awk 'BEGIN { RS = "" } NR < 100 && / main\n/ { n++ } END { print n + 0 }')
	kept=$(grep -c ' main$' "$dir/read")
	echo "exit status $status, kept: $kept of $all"
	cat "$log"
	case $status in
	124|134|137|139) return 1 ;;
	esac
	[ "$all" -ge 50 ] && [ "$kept" -ge "$all" ]
}

test_full_disk()
{
	local disk=$dir/disk status=0

	mkdir -p "$disk"
	mount -t tmpfs -o size=200k tmpfs "$disk" 2> /dev/null || { echo "can't mount"; return 77; }
	timeout 300 perf record --call-graph hybrid -e cpu-clock:u -F 4000 -o "$disk/perf.data" \
		"$calls" 20 > /dev/null 2> "$log" || status=$?
	umount -l "$disk"
	echo "exit status $status"
	cat "$log"
	case $status in
	0|124|134|137|139) return 1 ;;
	esac
	[ "$(wc -l < "$log")" -eq 1 ] &&
		grep -q 'No space left on device: it has [1-9][0-9]* samples' "$log"
}

# Waits until perf has written a hundred samples or more: for at most two minutes. The
# mappings of a process take some 2000 bytes.
recording()
{
	for _ in $(seq 1200); do
		[ "$(stat -c %s "$data" 2> /dev/null || echo 0)" -gt 20000 ] && return 0
		sleep 0.1
	done
	echo "perf record does not start"
	cat "$log"
	return 1
}

start_recording()
{
	rm -f "$data"
	perf record --call-graph hybrid -e cpu-clock:u -F 2000 -o "$data" "$@" \
		> /dev/null 2> "$log" &
	recorder=$!
	children+=("$recorder")
	recording
}

finished()
{
	local status=0 watch

	# A perf that hangs is killed, and fails the test.
	( sleep 300; touch "$dir/hung"; kill -9 "$recorder" ) > /dev/null 2>&1 &
	watch=$!
	wait "$recorder" || status=$?
	kill "$watch" 2> /dev/null
	echo "exit status $status"
	cat "$log"
	[ ! -e "$dir/hung" ] && [ "$status" -ne 139 ] && grep -q 'hybrid: [1-9]' "$log"
}

test_interrupt()
{
	local target

	hybrid_start "$calls" 60
	target=$child
	hybrid_runs calls || return 1
	start_recording -p "$target" || return 1
	kill -INT "$recorder"
	kill -INT "$recorder" 2> /dev/null
	finished && hybrid_stop "$target" && calls_are_true "$data" 20
}

test_interrupt_all()
{
	hybrid_start "$calls" 60
	start_recording -F 500 -a || return 1
	# The file begins with what runs already: wait for samples.
	"$dir/used" "$child" calls 400 || return 1
	kill -INT "$recorder"
	sleep 0.05
	kill -INT "$recorder" 2> /dev/null
	finished && hybrid_stop "$child" && calls_are_true "$data" 20
}

test_killed_target()
{
	start_recording "$calls" 60 || return 1
	kill -9 "$(pgrep -P "$recorder" -x calls)"
	finished && calls_are_true "$data" 20
}

hybrid_init
for bad in "" abc 7 65536 -1 8,8 99999999999999999999; do
	hybrid_check "hybrid,$bad" size_refused "$bad"
done
for bad in 7 65536; do
	hybrid_check "perf top, hybrid,$bad" top_refused "$bad"
done
for bad in 7 65536; do
	hybrid_check "call-graph=hybrid,stack-size=$bad" term_refused "$bad"
done
for bad in "" abc 7 65536 -1; do
	hybrid_check "call-graph.dump-size=$bad" config_refused "$bad"
done
hybrid_check "call-graph.dump-size" test_config_size
hybrid_check "hybrid,8" size_works 8
hybrid_check "hybrid,65528" size_works 65528
hybrid_check "hybridx" unknown_mode hybridx
hybrid_check "an event without callchain" test_no_callchain
hybrid_check "dummy event" test_dummy
hybrid_check "--kernel-callchains, --user-callchains" test_exclude
hybrid_check "corrupt file" test_corrupt
hybrid_check "cut-off file" test_cut
hybrid_check "cut-off file, between samples" test_cut_between
hybrid_check "cut-off file, script and report" test_cut_read
hybrid_check "cut-off file, compressed" test_cut_compressed
hybrid_check "cut-off file, refused" test_cut_refused
hybrid_check "dump size that lies" test_bad_dump
hybrid_check "full disk" test_full_disk
hybrid_check "Ctrl-C twice" test_interrupt
hybrid_check "Ctrl-C twice, -a" test_interrupt_all
hybrid_check "target killed" test_killed_target
hybrid_done
