# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0
# shellcheck disable=SC2154 # real.sh sets what is shared
#
# Processes that run several languages: the functions of each are in the chain.

test_nested()
{
	nested_perl
	nested_vim
}

nested_perl()
{
	local name="Perl and Python that call each other"

	if ! perl -MInline::Python -e 1 2> /dev/null; then
		tap_skip "$name" "no Inline::Python: it is in Debian's package libinline-python-perl"
		return
	fi
	record nested.data perl "$here/selftests/perl/nested-truth.pl" 4
	complete "$name" nested.data 100 99
	if ! grep -q '^hybrid: BPF walked' nested.data.log; then
		tap_skip "$name: by name" "no BPF here"
		return
	fi
	ok "$name: by name" "$here/selftests/python/judge" --nested --min-whole 97 "$perf" \
		nested.data
	ok "$name: in the order of their calls" has_chain nested.data \
		'py::c_last_of_inner:.*>pl::main::c_inner_of_callback:.*>py::p_callback_of_outer:.*>pl::main::p_round_of_root:'
}

# An editor that has three.
nested_vim()
{
	local name="Python, Perl and Ruby in vim"

	if ! vim.nox --version 2> /dev/null | grep -q '+ruby'; then
		tap_skip "$name" "no vim.nox: it is in Debian's package vim-nox"
		return
	fi
	record vim.data vim.nox -es -u NONE -S "$here/selftests/real/nested.vim"
	if ! grep -q '^hybrid: BPF walked' vim.data.log; then
		tap_skip "$name" "no BPF here"
		return
	fi
	ok "$name: each of the innermost has those that have called it" has_share vim.data \
		'^[^:]*>rb::Object#rb_spin:' \
		'>rb::Object#rb_work:.*>pl::main::pl_work:.*>py::py_work:' 95
}
