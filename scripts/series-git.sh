# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0
#
# Part of scripts/series: patches to commits and back, and the files that live in
# the project. Commits are built in the object store alone (a temporary index,
# no checkout), with the author's name and date as the committer's: the same
# patches on the same source give the same commit ids everywhere.
# scripts/series sets what it uses: $here, $linux, $repo, $rel, $name and $patches.
# shellcheck disable=SC2154

# git in the series' repository, deaf to the user's configuration, which could
# change how a patch is printed.
g()
{
	GIT_CONFIG_GLOBAL=/dev/null GIT_CONFIG_SYSTEM=/dev/null git -C "$repo" "$@"
}

list_patches()
{
	local patch

	for patch in "$patches"/[0-9]*.patch; do
		case $patch in
		*/0000-*|*'*'*) ;;	# the cover letter; no match
		*) echo "$patch" ;;
		esac
	done
}

prepare()
{
	src=$(source_tree)
	src_id=$(source_id "$src")
	[ -d "$repo/.git" ] || git init -q -b series "$repo"
	# What stands behind @@ hangs on it; git would ask the work tree, which
	# "check" does without.
	[ ! -e "$src/.gitattributes" ] || cp "$src/.gitattributes" "$repo/.git/info/attributes"
	[ "$name" != perf ] || version_makefile
}

source_version()
{
	version_of "$src"
}

# perf asks the top Makefile for the version. The kernel's own wants half of the
# kernel, so this tree has one that knows just that, and git ignores it.
version_makefile()
{
	[ ! -e "$repo/Makefile" ] || return 0
	echo /Makefile >> "$repo/.git/info/exclude"
	printf 'kernelversion:\n\t@echo %s\n' "$(source_version)" > "$repo/Makefile"
}

# One word for all that the commits follow from: the source and the patches.
series_key()
{
	{ echo "$src_id"; list_patches | xargs -r cat; } | sha1sum | cut -c1-16
}

# The paths that the first commit holds. For perf what perf's own source
# package holds, what checkpatch needs, and whatever else a
# patch touches; for the kernel everything.
base_paths()
{
	if [ "$name" = kernel ]; then
		echo .
		return
	fi
	cat "$src/tools/perf/MANIFEST"
	cat <<-'LIST'
	.clang-format
	.editorconfig
	MAINTAINERS
	scripts/checkpatch.pl
	scripts/const_structs.checkpatch
	scripts/spelling.txt
	LIST
	list_patches | xargs -r sed -n 's,^--- a/,,p'
}

# The paths of base_paths that exist, globs expanded, one a line.
base_files()
{
	cd "$src" || exit 1
	base_paths | sort -u | while read -r pattern; do
		# shellcheck disable=SC2086 # patterns such as arch/*/include
		for path in $pattern; do
			[ ! -e "$path" ] || printf '%s\n' "$path"
		done
	done
}

# The first commit; built once for a source and a list of paths.
base_commit()
{
	local ref tree commit

	ref=refs/series/base-$src_id-$(base_paths | sort -u | sha1sum | cut -c1-8)
	if ! g rev-parse -q --verify "$ref"; then
		tree=$(
			index=$(mktemp -u)
			export GIT_INDEX_FILE=$index GIT_WORK_TREE=$src GIT_DIR=$repo/.git
			export GIT_CONFIG_GLOBAL=/dev/null GIT_CONFIG_SYSTEM=/dev/null
			list=$index.list
			if [ -e "$src/.git" ]; then
				# Only what is tracked there: it may have been built in.
				base_files | env -u GIT_DIR -u GIT_WORK_TREE -u GIT_INDEX_FILE \
					xargs git -C "$src" ls-files -- > "$list"
			else
				base_files > "$list"
			fi
			git -C "$src" -c core.autocrlf=false -c core.safecrlf=false \
				-c core.looseCompression=1 add -f --pathspec-from-file="$list"
			git -C "$src" rm -q --cached --ignore-unmatch -- .unpacked
			git -C "$src" write-tree
			rm -f "$index" "$list"
		)
		commit=$(echo "Linux $(source_version)" |
			identity "Linux" "linux@localhost" "2000-01-01T00:00:00Z" commit-tree "$tree")
		g update-ref "$ref" "$commit"
		echo "$commit"
	fi
}

