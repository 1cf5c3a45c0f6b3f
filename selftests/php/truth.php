<?php
// SPDX-License-Identifier: GPL-2.0
//
// A program whose functions have one caller each, which their names tell.
//
// usage: truth.php SECONDS
//
// p_NAME_of_CALLER is called by PHP. c_NAME_of_CALLER is called by C code that CALLER has called,
// or by code of another file. r_NAME_of_CALLER calls itself, too. selftests/python/judge compares
// chains with that.

function p_spin_of_loop()
{
    for ($total = $i = 0; $i < 4000; $i++)
        $total += $i * $i & 0xffff;
    return $total;
}

function p_loop_of_round()
{
    return p_spin_of_loop();
}

function r_down_of_recursion($depth)
{
    if ($depth > 0)
        return r_down_of_recursion($depth - 1);
    for ($i = 0; $i < 4000; $i++)
        ;
    return $i;
}

function p_recursion_of_round()
{
    r_down_of_recursion(60);
}

function c_order_of_sort($x, $y)
{
    for ($i = 0; $i < 40; $i++)
        ;
    return $x <=> $y;
}

function p_sort_of_round()
{
    $numbers = [];
    for ($i = 0; $i < 60; $i++)
        $numbers[] = $i * 7919 % 521;
    usort($numbers, 'c_order_of_sort');
}

function p_map_of_round()
{
    $double = function ($x) {
        return p_double_of_closure($x);
    };
    return array_map($double, [1, 2, 3, 4, 5, 6]);
}

function p_double_of_closure($x)
{
    for ($i = 0; $i < 300; $i++)
        $x ^= $i;
    return $x;
}

function p_walk_of_round()
{
    $numbers = range(1, 20);
    array_walk($numbers, static fn(&$x) => $x = p_arrow_of_closure($x));
    array_filter($numbers, 'strlen');
    array_map('c_named_of_walk', $numbers);
}

function p_arrow_of_closure($x)
{
    for ($i = 0; $i < 100; $i++)
        $x ^= $i;
    return $x;
}

function c_named_of_walk($x)
{
    for ($i = 0; $i < 100; $i++)
        $x ^= $i;
    return $x;
}

function c_replace_of_preg($match)
{
    for ($i = 0; $i < 100; $i++)
        ;
    return (string)((int)$match[0] * 3);
}

function p_preg_of_round()
{
    preg_replace_callback('/\d+/', 'c_replace_of_preg', str_repeat('1 22 333 4444 ', 10));
}

function p_strings_of_round()
{
    $text = str_repeat('some words and more ', 400);
    for ($i = 0; $i < 10; $i++)
        md5(implode(',', array_reverse(explode(' ', $text))));
}

function p_value_of_current($i)
{
    for ($j = 0; $j < 300; $j++)
        $i ^= $j;
    return $i;
}

// What foreach and iterator_to_array() go through.
class Numbers implements Iterator, Countable, ArrayAccess, JsonSerializable
{
    private int $at = 0;

    public function current(): mixed
    {
        return p_value_of_current($this->at);
    }

    public function key(): mixed
    {
        return $this->at;
    }

    public function next(): void
    {
        $this->at++;
    }

    public function rewind(): void
    {
        $this->at = 0;
    }

    public function valid(): bool
    {
        return $this->at < 10;
    }

    public function count(): int
    {
        return p_counted_of_count();
    }

    public function offsetExists(mixed $offset): bool
    {
        return true;
    }

    public function offsetGet(mixed $offset): mixed
    {
        return p_got_of_offsetGet($offset);
    }

    public function offsetSet(mixed $offset, mixed $value): void
    {
    }

    public function offsetUnset(mixed $offset): void
    {
    }

    public function jsonSerialize(): mixed
    {
        return p_json_of_jsonSerialize();
    }
}

function p_counted_of_count()
{
    for ($i = 0; $i < 1000; $i++)
        ;
    return $i;
}

function p_got_of_offsetGet($x)
{
    for ($i = 0; $i < 1000; $i++)
        ;
    return $x;
}

function p_json_of_jsonSerialize()
{
    for ($i = 0; $i < 1000; $i++)
        ;
    return [1, 2];
}

function p_iterators_of_round()
{
    $numbers = new Numbers;
    foreach ($numbers as $x)
        p_each_of_iterators($x);
    iterator_to_array($numbers);
    count($numbers);
    $numbers[3];
    json_encode([$numbers, $numbers]);
}

function p_each_of_iterators($x)
{
    for ($i = 0; $i < 100; $i++)
        $x ^= $i;
}

class Magic
{
    public function __toString(): string
    {
        return p_text_of___toString();
    }

    public function __get($name)
    {
        return p_got_of___get($name);
    }

    public function __call($name, $arguments)
    {
        return $this->p_called_of___call($name);
    }

    public static function __callStatic($name, $arguments)
    {
        return static::p_static_of___callStatic($name);
    }

    public function __invoke($x)
    {
        return p_invoked_of___invoke($x);
    }

    public function __destruct()
    {
        p_destroyed_of___destruct();
    }

    public function p_called_of___call($name)
    {
        for ($i = 0; $i < 1000; $i++)
            ;
        return $name;
    }

    public static function p_static_of___callStatic($name)
    {
        for ($i = 0; $i < 1000; $i++)
            ;
        return $name;
    }
}

function p_text_of___toString()
{
    for ($i = 0; $i < 1000; $i++)
        ;
    return 'text';
}

