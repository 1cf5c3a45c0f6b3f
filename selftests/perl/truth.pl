# SPDX-License-Identifier: GPL-2.0
#
# A program whose subs have one caller each, which their names tell.
#
# usage: truth.pl SECONDS
#
# p_NAME_of_CALLER is called by Perl, c_NAME_of_CALLER by C code that CALLER has called, and
# l_NAME_of_CALLER by a library. r_NAME_of_CALLER calls itself, too. A sub without a name, code that
# is evaluated, and a file that is loaded are a part of what has called them.
# selftests/python/judge compares chains with that.

use strict;
use warnings;
use Config;
use File::Temp;
use List::Util qw(first reduce);
use Time::HiRes qw(clock_gettime CLOCK_MONOTONIC);

sub spin
{
	my ($times) = @_;
	my $total = 0;

	for my $i (1 .. $times) {
		$total += $i * $i & 0xffff;
	}
	return $total;
}

sub p_spin_of_loop
{
	my $total = 0;

	for my $i (1 .. 4000) {
		$total += $i * $i & 0xffff;
	}
	return $total;
}

sub p_loop_of_round
{
	return p_spin_of_loop();
}

sub r_down_of_recursion
{
	my ($depth) = @_;
	my $i = 0;

	if ($depth > 0) {
		for my $once (1) {
			return r_down_of_recursion($depth - 1);
		}
	}
	$i++ while $i < 4000;
	return $i;
}

sub p_recursion_of_round
{
	return r_down_of_recursion(60);
}

sub p_key_of_sort
{
	my ($x) = @_;

	$x ^= $_ for 1 .. 40;
	return $x;
}

sub p_sort_of_round
{
	my @sorted = sort { p_key_of_sort($a) <=> p_key_of_sort($b) } 1 .. 20;

	return @sorted;
}

sub c_compare_of_named
{
	my $i = 0;

	$i++ while $i < 40;
	return $a <=> $b;
}

sub p_named_of_round
{
	my @sorted = sort c_compare_of_named 1 .. 20;

	return @sorted;
}

# What a block calls last has nothing to go on with, as what C code calls.
sub p_last_of_block
{
	my $i = 0;

	$i++ while $i < 40;
	return $_[0] <=> $_[1];
}

sub p_block_of_round
{
	my @sorted = sort { p_last_of_block($a, $b) } 1 .. 20;

	return @sorted;
}

sub c_found_of_first
{
	my ($x) = @_;
	my $i = 0;

	$i++ while $i < 200;
	return $x > 8;
}

sub p_first_of_round
{
	return first { c_found_of_first($_) } 1 .. 10;
}

sub c_step_of_reduce
{
	my ($x, $y) = @_;
	my $i = 0;

	$i++ while $i < 100;
	return $x * 31 + $y & 0xffff;
}

sub p_reduce_of_round
{
	return reduce { c_step_of_reduce($a, $b) } 1 .. 20;
}

# eval begins the evaluator anew in what C code has called.
sub p_tried_of_try
{
	my $i = 0;

	$i++ while $i < 100;
	die "no\n" if $_[0] == 3;
}

sub p_after_of_try
{
	my $i = 0;

	$i++ while $i < 100;
}

sub c_try_of_catch
{
	eval { p_tried_of_try($_[0]); 1 } or p_after_of_try();
	eval { eval { p_tried_of_try(3) }; p_after_of_try() };
	p_after_of_try();
	return 0;
}

sub p_catch_of_round
{
	return first { c_try_of_catch($_) } 1 .. 4;
}

# Operators, variables and objects that run subs.
package Number {
	use overload
		'+' => \&c_add_of_overload,
		'<=>' => sub { main::c_less_of_overload(@_) },
		'""' => sub { 'number' };

	sub new
	{
		my ($class, $value) = @_;

		return bless { value => $value }, $class;
	}

	sub c_add_of_overload
	{
		my ($self, $other) = @_;
		my $i = 0;

		$i++ while $i < 200;
		return $self->{value} + (ref $other ? $other->{value} : $other);
	}

	sub DESTROY
	{
		main::p_gone_of_DESTROY();
	}
}

sub c_less_of_overload
{
	my ($x, $y) = @_;
	my $i = 0;

	$i++ while $i < 100;
	return $x->{value} <=> $y->{value};
}

sub p_gone_of_DESTROY
{
	my $i = 0;

	$i++ while $i < 100;
}

sub p_overload_of_round
{
	my ($x, $y) = (Number->new(1), Number->new(2));

	return $x + $y + ($x < $y);
}

