# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0
#
# Part of scripts/series: "series check", in TAP. It leaves out/series/NAME's
# own commits and files alone. scripts/series sets what it uses.
# shellcheck disable=SC2154

# Every file that the series adds lives in the project, word for word, and none
# of the project's is missing in it.
check_homes()
{
	local head=$1 path bad=
	declare -A ours=() theirs=()

	hash_homes ours "$here"
	hash_commit theirs "$head"
	while read -r path; do
		[ -z "$path" ] || [ -n "${home[$path]:-}" ] ||
			bad+="$path is in the patches but not in $(place_for "$path")"$'\n'
	done <<< "$(added_files "$base" "$head")"
	for path in "${!home[@]}"; do
		[ "${theirs[$path]:-}" = "${ours[$path]}" ] ||
			bad+="${home[$path]} is not as in the patches: run make series"$'\n'
	done
	echo -n "$bad"
}

# check_source WHICH OPTION...: do the patches apply to that one, too? OPTION is for
# scripts/kernel-source. Only the files that they touch are taken out of its
# tarball.
check_source()
{
	local tarball dir said status=0 text="$name: patches apply to $1 source without fuzz"
	shift

	if [ -n "${LINUX_SRC:-}" ]; then
		tap_skip "$text" "LINUX_SRC is what the patches are for"
		return
	fi
	tarball=$("$here/scripts/kernel-source" "$@" "$linux" 2>&1) || {
		tap_skip "$text" "$(tail -n 1 <<< "$tarball")"
		return
	}
	dir=$(mktemp -d)
	list_patches | xargs -r sed -n 's,^--- a/,*/,p' | sort -u > "$dir/.list"
	tar -xf "$tarball" -C "$dir" --strip-components=1 --wildcards -T "$dir/.list" 2> "$dir/.log" || :
	# In one piece: of files that are not there yet git knows only within that.
	said=$(cd "$dir" && list_patches | xargs -r cat |
		GIT_CEILING_DIRECTORIES=$(dirname "$dir") \
		git apply --check --whitespace=nowarn 2>&1) || status=1
	rm -rf "$dir"
	tap $status "$text" "$said"
}

# Upstream's source, as Debian has it, and what else BASE names.
check_orig()
{
	local suite suites

	check_source "upstream's" --orig
	read -r _ suites < <(grep -v '^#' "$here/patches/$linux/BASE")
	for suite in $suites; do
		check_source "$suite's" --suite "$suite"
	done
}

# check_parts HEAD: does patches/parts name patches, in their order, and the last one last?
check_parts()
{
	local subjects last

	last=$(awk -F '\t' -v name="$name" '$1 == name { last = $3 } END { print last }' \
		"$here/patches/parts")
	subjects=$(g log --reverse --format=%s "$base..$1")
	[ "$(tail -n 1 <<< "$subjects")" = "$last" ] || echo "the last part ends with '$last'"
	awk -F '\t' -v name="$name" '
		NR == FNR { number[$0] = NR; next }
		$1 == name && number[$3] <= before { print $2 ": no patch behind the last part is \"" $3 "\"" }
		$1 == name { before = number[$3] }' <(echo "$subjects") "$here/patches/parts"
}

# check_sizes HEAD: a patch that one person reviews at once. Tests and their data are longer.
check_sizes()
{
	g log --reverse --format='> %s' --numstat "$base..$1" | awk '
		function end() { if (lines > 800) print subject " adds " lines " lines: split it" }
		/^> / { end(); subject = substr($0, 3); lines = 0; next }
		NF == 3 && $3 !~ /(^|\/)(tests|testing)\// { lines += $1 }
		END { end() }'
}

# check_maintained BASE HEAD: is a file obsolete that the patches change? scripts/checkpatch
# leaves that out.
check_maintained()
{
	local paths=() said

	mapfile -t paths < <(g diff --name-only --no-renames --diff-filter=M "$1" "$2")
	[ ${#paths[@]} -gt 0 ] || return 0
	said=$(cd "$src" && perl scripts/get_maintainer.pl --status --nom --nol --nogit \
		--nogit-fallback -f "${paths[@]}" 2>&1) || { echo "$said"; return; }
	grep -i obsolete <<< "$said" || :
}

# says_nothing TEXT COMMAND...: a test that it prints nothing.
says_nothing()
{
	local said

	said=$("${@:2}")
	tap "$([ -z "$said" ]; echo $?)" "$name: $1" "$said"
}

# Is the patch of the last 50 commits, or in none? Older ones were checked when they were written;
# all of them take ten minutes of a processor.
is_recent()
{
	[ -n "$recent" ] || return 0
	! git -C "$here" diff --quiet "$recent" -- "$1" ||
		! git -C "$here" ls-files --error-unmatch "$1" > /dev/null 2>&1
}

# check_printed BASE HEAD: are the patches as the commits print them?
check_printed()
{
	local dir

	mkdir -p "$patches"
	dir=$(mktemp -d)
	print_patches "$1" "$2" "$dir"
	diff -r -x '0000-*' "$dir" "$patches" | head -n 20 || :
	rm -rf "$dir"
}

# hunks SERIES PATH: what its patches change in a file.
hunks()
{
	cat "$here/patches/$main_linux/$1"/0*.patch | awk -v to="b/$2" '
		/^diff --git / { on = $4 == to }
		on && /^[-+]/ && !/^(---|\+\+\+) /'
}

# check_uapi: does perf's copy of perf_event.h have what the kernel's has?
check_uapi()
{
	diff <(hunks kernel include/uapi/linux/perf_event.h) \
		<(hunks perf tools/include/uapi/linux/perf_event.h) | head -n 20 || :
}

cmd_check()
{
	local base head patch text status count recent

	count=$(list_patches | wc -l)
	if [ "$count" -eq 0 ] && [ ${#home[@]} -eq 0 ]; then
		tap_skip "$name: patches" "there are none yet"
		tap_end
		return
	fi
	prepare
	base=$(base_commit)
	status=0
	head=$(commit_patches "$base" 2>&1) || status=1
	text="$name: $count patches apply to $(source_version) without fuzz"
	if [ $status -ne 0 ] && [ "$(source_version)" != "$(written_for "$linux")" ]; then
		tap_skip "$text" "they are of $(written_for "$linux"): scripts/series tree, then write"
	else
		tap $status "$text" "$head"
	fi
	if [ $status -eq 0 ]; then
		says_nothing "new files are those of the project" check_homes "$head"
		if [ "$linux" = "$main_linux" ] && [ -e "$here/patches/parts" ]; then
			says_nothing "the parts that maintainers get" check_parts "$head"
			says_nothing "no patch adds over 800 lines" check_sizes "$head"
			says_nothing "perf has the kernel's perf_event.h" check_uapi
		fi
		says_nothing "patches are as make series writes them" check_printed "$base" "$head"
		says_nothing "nothing obsolete is changed" check_maintained "$base" "$head"
	fi
	[ "$orig" != orig ] || check_orig
	recent=$(recent_base) || recent=''
	for patch in $(list_patches); do
		[ -n "${ALL_PATCHES:-}" ] || is_recent "$patch" || continue
		status=0
		text=$("$here/scripts/checkpatch" "$patch") || status=1
		tap $status "$name: checkpatch $(basename "$patch")" "$text"
	done
	tap_end
}
