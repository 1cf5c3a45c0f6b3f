# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0
# shellcheck disable=SC2154 # real.sh sets what is shared
#
# Rust (rust.rs): a release build, with panics that unwind and with such that abort.

test_rust()
{
	local panic

	need rustc rustc "Rust" || return
	for panic in unwind abort; do
		builds "Rust" rustc -O -C "panic=$panic" -o "rust-$panic" "$real/rust.rs" || return
		record "rust-$panic.data" "./rust-$panic" 1
		# See cpp.sh for what a panic's way back costs. A method's name has its trait.
		exact "Rust, panic=$panic" "rust-$panic.data" --table "$real/rust.rs" \
			--name '^(<rust::Square|[^ ]*)' --min-exact 98.5 --min-root 98.5
	done
}
