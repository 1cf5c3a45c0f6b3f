# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0
#
# What the scripts share. Sourced; the one that sources it sets $me.

# A git hook's variables would send every git below to the wrong repository.
if command -v git > /dev/null; then
	# shellcheck disable=SC2046 # a list of names
	unset $(git rev-parse --local-env-vars)
fi

here=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
# shellcheck disable=SC2034 # for those who source this
out=$here/out

die()
{
	echo "${me:-$(basename "$0")}: $*" >&2
	exit 1
}

# How tests of chains record: with rings in which a second fits, where that much
# memory may be locked. It is chains that they test, not what else the machine does.
rings=(-m 64M)
# shellcheck disable=SC2034 # for those who source this
[ "$EUID" -eq 0 ] || rings=()

# Which Linux a script is about. Perf, and nearly all else, is about this one.
main_linux=7.3
linux=$main_linux
# What stands behind the names in out/ of what is made of another one.
at=

# use_linux: be about the one that LINUX names in the environment.
use_linux()
{
	linux=${LINUX:-$linux}
	[ -r "$here/patches/$linux/BASE" ] ||
		die "LINUX=$linux: there is no series for it; there is: $(cd "$here/patches" && echo [0-9]*)"
	# shellcheck disable=SC2034 # for those who source this
	[ "$linux" = "$main_linux" ] || at=-$linux
}

# with_linux VERSION COMMAND...: run it with LINUX=VERSION. LINUX_SRC is the source
# of what the user is about, and of no other.
with_linux()
{
	local version=$1
	shift
	(
		[ "$version" = "${LINUX:-$main_linux}" ] || unset LINUX_SRC
		export LINUX=$version
		"$@"
	)
}

# The unpacked, unpatched kernel tree; fetched where it is not there yet.
source_tree()
{
	"$here/scripts/kernel-source" "$linux"
}

# version_of TREE: as its Makefile has it, like 7.3.4.
version_of()
{
	sed -n 's/^\(VERSION\|PATCHLEVEL\|SUBLEVEL\) = //p' "$1/Makefile" | paste -sd.
}

# written_for VERSION: the point release that its series were written on.
written_for()
{
	sed -n '/^#/!{s/ .*//;p;}' "$here/patches/$1/BASE"
}

# source_id TREE: one word that changes when the source does.
source_id()
{
	local id

	if [ -e "$1/.git" ]; then
		id=$(git -C "$1" rev-parse HEAD)
	else
		id=$(cat "$1/.unpacked" 2>/dev/null || :)
	fi
	printf '%s\n' "$1 $id $(sed -n '2,5p' "$1/Makefile")" | sha1sum | cut -c1-16
}

# run_logged NAME COMMAND...: one line on the terminal, all output in
# out/log/NAME.log; where it fails, the end of that log.
run_logged()
{
	local log=$out/log/$1.log
	shift
	mkdir -p "$(dirname "$log")"
	if ! "$@" > "$log" 2>&1; then
		grep -E -m 5 '(error|Error|undefined reference|\*\*\*)' "$log" >&2 || tail -n 15 "$log" >&2
		die "failed; the whole log is ${log#"$here/"}"
	fi
}

# The last tag, or the commit 50 before HEAD where that is later; fails without a history.
recent_base()
{
	local most=50 nr tag

	if tag=$(git -C "$here" describe --tags --abbrev=0 2> /dev/null) &&
	   [ "$(git -C "$here" rev-list --count "$tag..HEAD")" -le $most ]; then
		echo "$tag"
		return
	fi
	nr=$(git -C "$here" rev-list --count --first-parent HEAD 2> /dev/null) && [ "$nr" -gt 1 ] || return 1
	git -C "$here" rev-parse "HEAD~$((nr > most ? most : nr - 1))"
}
