#!/bin/bash
# hybrid unwinding: what is no frame, and what is soon gone (exclusive)
# SPDX-License-Identifier: GPL-2.0
# shellcheck disable=SC2317,SC2154 # hybrid_check calls the tests, hybrid.sh sets variables

set -e

# shellcheck source=lib/hybrid.sh
. "$(dirname "$0")"/lib/hybrid.sh

# A program with assembler that pushes without saying so in its CFI: by that, the
# return address of lies_2() is what lies() had in rbx, a place in the program's data.
build_lies()
{
	work_and <<- 'EOF' | build lies
	long datum[512] = { 1 };
	void lies(void);

	void __attribute__((used)) work_a_while(void)
	{
		work(0.5);
	}

	asm(".globl lies\n"
	    ".type lies, @function\n"
	    "lies:	.cfi_startproc\n"
	    "	push %rbx\n"
	    "	lea datum+2048(%rip), %rbx\n"
	    "	call lies_2\n"
	    "	pop %rbx\n"
	    "	ret\n"
	    "	.cfi_endproc\n"
	    ".size lies, . - lies\n"
	    ".type lies_2, @function\n"
	    "lies_2:	.cfi_startproc\n"
	    "	push %rbx\n"
	    "	call work_a_while\n"
	    "	pop %rbx\n"
	    "	ret\n"
	    "	.cfi_endproc\n"
	    ".size lies_2, . - lies_2\n");

	int main(void)
	{
		lies();
		return 0;
	}
	EOF
}

# ends_in_code: chains on stdin that come to lies_2(): none goes on in data.
ends_in_code()
{
	awk '
	/^leaf;middle;outer;work_a_while;lies_2/ { n++ }
	/lies_2;(datum|\[unknown\];)/ { if (bad++ < 5) print "data: " $0 }
	END { print n + 0 " chains, " bad + 0 " with data"; exit n < 100 || bad }'
}

test_data()
{
	build_lies || return 1
	perf record -e cpu-clock:u -F 1000 --call-graph dwarf -o "$data" "$dir/lies" \
		> /dev/null 2> "$log" || { cat "$log"; return 1; }
	chains "$data" --unwind-style hybrid | ends_in_code || return 1
	perf inject --convert-callchain --unwind-style hybrid -i "$data" -o "$dir/converted" \
		2> "$log" || { cat "$log"; return 1; }
	chains "$dir/converted" | ends_in_code
}

test_data_live()
{
	build_lies && record -e cpu-clock:u -F 1000 "$dir/lies" && chains "$data" | ends_in_code
}

