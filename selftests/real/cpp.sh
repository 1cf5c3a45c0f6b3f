# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0
# shellcheck disable=SC2154 # real.sh sets what is shared
#
# C++ (cpp.cc), as it is built: -O2, -O2 -flto, static.

# An exception goes on where it is caught by __builtin_eh_return(): libgcc first
# writes the new return address and registers over those that led to its caller.
# A sample behind that can't be exact, whoever unwinds it.
cpp_one()
{
	local name=cpp-$1
	local inlining=("${cflags[@]}" -finline)
	shift
	# The library's templates are inlined as ever.
	builds "$name" g++ -std=c++20 "${inlining[@]}" "$@" -o "$name" "$real/cpp.cc" || return
	record "$name.data" "./$name" 1
	exact "C++ $name" "$name.data" --name '^([^(]*)\(' --min-exact 97 --min-root 97
}

test_cpp()
{
	need g++ g++ "C++" || return
	cpp_one O2
	cpp_one flto -flto
	cpp_one static -static
	cpp_one fp -fno-omit-frame-pointer -O1
}
