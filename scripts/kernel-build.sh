# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0
#
# Part of scripts/build-kernel and scripts/kernel-steps: how a kernel for
# scripts/vm is configured and built. lib.sh sets $here, $out, $linux and $at; they
# set $files, the fragments of a configuration, and may set $make_options, and
# $must, the fragments that have to come out as asked where not all have to.
# shellcheck disable=SC2154

make_options=() must=()

fragments()
{
	local name

	for name in base trace "$@"; do
		echo "$here/selftests/vm/$name.config"
	done
	# What is otherwise there
	name=$here/selftests/vm/$linux.config
	[ ! -e "$name" ] || echo "$name"
}

# series_fragments TREE [kunit]: the names of those with what the series adds to that tree. KUnit
# tests are in the series of one Linux only. With them all objects differ from the unpatched
# kernel's, see seed().
series_fragments()
{
	grep -qs '^config X86_UNWIND_USER_CODE$' "$1"/arch/x86/{events/,}Kconfig || return 0
	echo unwind-user
	[ "${2:-}" != kunit ] ||
		! grep -qs '^config X86_UNWIND_USER_CODE_KUNIT_TEST$' "$1/arch/x86/Kconfig.debug" ||
		echo kunit
	! grep -qs '^config PERF_UNWIND_RULES$' "$1/init/Kconfig" || echo unwind-rules
}

# kernel_make TREE BUILD ARGUMENTS...: no date, user or machine goes in, so
# that the same source gives the same kernel.
kernel_make()
{
	local tree=$1 build=$2
	shift 2
	make -C "$tree" O="$build" -s -j"$(nproc)" ARCH=x86_64 \
		KBUILD_BUILD_TIMESTAMP='Sat Jan  1 00:00:00 UTC 2000' \
		KBUILD_BUILD_USER=vm KBUILD_BUILD_HOST=vm "${make_options[@]}" "$@"
}

# configure TREE BUILD FRAGMENT...: makes the configuration anew where the
# fragments changed; of two that name an option the later one counts. One that
# did not come out as asked is an error; one that is off need not exist.
configure()
{
	local tree=$1 build=$2 line option lost=''
	shift 2

	mkdir -p "$build"
	cat "$@" | tac | awk '
		{ option = $1 == "#" ? $2 : $1; sub(/=.*/, "", option) }
		option ~ /^CONFIG_/ && !seen[option]++' > "$build/fragments.new"
	if [ -e "$build/.config" ] && cmp -s "$build/fragments.new" "$build/fragments"; then
		return
	fi
	run_logged "$log-config" kernel_make "$tree" "$build" \
		KCONFIG_ALLCONFIG="$build/fragments.new" allnoconfig
	while read -r line; do
		grep -qxF -- "$line" "$build/.config" && continue
		[ "${line:0:1}" = '#' ] && read -r _ option _ <<< "$line" &&
			! grep -q "^$option=" "$build/.config" && continue
		lost+=" $line"
	done < <(grep -hE '^(CONFIG_|# CONFIG_.* is not set)' "${must[@]:-$build/fragments.new}")
	[ -z "$lost" ] || die "this kernel does not take:$lost"
	mv "$build/fragments.new" "$build/fragments"
}

has_patches()
{
	compgen -G "$here/patches/$linux/kernel/[0-9]*.patch" > /dev/null
}

# The tree to build from: without patches the source itself will do.
patched_tree()
{
	if has_patches || [ -e "$out/series/kernel$at/.git/series-key" ]; then
		"$here/scripts/series" tree kernel
	else
		source_tree
	fi
}

# seed TREE NAME STOCK: where nothing was built in out/build/NAME yet, but the
# unpatched kernel was in out/build/STOCK, with almost the same options, begin with
# its objects: make then compiles what the patches change, a fifth of it. Not the
# other way round, as only the unpatched source never changes.
seed()
{
	local tree=$1 build=$out/build/$2 stock=$out/build/$3 stock_tree

	[ ! -e "$build" ] && [ -e "$stock/vmlinux" ] || return 0
	stock_tree=$(readlink "$stock/source")
	rm -rf "$build.seed"
	cp -a "$stock" "$build.seed"
	rm -f "$build.seed/fragments"
	# How each object was made, and of what
	find "$build.seed" -name '.*.cmd' -print0 |
		xargs -0r sed -i "s|$stock_tree/|$tree/|g; s|$stock/|$build/|g"
	git -C "$tree" diff --name-only --no-renames -z base |
		(cd "$tree" && xargs -0r touch -c --)
	mv "$build.seed" "$build"
}

# work_tree REPOSITORY TREE COMMIT: a work tree at that commit. At first its files are as old as
# the source: seed() makes newer what the patches change, and that alone.
work_tree()
{
	git -C "$1" worktree prune
	if [ ! -e "$2/.git" ]; then
		git -C "$1" worktree add -q -f --detach "$2" "$3"
		(cd "$2" && git ls-files -z | xargs -0 touch -c -h -r "$(source_tree)/Makefile" --)
	fi
	git -C "$2" checkout -q --detach "$3"
}

# build TREE NAME: into out/NAME.
build()
{
	local tree=$1 log=$2 build=$out/build/$2

	echo "$2: building, log in out/log/$2.log" >&2
	configure "$tree" "$build" "${files[@]}"
	run_logged "$2" kernel_make "$tree" "$build" bzImage modules
	mkdir -p "$out/$2"
	cp -u "$build/arch/x86/boot/bzImage" "$build/System.map" "$out/$2/"
	cp -u "$build/.config" "$out/$2/config"
	find "$build" -name '*.ko' -exec cp -u -t "$out/$2" {} +
}
