#!/bin/bash
# hybrid unwinding: what is no frame (exclusive)
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

hybrid_init
hybrid_check "data is no frame, dwarf files" test_data
hybrid_check "data is no frame, recording" test_data_live
hybrid_done
