# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0
# shellcheck disable=SC2154 # real.sh sets what is shared
#
# Code that no file backs, of which its program tells by GDB's JIT interface: a program
# of our own, QEMU, and LLVM's MCJIT.

# only_caller FILE PATTERN: whatever runs in memory that no file backs was called from
# one place; at least 30 samples are there, and its caller matches.
only_caller()
{
	"$perf" script -i "$1" -F ip,sym,dso --no-inline --max-stack 1200 2> /dev/null |
		awk -v pattern="$2" '
		!NF || / \[(cut off|guessed)\] / { made = 0; next }
		made && !/\((\/\/anon|.*perf-[0-9]+\.map)\)$/ {
			made = 0
			n++
			$1 = $1
			if (!seen[$0]++) { print; places++; wrong += $0 !~ pattern }
		}
		/\((\/\/anon|.*perf-[0-9]+\.map)\)$/ { made = 1 }
		END { print n " samples"; exit n < 30 || places != 1 || wrong }'
}

made_code()
{
	local at

	builds "jit" gcc -O2 -g0 -fomit-frame-pointer -Wall -rdynamic -o jit "$real/jit.c" || return
	builds "made" gcc -shared -nostdlib -Wl,-Ttext-segment=0x10000000 \
		-Wl,-z,noseparate-code -o made.so "$real/made.S" || return
	at=0x$(nm made.so | sed -n 's/ T made$//p')
	record made.data ./jit ./made.so "$at"
	complete "a program that tells of its code" made.data 100 99
	ok "made code: its caller is the one it has" only_caller made.data ' run_made '
	ok "made code: what it calls has it as a caller" \
		has_chain made.data '^callback>[^>]*\[unknown\]>run_made>main>'
}

# The guest's own chain is none of the host's; what is translated is one frame of QEMU's.
translated()
{
	need qemu-user qemu-x86_64 "QEMU" || return
	record qemu.data qemu-x86_64 /usr/bin/python3 -c '
import json, time
stop = time.time() + 2
while time.time() < stop:
    json.dumps(list(range(50)))'
	complete "QEMU" qemu.data 100 97
	ok "QEMU: what it has translated has one caller" only_caller qemu.data 'qemu-x86_64'
}

# Functions that never return: their code does not tell where the caller is.
llvm_mcjit()
{
	need llvm-runtime lli "LLVM" || return
	need clang clang "LLVM" || return
	cat > endless.c <<- 'END'
	#include <stdlib.h>
	#include <time.h>
	unsigned int sum;
	time_t stop;
	__attribute__((noinline)) void inner(int n)
	{
		for (int i = 0; i < n; i++)
			sum = sum * 31 + i * sum;
		if (time(0) > stop)
			exit(0);
	}
	__attribute__((noinline, noreturn)) void loop(int n)
	{
		char b[200];
		for (;;) {
			b[sum % 200] = n;
			inner(10000);
			sum += b[3];
		}
	}
	__attribute__((noinline, noreturn)) void outer(int n)
	{
		char b[300];
		b[sum % 300] = n;
		loop(b[1]);
	}
	int main(void)
	{
		stop = time(0) + 2;
		outer(3);
	}
	END
	builds "endless" clang -O2 -fasynchronous-unwind-tables -fomit-frame-pointer \
		-S -emit-llvm endless.c -o endless.ll || return
	if ! lli --version | grep -F "LLVM version $(clang -dumpversion)" > /dev/null; then
		tap_skip "LLVM" "clang and lli are of different versions"
		return
	fi
	record mcjit.data lli --jit-kind=mcjit endless.ll
	complete "LLVM's MCJIT" mcjit.data 100 97
	ok "MCJIT: all four functions, and who runs them" has_chain mcjit.data \
		'^(\[unknown\]>){4}llvm::MCJIT::runFunction'
}

test_jit()
{
	made_code
	translated
	llvm_mcjit
}
