# SPDX-License-Identifier: GPL-2.0
#
# Evals in subs that C code has called. Perl's docatch() begins one more loop of the evaluator for
# the first eval. That loop runs the block, and then all that the loop that C code has begun would
# have run.
#
# usage: docatch.pl SECONDS

use strict;
use warnings;
use Time::HiRes qw(clock_gettime CLOCK_MONOTONIC);

sub spin
{
	my $i = 0;

	$i++ while $i < 4000;
	return $i;
}

# The first eval: the outer loop has called first_eval().
sub in_first
{
	return spin();
}

sub first_eval
{
	eval { in_first() };
	return 0;
}

# Two evals of one loop, each within the other: it has called deeper_eval().
sub in_deeper
{
	return spin();
}

sub deeper_eval
{
	eval { in_deeper() };
	return 0;
}

sub outer_eval
{
	eval { deeper_eval() };
	return 0;
}

# An eval after the first one: the inner loop has called later_eval().
sub in_later
{
	return spin();
}

sub later_eval
{
	eval { in_later() };
	return 0;
}

sub ended_eval
{
	eval { 1 };
	return later_eval();
}

# No eval any more.
sub after_eval
{
	return spin();
}

sub no_eval
{
	eval { 1 };
	return after_eval();
}

# A string; and an eval that is all of a block.
sub in_text
{
	return spin();
}

sub text_eval
{
	eval 'in_text()';
	return 0;
}

sub in_block
{
	spin();
	return 0;
}

my $end = clock_gettime(CLOCK_MONOTONIC) + $ARGV[0];

while (clock_gettime(CLOCK_MONOTONIC) < $end) {
	my @sorted = sort { first_eval() } 1, 2;
	@sorted = sort { outer_eval() } 1, 2;
	@sorted = sort { ended_eval(); 0 } 1, 2;
	@sorted = sort { no_eval(); 0 } 1, 2;
	@sorted = sort { text_eval() } 1, 2;
	@sorted = sort { eval { in_block() } } 1, 2;
}