function p_got_of___get($name)
{
    for ($i = 0; $i < 1000; $i++)
        ;
    return $name;
}

function p_invoked_of___invoke($x)
{
    for ($i = 0; $i < 1000; $i++)
        ;
    return $x;
}

function p_destroyed_of___destruct()
{
    for ($i = 0; $i < 1000; $i++)
        ;
}

function p_magic_of_round()
{
    $magic = new Magic;
    strlen($magic);
    $text = "a $magic";
    $magic->nothing;
    $magic->unknown(1);
    Magic::other(2);
    $magic(3);
    array_map($magic, [1, 2]);
    call_user_func([$magic, 'fromC'], 1);
}

function p_numbers_of_generators($n)
{
    for ($i = 0; $i < $n; $i++)
        yield p_item_of_numbers($i);
}

function p_item_of_numbers($i)
{
    for ($j = 0; $j < 100; $j++)
        $i ^= $j;
    return $i;
}

function p_all_of_outer()
{
    yield from p_some_of_all();
}

function p_some_of_all()
{
    for ($i = 0; $i < 10; $i++)
        yield p_part_of_some($i);
}

function p_part_of_some($i)
{
    for ($j = 0; $j < 300; $j++)
        $i ^= $j;
    return $i;
}

function p_outer_of_generators()
{
    yield from p_all_of_outer();
}

function p_generators_of_round()
{
    foreach (p_numbers_of_generators(20) as $x)
        ;
    foreach (p_outer_of_generators() as $x)
        ;
}

function p_work_of_fiber()
{
    for ($i = 0; $i < 500; $i++)
        ;
}

function c_fiber_of_start()
{
    for ($i = 0; $i < 8; $i++) {
        p_work_of_fiber();
        array_map('c_mapped_of_fiber', [1, 2]);
        Fiber::suspend();
    }
}

function c_mapped_of_fiber($x)
{
    for ($i = 0; $i < 200; $i++)
        $x ^= $i;
    return $x;
}

function p_fibers_of_round()
{
    $fiber = new Fiber('c_fiber_of_start');
    $fiber->start();
    while (!$fiber->isTerminated())
        $fiber->resume();
}

function p_fails_of_exceptions($i)
{
    throw new RuntimeException((string)$i);
}

function p_exceptions_of_round()
{
    for ($i = 0; $i < 30; $i++) {
        try {
            p_fails_of_exceptions($i);
        } catch (RuntimeException $e) {
            p_caught_of_exceptions();
        } finally {
            p_finally_of_exceptions();
        }
    }
}

function p_caught_of_exceptions()
{
    for ($i = 0; $i < 100; $i++)
        ;
}

function p_finally_of_exceptions()
{
    for ($i = 0; $i < 100; $i++)
        ;
}

function c_evaluated_of_eval()
{
    for ($i = 0; $i < 2000; $i++)
        ;
}

function p_eval_of_round()
{
    eval('c_evaluated_of_eval();');
}

function p_load_of_autoload($class)
{
    eval("class $class {}");
    for ($i = 0; $i < 2000; $i++)
        ;
}

function c_autoload_of_classes($class)
{
    p_load_of_autoload($class);
}

function p_classes_of_round()
{
    static $n = 0;

    if ($n < 2000)
        class_exists('Loaded' . $n++);
}

function c_loaded_of_include()
{
    for ($i = 0; $i < 1000; $i++)
        ;
}

function p_include_of_round()
{
    include __DIR__ . '/included.php';
}

// In a class: static and instance methods, of parents and traits.
trait Counts
{
    public function p_trait_of_method()
    {
        for ($i = 0; $i < 1000; $i++)
            ;
    }
}

abstract class Base
{
    public function p_parent_of_method()
    {
        for ($i = 0; $i < 1000; $i++)
            ;
    }
}

class Derived extends Base
{
    use Counts;

    public function p_method_of_methods()
    {
        $this->p_trait_of_method();
        parent::p_parent_of_method();
        static::p_static_of_method();
    }

    public static function p_static_of_method()
    {
        for ($i = 0; $i < 1000; $i++)
            ;
    }
}

function p_methods_of_round()
{
    (new Derived)->p_method_of_methods();
    $anonymous = new class {
        public function p_anonymous_of_methods()
        {
            for ($i = 0; $i < 1000; $i++)
                ;
        }
    };
    $anonymous->p_anonymous_of_methods();
}

function c_output_of_buffer($text)
{
    for ($i = 0; $i < 1000; $i++)
        ;
    return '';
}

function p_buffer_of_round()
{
    ob_start('c_output_of_buffer');
    echo 'text';
    ob_end_clean();
}

function p_round_of_run()
{
    p_loop_of_round();
    p_recursion_of_round();
    p_sort_of_round();
    p_map_of_round();
    p_walk_of_round();
    p_preg_of_round();
    p_strings_of_round();
    p_iterators_of_round();
    p_magic_of_round();
    p_generators_of_round();
    p_fibers_of_round();
    p_exceptions_of_round();
    p_eval_of_round();
    p_classes_of_round();
    p_methods_of_round();
    p_buffer_of_round();
    p_include_of_round();
}

function p_run_of_root($end)
{
    while (microtime(true) < $end)
        p_round_of_run();
}

spl_autoload_register('c_autoload_of_classes');
p_run_of_root(microtime(true) + (float)$argv[1]);