# identity NAME EMAIL DATE GIT-ARGUMENTS...
identity()
{
	local who=$1 mail=$2 when=$3
	shift 3
	GIT_AUTHOR_NAME=$who GIT_AUTHOR_EMAIL=$mail GIT_AUTHOR_DATE=$when \
	GIT_COMMITTER_NAME=$who GIT_COMMITTER_EMAIL=$mail GIT_COMMITTER_DATE=$when \
		g "$@"
}

# commit_stream PARENT: reads "TREE PATCH" lines; prints a commit of each tree for git fast-import,
# with author, date and message from the header of the patch. All in one process: with some for
# each of the hundreds of patches it took minutes beside a build.
commit_stream()
{
	awk -v parent="$1" '
	function fail(what) {
		print "series: " patch ": " what > "/dev/stderr"
		failed = 1
		exit 1
	}
	# As git stripspace does: no space at ends of lines, no empty ones at the ends or twice.
	function add(line) {
		sub(/[ \t]+$/, "", line)
		if (line == "") {
			gap = text != ""
			return
		}
		text = text (gap ? "\n" : "") line "\n"
		gap = 0
	}
	function header(name) {
		if (fields[name] == "" || index(fields[name], "=?"))
			fail("its " name ": is not as git format-patch writes it, or not in ASCII")
		return fields[name]
	}
	function read_patch(line, name) {
		split("", fields)
		while ((getline line < patch) > 0 && line != "") {
			if (line ~ /^[A-Z][A-Za-z-]*: /) {
				name = substr(line, 1, index(line, ":") - 1)
				fields[name] = substr(line, length(name) + 3)
			} else if (line ~ /^[ \t]/) {
				sub(/^[ \t]+/, " ", line)
				fields[name] = fields[name] line
			}
		}
		text = gap = ""
		sub(/^\[PATCH\] /, "", fields["Subject"])
		add(header("Subject"))
		add("")
		while ((getline line < patch) > 0 && line != "---")
			add(line)
		if (line != "---")
			fail("it has no diff")
		close(patch)
	}
	{
		patch = $2
		read_patch()
		print "commit refs/series/applied"
		print "author " header("From") " " header("Date")
		print "committer " header("From") " " header("Date")
		print "data <<end of the message of a patch\n" text "end of the message of a patch"
		if (NR == 1)
			print "from " parent
		print "M 040000 " $1 " \"\"\n"
	}
	END { exit failed }'
}

# commit_patches BASE [OPTION]: one commit for each patch; prints the last one. git
# apply takes no fuzz, all of the context must be there, unless OPTION says otherwise.
commit_patches()
{
	local parent=$1 option=${2:-} patch tree work

	work=$(mktemp -d)
	GIT_INDEX_FILE=$work/index g read-tree "$parent"
	for patch in $(list_patches); do
		GIT_INDEX_FILE=$work/index g apply --cached ${option:+"$option"} --whitespace=nowarn "$patch" ||
			die "${patch#"$here/"} does not apply to $src"
		tree=$(GIT_INDEX_FILE=$work/index g write-tree)
		echo "$tree $patch"
	done > "$work/trees"
	commit_stream "$parent" < "$work/trees" > "$work/commits" || die "a patch can't be read"
	if [ -s "$work/commits" ]; then
		g fast-import --quiet --force --date-format=rfc2822 < "$work/commits" ||
			die "git fast-import fails"
		parent=$(g rev-parse refs/series/applied)
		g update-ref -d refs/series/applied
	fi
	rm -rf "$work"
	echo "$parent"
}

