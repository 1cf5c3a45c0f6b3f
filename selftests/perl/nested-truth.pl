# SPDX-License-Identifier: GPL-2.0
#
# A program in two languages: Perl calls Python, which calls Perl, which calls Python. Names are as
# in truth.pl. selftests/python/judge --nested compares chains with them.
#
# usage: nested-truth.pl SECONDS

use strict;
use warnings;
use Inline::Python qw(py_call_function py_eval);
use Time::HiRes qw(clock_gettime CLOCK_MONOTONIC);

py_eval(<<'PYTHON');
import perl

def p_spin_of_leaf():
    total = 0
    for i in range(3000):
        total += i * i & 0xffff
    return total

def p_leaf_of_outer():
    return p_spin_of_leaf()

def p_callback_of_outer():
    return perl.main.c_inner_of_callback()

def c_outer_of_round():
    p_leaf_of_outer()
    return p_callback_of_outer()

def c_last_of_inner():
    total = 0
    for i in range(3000):
        total += i * i & 0xffff
    return total
PYTHON

sub p_loop_of_inner
{
	my $total = 0;

	$total += $_ * $_ & 0xffff for 1 .. 3000;
	return $total;
}

sub c_inner_of_callback
{
	return p_loop_of_inner() + py_call_function('__main__', 'c_last_of_inner');
}

sub p_round_of_root
{
	return py_call_function('__main__', 'c_outer_of_round');
}

my $end = clock_gettime(CLOCK_MONOTONIC) + $ARGV[0];

p_round_of_root() while clock_gettime(CLOCK_MONOTONIC) < $end;