# Code made at run time that only the child still has: its parent has unmapped it.
test_forked_code()
{
	work_and <<- 'EOF' | build forked || return 1
	#include <sys/mman.h>

	static const unsigned char code[] = {
		0x48, 0x83, 0xec, 0x08, 0xff, 0xd1, 0x48, 0x83, 0xc4, 0x08, 0xc3
	};

	FN static void run(void)
	{
		work(0.5);
		sink++;
	}

	FN static void through(void (*made)(long, long, long, void (*)(void)))
	{
		made(0, 0, 0, run);
		sink++;
	}

	int main(void)
	{
		void *made = mmap(0, 4096, PROT_READ | PROT_WRITE,
				  MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

		memcpy(made, code, sizeof(code));
		mprotect(made, 4096, PROT_READ | PROT_EXEC);
		if (fork()) {
			munmap(made, 4096);
			wait(0);
		} else {
			through(made);
		}
		return 0;
	}
	EOF
	record -e cpu-clock:u -F 1000 "$dir/forked" || return 1
	cat "$log"
	true='^leaf;middle;outer;run;.unknown.;through;main;([^;]+;)*_start$'
	chains "$data" | true_chains "$true" '^leaf$' 100
}

# At so low a rate perf is not woken before all is over, and the program's file is
# only to be had while it runs: its path names another one in perf's mount namespace.
test_soon_gone()
{
	mkdir -p "$dir/private" "$dir/hidden"
	cp /bin/true "$dir/private/calls"
	unshare -m true 2> /dev/null || { echo "no unshare -m"; return 77; }
	cp "$calls" "$dir/hidden/calls"
	# shellcheck disable=SC2016 # for the inner shell
	hide='mount --bind "$1/hidden" "$1/private" && "$1/private/calls" 1.5'
	record -e cpu-clock:u -F 19 "$@" unshare -m sh -c "$hide" sh "$dir" || return 1
	cat "$log"
	[ "$(total complete)" -ge 15 ] &&
		[ "$(total complete)" -ge $(($(samples_read) * 9 / 10)) ]
}

# A return probe has its own address on the stack; the kernel's chain, by frame
# pointers, tells what was there. That of old kernels does not.
test_return_probe()
{
	local event=probe_returns:hybrid_returns_$$ status=0

	build_calls returns -fno-omit-frame-pointer || return 1
	perf probe -q -x "$dir/returns" "hybrid_returns_$$=middle%return" > "$log" 2>&1 ||
		{ echo "no return probes: $(head -n 1 "$log")"; return 77; }
	record -e cpu-clock:u -F 1000 -e "$event*" "$dir/returns" 0.5 &&
		perf record -g -e cpu-clock:u -F 1000 -e "$event*" -o "$dir/fp.data" \
			"$dir/returns" 0.5 > /dev/null 2>&1 || status=1
	perf probe -q -d "$event*" > /dev/null 2>&1
	[ "$status" -eq 0 ] || return 1
	cat "$log"
	chains "$dir/fp.data" | grep -qE '^leaf;(middle;)?outer;' ||
		{ echo "the kernel's own chains end at return probes"; return 77; }
	# Of a machine with all CPUs in use some samples have no dump: these are marked.
	chains "$data" | grep -v ';\[cut$' | true_chains "$calls_true" '^(leaf|middle)$' 100
}

# From Linux 6.18 on a uprobe at a nop of five bytes is a call of the kernel's code, which
# the kernel maps when the probe is hit: many of the samples are in there.
test_uprobe()
{
	local event=probe_nops:hybrid_nops_$$ status=0 at all right

	build nops <<- 'EOF' || return 1
	#include <time.h>

	__attribute__((noinline)) void leaf(void)
	{
		asm volatile(".globl probe_here\nprobe_here: .byte 0x0f,0x1f,0x44,0x00,0x00");
	}

	__attribute__((noinline)) void middle(void)
	{
		int i;

		for (i = 0; i < 1000; i++) {
			leaf();
			asm volatile("");
		}
	}

	int main(void)
	{
		clock_t end = clock() + CLOCKS_PER_SEC / 2;

		while (clock() < end)
			middle();
		return 0;
	}
	EOF
	at=$(nm "$dir/nops" | awk '$3 == "leaf" { leaf = $1 } $3 == "probe_here" { at = $1 }
		END { print "0x" at " - 0x" leaf }')
	perf probe -q -x "$dir/nops" "hybrid_nops_$$=leaf+$((at))" > "$log" 2>&1 ||
		{ echo "no uprobes: $(head -n 1 "$log")"; return 77; }
	record -e cpu-clock -F 2000 -e "$event" "$dir/nops" || status=1
	perf probe -q -d "$event" > /dev/null 2>&1
	[ "$status" -eq 0 ] || return 1
	cat "$log"
	perf script -i "$data" -F ip,sym,dso --no-inline > "$dir/nops.script" 2> /dev/null
	all=$(awk 'BEGIN { RS = "" } /\(\[uprobes-tramp/ { n++ } END { print n + 0 }' \
		"$dir/nops.script")
	[ "$all" -gt 0 ] || { echo "uprobes at a nop are traps here"; return 77; }
	right=$(awk 'BEGIN { RS = ""; FS = "\n" }
		{
			for (i = 1; i <= NF && $i !~ /\(\[uprobes-tramp/; i++)
				;
		}
		$(i + 1) ~ / leaf / && $(i + 2) ~ / middle / && $(i + 3) ~ / main / && / _start / {
			n++
		}
		END { print n + 0 }' "$dir/nops.script")
	echo "$right of $all samples in the kernel's code are true"
	[ $((right * 100)) -ge $((all * 98)) ]
}

hybrid_init
hybrid_check "data is no frame, dwarf files" test_data
hybrid_check "data is no frame, recording" test_data_live
hybrid_check "return probes" test_return_probe
hybrid_check "uprobes" test_uprobe
hybrid_check "code made at run time, after fork" test_forked_code
hybrid_check "a program that is gone before perf is woken" test_soon_gone
hybrid_check "the same with --verbose" test_soon_gone -v
hybrid_done