# Each file of the project that belongs to this series: home[its path there] is
# its path here.
declare -A home=()
load_map()
{
	local series from to only path

	while read -r series from to only; do
		[ "$series" = "$name" ] && [ -e "$here/$from" ] || continue
		[ -z "$only" ] || [ "$only" = "$linux" ] || continue
		while read -r path; do
			path=${path#"$here/$from"}
			home[$to$path]=$from$path
		done < <(find "$here/$from" -type f ! -name '.*' ! -name '*.o' \
			! -name '*~' ! -name '*.orig' ! -name '*.rej')
	done < "$here/scripts/series-map"
}

# place_for PATH: where the map would have a file of that path live.
place_for()
{
	awk -v path="$1" -v name="$name" -v linux="$linux" '
		$4 && $4 != linux { next }
		$1 == name && index(path, $3) == 1 && length($3) > best {
			best = length($3)
			place = $2 (substr($3, best) == "/" ? substr(path, best + 1) : "")
		}
		END { print place }' "$here/scripts/series-map"
}

# fold BASE HEAD: put the project's text of each mapped file into the last
# commit that touches it; prints the new last commit.
fold()
{
	local base=$1 head=$2 commit parent path index tree mode
	declare -A ours=() theirs=() text=() pending=() newest=()

	hash_homes ours "$here"
	hash_commit theirs "$head"
	for path in "${!home[@]}"; do
		[ "${ours[$path]}" = "${theirs[$path]:-}" ] || text[$path]=${ours[$path]}
	done
	if [ ${#text[@]} -eq 0 ]; then
		g rev-parse "$head"
		return
	fi
	for path in "${!text[@]}"; do
		echo "$here/${home[$path]}"
	done | g hash-object -w --no-filters --stdin-paths > /dev/null
	for path in "${!text[@]}"; do
		commit=$(g rev-list -n 1 "$base..$head" -- "$path")
		[ -z "$commit" ] || pending[$commit]+="$path "
	done
	index=$(mktemp -u)
	parent=$(g rev-parse "$base")
	for commit in $(g rev-list --reverse "$base..$head"); do
		for path in ${pending[$commit]:-}; do
			newest[$path]=${text[$path]}
		done
		# Nothing is new up to here.
		if [ ${#newest[@]} -eq 0 ]; then
			parent=$commit
			continue
		fi
		GIT_INDEX_FILE=$index g read-tree "$commit"
		for path in "${!newest[@]}"; do
			mode=$(file_mode "${home[$path]}")
			GIT_INDEX_FILE=$index g update-index --add --cacheinfo "$mode,${newest[$path]},$path"
		done
		tree=$(GIT_INDEX_FILE=$index g write-tree)
		parent=$(recommit "$commit" "$tree" "$parent")
	done
	rm -f "$index"
	echo "$parent"
}

file_mode()
{
	if [ -x "$here/$1" ]; then echo 100755; else echo 100644; fi
}

# recommit COMMIT TREE PARENT: COMMIT's message, author and date on another tree.
recommit()
{
	local who mail when

	who=$(g log -1 --format=%an "$1")
	mail=$(g log -1 --format=%ae "$1")
	when=$(g log -1 --format=%aD "$1")
	g log -1 --format=%B "$1" | git stripspace |
		identity "$who" "$mail" "$when" commit-tree "$2" -p "$3"
}

# print_patches BASE HEAD INTO: with nothing in them that drifts: no numbers in
# the subjects, no git version, no commit ids. All patches have the project's address as the author:
# the person who submits a patch sets the name. git folds a long name into two lines.
print_patches()
{
	g format-patch -q --zero-commit --no-signature --no-numbered --no-thread \
		--no-renames --no-base --abbrev=12 --diff-algorithm=myers \
		--subject-prefix=PATCH -o "$3" "$1..$2" || return
	sed -i '2s/^From: .*/From: perf-hybrid <perf-hybrid@localhost>/; 3{/^ /d}' "$3"/0*.patch
}

# same_patches DIR: does patches/ hold just those?
same_patches()
{
	mkdir -p "$patches"
	diff -rq -x '0000-*' -x '[!0]*' "$1" "$patches" > /dev/null
}

# added_files BASE HEAD: what is there that the source has not.
added_files()
{
	g diff --name-only --no-renames --diff-filter=A "$1" "$2"
}

# Changed or untracked files of the repository that have no home in the
# project, as "git status --porcelain" lists them.
dirty_unmapped()
{
	local line

	g status --porcelain --no-renames --untracked-files=all | while IFS= read -r line; do
		[ -n "${home[${line:3}]:-}" ] || echo "$line"
	done
}

# hash_homes NAME $here|$repo: sets NAME[path there] to git's name for that side's text of each
# file of home that exists. In one process: there are hundreds of files.
hash_homes()
{
	local -n hashes=$1
	local path file hash i=0 paths=() files=()

	for path in "${!home[@]}"; do
		file=$2/$path
		[ "$2" != "$here" ] || file=$here/${home[$path]}
		[ ! -e "$file" ] || paths+=("$path") files+=("$file")
	done
	[ ${#files[@]} -gt 0 ] || return 0
	while read -r hash; do
		# shellcheck disable=SC2034 # the caller's
		hashes[${paths[i++]}]=$hash
	done < <(printf '%s\n' "${files[@]}" | git hash-object --no-filters --stdin-paths)
	# What has no hash would count as missing, and be written over.
	[ $i -eq ${#files[@]} ] || die "${files[i]} can't be read"
}

# hash_commit NAME COMMIT: the same for a commit's text.
hash_commit()
{
	local -n in_commit=$1
	local hash path

	[ ${#home[@]} -gt 0 ] || return 0
	while read -r _ _ hash path; do
		# shellcheck disable=SC2004,SC2034 # the caller's, and its index is a word
		in_commit[$path]=$hash
	done < <(g ls-tree -r "$2" -- "${!home[@]}")
}

# sync_files: see the usage. What both sides had the last time is on record.
sync_files()
{
	local path last
	local synced=$repo/.git/series-synced
	declare -A ours=() theirs=() fresh=() record=()

	touch "$synced"
	hash_homes ours "$here"
	hash_homes theirs "$repo"
	hash_commit fresh HEAD
	while read -r last path; do
		record[$path]=$last
	done < "$synced"
	for path in "${!home[@]}"; do
		# A tree fresh from its patches: the project's text is the newer one.
		last=${record[$path]:-${fresh[$path]:-}}
		if [ "${ours[$path]}" = "${theirs[$path]:-}" ]; then
			:
		elif [ -z "${theirs[$path]:-}" ] || [ "${theirs[$path]}" = "$last" ]; then
			mkdir -p "$(dirname "$repo/$path")"
			cp "$here/${home[$path]}" "$repo/$path"
		elif [ "${ours[$path]}" = "$last" ]; then
			cp "$repo/$path" "$here/${home[$path]}"
			echo "series: ${home[$path]} taken from $rel" >&2
			ours[$path]=${theirs[$path]}
		else
			die "${home[$path]} and $rel/$path were both changed: make them agree"
		fi
		record[$path]=${ours[$path]}
	done
	for path in "${!record[@]}"; do
		if [ -n "${home[$path]:-}" ]; then
			echo "${record[$path]} $path"
		elif [ "$(hash_of "$repo/$path")" = "${record[$path]}" ]; then
			rm -f "${repo:?}/$path"	# its home was removed
		fi
	done > "$synced.new"
	mv "$synced.new" "$synced"
}

hash_of()
{
	[ ! -e "$1" ] || git hash-object --no-filters "$1"
}
