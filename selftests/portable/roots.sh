# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0
#
# Part of the tests of what is installed: other systems, each in a directory below
# out/roots, made once.
# shellcheck disable=SC2154 # scripts/lib.sh sets $here and $out

# Of this the address of the mirror.
. "$here/scripts/kernel-apt.sh"

# missing_for_roots: what there is no root without, in words; nothing if all is there.
missing_for_roots()
{
	if [ "$EUID" -ne 0 ]; then
		echo "only root can change the root directory"
	elif ! unshare -m true 2> /dev/null; then
		echo "no mount namespaces here"
	elif ! command -v debootstrap > /dev/null; then
		echo "no debootstrap: scripts/setup install"
	fi
}

# A system that has nothing but a statically linked busybox: no C library, no shell
# but its own. That package can't stand beside busybox, which other tests run.
busybox_root()
{
	local applet bin=$1/bin

	mkdir -p "$bin" "$1/deb"
	(cd "$1/deb" && apt-get -qq -o APT::Sandbox::User=root download busybox-static) || return
	dpkg-deb --fsys-tarfile "$1"/deb/*.deb |
		tar -x -C "$bin" --wildcards --transform='s,.*/,,' '*/bin/busybox' || return
	rm -rf "$1/deb"
	for applet in $("$bin/busybox" --list); do
		[ "$applet" = busybox ] || ln -s busybox "$bin/$applet"
	done
}

# make_root SYSTEM: a minimal Debian of the suite of that name, or "busybox". Renamed
# last, so that what is there is whole.
make_root()
{
	local root=$out/roots/$1 uri

	[ ! -d "$root" ] || return 0
	rm -rf "$root.part"
	mkdir -p "$root.part"/{proc,sys,dev,tmp}
	if [ "$1" = busybox ]; then
		busybox_root "$root.part" || return
	else
		uri=$(mirror)
		[ -n "$uri" ] || uri=$(mirror_from_sources) || return
		debootstrap --variant=minbase "$1" "$root.part" "$uri" > "$out/log/root-$1.log" 2>&1 ||
			{ tail -n 3 "$out/log/root-$1.log"; return 1; }
	fi
	mv "$root.part" "$root"
}

# clean_root SUITE ROOT DIRECTORY: a copy of that system, as what is installed is to go
# into a clean one; with the archive's lists.
clean_root()
{
	make_root "$1" && rm -rf "$2" && mkdir -p "${2%/*}" && cp -a "$out/roots/$1" "$2" &&
		"$here/selftests/portable/inside" "$2" "$3" apt-get update -qq
}

# apt_install ROOT DIRECTORY PACKAGE...: without a sync for each file, as the system is
# deleted soon.
apt_install()
{
	"$here/selftests/portable/inside" "$1" "$2" apt-get install -y --no-install-recommends \
		-o DPkg::Options::=--force-unsafe-io "${@:3}"
}

# static_program FILE: a truth program that runs in any of them. They have no C library
# for those of other tests.
static_program()
{
	local built=$out/selftests/truth

	make -s -C "$here/selftests/truth" OUT="$built" "$built/calls.mixed" &&
		gcc -static "$built"/obj/calls.mixed.{A,B}.o -o "$1"
}

# no_traces DIRECTORY: no path of the machine that it was built on is in its files.
no_traces() { ! grep -rlF "$here" "$1"; }

# For two seconds the system's own program, with its own C library.
# shellcheck disable=SC2016,SC2034 # perl's own; for those who source this
perl_program='$end = time + 2; while (time < $end) { my @sorted = sort { $b <=> $a } 1 .. 999 }'
