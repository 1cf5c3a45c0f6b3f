# SPDX-License-Identifier: GPL-2.0
#
# A program whose methods have one caller each, which their names tell.
#
# usage: truth.rb SECONDS
#
# p_NAME_of_CALLER is called by Ruby, c_NAME_of_CALLER by a method in C that CALLER has called, and
# l_NAME_of_CALLER by a library. r_NAME_of_CALLER calls itself, too. A block is a part of the method
# that it is in. selftests/python/judge compares chains with that.

def p_spin_of_loop
  total = 0
  i = 0
  while i < 4000
    total += i * i & 0xffff
    i += 1
  end
  total
end

def p_loop_of_round
  p_spin_of_loop
end

def r_down_of_recursion(depth)
  return r_down_of_recursion(depth - 1) if depth > 0
  i = 0
  i += 1 while i < 4000
  i
end

def p_recursion_of_round
  r_down_of_recursion(60)
end

def p_key_of_sort(x)
  200.times { |i| x ^= i }
  -x
end

def p_sort_of_round
  (0..40).to_a.sort_by { |x| p_key_of_sort(x) }
end

def c_double_of_map(x)
  i = 0
  i += x while i < 300
  i
end

def p_map_of_round
  [1, 2, 3, 4, 5, 6].map(&method(:c_double_of_map))
end

def p_step_of_each(a)
  a.inject { |x, y| (x * 31 + y) & 0xffff }
end

def p_each_of_round
  60.times { |i| [[i, i + 1], [2, 3, 4]].each { |a| p_step_of_each(a) } }
end

def p_replace_of_gsub(text)
  (text.to_i * 3).to_s
end

def p_gsub_of_round
  ("1 22 333 4444 " * 30).gsub(/\d+/) { |text| p_replace_of_gsub(text) }
end

# What is compared.
class Version
  include Comparable

  attr_reader :number

  def initialize(number)
    @number = number
  end

  def p_compare_of_operator(other)
    i = 0
    i += 1 while i < 50
    number <=> other.number
  end

  def <=>(other)
    p_compare_of_operator(other)
  end
end

def p_versions_of_round
  (1..20).map { |i| Version.new(i * 7 % 20) }.sort
  Version.new(1) < Version.new(2)
end

def p_work_of_fiber
  i = 0
  i += 1 while i < 500
end

def p_fiber_of_round
  fiber = Fiber.new do
    8.times do
      p_work_of_fiber
      Fiber.yield
    end
  end
  8.times { fiber.resume }
end

def p_item_of_enumerator(i)
  200.times { |j| i ^= j }
  i
end

def p_enumerator_of_round
  numbers = Enumerator.new { |y| 10.times { |i| y << p_item_of_enumerator(i) } }
  10.times { numbers.next }
end

def p_evaluated_of_eval
  i = 0
  i += 1 while i < 2000
end

def p_eval_of_round
  eval("p_evaluated_of_eval")
end

# Methods that no "def" has.
class Ghost
  define_method(:defined) { p_defined_of_ghost }

  def p_defined_of_ghost
    i = 0
    i += 1 while i < 2000
  end

  def p_missing_of_ghost
    i = 0
    i += 1 while i < 2000
  end

  def method_missing(_name)
    p_missing_of_ghost
  end

  def respond_to_missing?(*)
    true
  end
end

def p_ghost_of_round
  Ghost.new.defined
  Ghost.new.nothing
end

def p_fails_of_raise(i)
  raise ArgumentError, i.to_s
end

def p_raise_of_round
  60.times do |i|
    p_fails_of_raise(i)
  rescue ArgumentError
    p_rescued_of_raise
  ensure
    p_ensured_of_raise
  end
end

def p_rescued_of_raise
  i = 0
  i += 1 while i < 100
end

def p_ensured_of_raise
  i = 0
  i += 1 while i < 100
end

def p_hash_of_round
  h = {}
  400.times { |i| h["k#{i}"] = i }
  h.each_with_object([]) { |(k, v), all| all << k if v.odd? }
  h.sort_by { |_, v| -v }.to_h.select { |_, v| v > 3 }
end

def p_round_of_run
  p_loop_of_round
  p_recursion_of_round
  p_sort_of_round
  p_map_of_round
  p_each_of_round
  p_gsub_of_round
  p_versions_of_round
  p_fiber_of_round
  p_enumerator_of_round
  p_eval_of_round
  p_ghost_of_round
  p_raise_of_round
  p_hash_of_round
end

def p_run_of_root(ends)
  p_round_of_run while Process.clock_gettime(Process::CLOCK_MONOTONIC) < ends
end

def p_busy_of_thread
  i = 0
  i += 1 while i < 20_000
end

def l_thread_of_root(ends)
  Thread.new { p_busy_of_thread while Process.clock_gettime(Process::CLOCK_MONOTONIC) < ends }
end

def l_ractor_of_root(ends)
  Warning[:experimental] = false
  Ractor.new(ends) do |limit|
    while Process.clock_gettime(Process::CLOCK_MONOTONIC) < limit
      i = 0
      i += 1 while i < 20_000
    end
  end
end

ends = Process.clock_gettime(Process::CLOCK_MONOTONIC) + ARGV[0].to_f
other = l_thread_of_root(ends)
ractor = l_ractor_of_root(ends)
p_run_of_root(ends)
other.join
ractor.take