package Tied {
	sub TIESCALAR
	{
		return bless {}, shift;
	}

	sub FETCH
	{
		return main::p_fetched_of_FETCH();
	}

	sub STORE
	{
		main::p_stored_of_STORE();
	}
}

sub p_fetched_of_FETCH
{
	return main::spin(100);
}

sub p_stored_of_STORE
{
	return main::spin(100);
}

sub p_tie_of_round
{
	tie my $tied, 'Tied';
	$tied = $tied + 1;
	return $tied;
}

sub c_died_of_fails
{
	return spin(200);
}

sub p_fails_of_die
{
	die "no\n";
}

sub c_warned_of_warn
{
	return spin(200);
}

sub p_warn_of_round
{
	local $SIG{__WARN__} = \&c_warned_of_warn;

	warn "no\n";
	return undef;
}

sub p_die_of_round
{
	local $SIG{__DIE__} = \&c_died_of_fails;

	eval { p_fails_of_die() };
	return $@;
}

our $AUTOLOAD;

sub AUTOLOAD
{
	return p_loaded_of_AUTOLOAD();
}

sub p_loaded_of_AUTOLOAD
{
	return spin(300);
}

sub p_autoload_of_round
{
	return main->nothing();
}

sub p_replaced_of_subst
{
	my ($text) = @_;
	my $i = 0;

	$i++ while $i < 50;
	return $text * 3;
}

sub p_subst_of_round
{
	my $text = "1 22 333 4444 " x 5;

	$text =~ s/(\d+)/p_replaced_of_subst($1)/ge;
	return $text;
}

sub p_code_of_regex
{
	my $i = 0;

	$i++ while $i < 50;
}

sub p_regex_of_round
{
	return "aaaa" =~ /^(?:a(?{ p_code_of_regex() }))*$/;
}

sub p_evaluated_of_eval
{
	return spin(500);
}

sub p_eval_of_round
{
	return eval "# evaluated\n p_evaluated_of_eval(); spin(200)";
}

my $file = File::Temp->new(SUFFIX => '.pl');
print $file "main::p_required_of_require();\nmain::spin(300);\n1;\n";
close $file;

sub p_required_of_require
{
	return spin(500);
}

sub p_require_of_round
{
	delete $INC{$file->filename};
	return require $file->filename;
}

sub p_inner_of_closure
{
	return spin(300);
}

sub p_closure_of_round
{
	my $n = 0;
	my @closures = map { my $x = $_; sub { $n += $x + p_inner_of_closure() } } 1 .. 3;

	$_->() for @closures;
	return $n;
}

sub p_left_of_round
{
	return spin(500);
}

sub leave
{
	goto &p_left_of_round;
}

sub p_cell_of_TRUTH
{
	return spin(300);
}

format TRUTH =
@<<<<<<
p_cell_of_TRUTH()
.

open(TRUTH, '>', '/dev/null') or die "/dev/null: $!";

sub p_write_of_round
{
	write TRUTH;
	return undef;
}

sub p_hash_of_round
{
	my %h = map { ("k$_" => $_) } 1 .. 200;

	return scalar grep { $h{$_} % 2 } sort keys %h;
}

sub p_round_of_run
{
	p_loop_of_round();
	p_recursion_of_round();
	p_sort_of_round();
	p_named_of_round();
	p_block_of_round();
	p_first_of_round();
	p_reduce_of_round();
	p_catch_of_round();
	p_overload_of_round();
	p_tie_of_round();
	p_die_of_round();
	p_warn_of_round();
	p_autoload_of_round();
	p_subst_of_round();
	p_regex_of_round();
	p_eval_of_round();
	p_require_of_round();
	p_closure_of_round();
	leave();
	p_write_of_round();
	p_hash_of_round();
	return undef;
}

sub now
{
	return clock_gettime(CLOCK_MONOTONIC);
}

sub p_run_of_root
{
	my ($end) = @_;

	p_round_of_run() while now() < $end;
	return undef;
}

sub p_busy_of_thread
{
	my $i = 0;

	$i++ while $i < 20_000;
}

sub l_thread_of_root
{
	my ($end) = @_;

	p_busy_of_thread() while now() < $end;
	return undef;
}

my $end = now() + $ARGV[0];
my $other;

if ($Config{useithreads}) {
	require threads;
	$other = threads->create(\&l_thread_of_root, $end);
}
p_run_of_root($end);
$other->join() if $other;
