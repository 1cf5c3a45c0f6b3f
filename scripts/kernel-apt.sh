# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0
#
# Part of scripts/kernel-source and scripts/kernel-debian: apt with a sources
# list and a state of our own under out/apt. The system's apt configuration is
# read (for the address of the mirror and the archive's keys) and never written;
# apt checks the signatures.
# They set $want, and may set $suites anew; lib.sh sets $out.
# shellcheck disable=SC2154

suites="trixie-backports bookworm-backports trixie"

# The mirror that the system itself uses for Debian's main archive.
mirror()
{
	# shellcheck disable=SC2016 # apt's own format
	apt-get indextargets --format '$(REPO_URI) $(ORIGIN)' 2>/dev/null |
		awk '$2 == "Debian" && $1 !~ /security/ { print $1; exit }'
}

# The system's own indexes may never have been fetched, or be in another
# format: then take what the sources name.
mirror_from_sources()
{
	cat /etc/apt/sources.list /etc/apt/sources.list.d/* 2>/dev/null |
		sed -n 's/^URIs:[[:space:]]*//p; s/^deb \(\[[^]]*\] \)\{0,1\}\([^ ]*\) .*/\2/p' |
		grep -m 1 '/debian/\{0,1\}$'
}

apt_own()
{
	local verb=$1
	shift
	APT_CONFIG='' "apt-$verb" \
		-o Dir::Etc::sourcelist="$out/apt/sources.list" \
		-o Dir::Etc::sourceparts=/dev/null \
		-o Dir::Etc::preferencesparts=/dev/null \
		-o Dir::State="$out/apt/state" \
		-o Dir::State::status="$out/apt/status" \
		-o Dir::Cache="$out/apt/cache" \
		-o APT::Sandbox::User=root \
		-o Acquire::Languages=none \
		"$@"
}

# apt_setup TYPE: fetch the indexes; TYPE is deb or deb-src.
apt_setup()
{
	local uri suite keys=/usr/share/keyrings/debian-archive-keyring.gpg

	command -v apt-get > /dev/null ||
		die "apt-get is missing: unpack Linux $want yourself and name it with LINUX_SRC="
	uri=$(mirror)
	[ -n "$uri" ] || uri=$(mirror_from_sources) ||
		die "the system's apt configuration names no Debian mirror: unpack Linux $want and name it with LINUX_SRC="
	[ -r "$keys" ] || die "$keys is missing: install debian-archive-keyring"
	mkdir -p "$out"/apt/{state/lists/partial,cache/archives/partial}
	# Until the script ends: parts of "make check" that run beside each other call it.
	exec 7> "$out/apt/lock"
	flock 7
	: > "$out/apt/status"
	for suite in $suites; do
		echo "$1 [signed-by=$keys] $uri $suite main"
	done > "$out/apt/sources.list"
	apt_own get -qq update || die "apt-get update failed for: $suites"
}

# All linux-source-X.Y on offer, newest first.
offered()
{
	apt_own cache search --names-only '^linux-source-[0-9.]+$' |
		sed 's/^linux-source-\([0-9.]*\) .*/\1/' | sort -Vr | uniq
}

# fetch_package VERSION: the tarball of linux-source-VERSION, and beside it the
# package's version; prints the tarball's path.
fetch_package()
{
	local deb into=$out/apt/linux-source-$1

	rm -rf "$into"
	mkdir -p "$into"
	(cd "$into" && apt_own get -qq download "linux-source-$1") >&2 ||
		die "apt can't download linux-source-$1"
	deb=$(echo "$into"/*.deb)
	dpkg-deb --fsys-tarfile "$deb" |
		tar -xf - -C "$into" --wildcards --strip-components=3 './usr/src/*.tar.*' ||
		die "$deb holds no kernel tarball"
	dpkg-deb -f "$deb" Version > "$into/package-version"
	rm -f "$deb"
	echo "$into"/linux-source-*.tar.*
}

# fetch_orig VERSION: the tarball of upstream's source that the package of that
# version was built from; prints its path.
fetch_orig()
{
	local into=$out/apt/orig

	rm -rf "$into"
	mkdir -p "$into"
	(cd "$into" && apt_own get -qq source --download-only --tar-only "linux=$1") >&2 ||
		die "apt can't download the source of linux $1"
	echo "$into"/linux_*.orig.tar.*
}
