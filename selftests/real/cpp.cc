// SPDX-License-Identifier: GPL-2.0
/*
 * C++: std::sort() with a comparator, exceptions through ten frames, virtual
 * calls, coroutines.
 */
#include <algorithm>
#include <coroutine>
#include <cstdlib>
#include <ctime>
#include <memory>
#include <vector>
#include "truth.h"

/* truth.h's macros are C's: a C++ name has its class before it. */
#define FN(ret, name, params, line)			\
	TRUTH(#name " " line);				\
	__attribute__((noipa, noinline, noclone))	\
	ret name params

struct item {
	long key;
	char rest[24];
};

static std::vector<item> items(256);

FN(static bool, compare_keys, (long a, long b), "compare")
{
	spin(10);
	return a < b;
}

FN(static bool, compare, (const item &a, const item &b), "sort_items via tail")
{
	bool less = compare_keys(a.key, b.key);

	spin(2);
	return less;
}

FN(static void, sort_items, (), "sorting libc")
{
	std::sort(items.begin(), items.end(), compare);
}

FN(static void, sorting, (), "main")
{
	for (unsigned long i = 0; i < items.size(); i++)
		items[i].key = i * 7919 % 251;
	sort_items();
	spin(100);
}

/* Every other frame has something to destroy: a landing pad. */
struct burning {
	~burning() { spin(50); }
};

FN(static void, throw0, (unsigned long n), "throw1 libc")
{
	spin(20);
	if (opaque(n))
		throw n;
}

#define THROUGH(at, below, caller, libc)			\
FN(static void, throw##at, (unsigned long n), #caller libc)	\
{								\
	std::conditional_t<sizeof(libc) != 1, burning, long> b;	\
								\
	keep(&b);						\
	spin(20);						\
	below(n);						\
	spin(20);						\
	keep(&b);						\
}

THROUGH(1, throw0, throw2, "")
THROUGH(2, throw1, throw3, " libc")
THROUGH(3, throw2, throw4, "")
THROUGH(4, throw3, throw5, " libc")
THROUGH(5, throw4, throw6, "")
THROUGH(6, throw5, throw7, " libc")
THROUGH(7, throw6, throw8, "")
THROUGH(8, throw7, throw9, " libc")
THROUGH(9, throw8, catching, "")

FN(static void, catching, (unsigned long n), "throwing libc")
{
	try {
		throw9(n);
	} catch (unsigned long) {
		spin(20);
	}
}

FN(static void, throwing, (), "main")
{
	for (unsigned long i = 0; i < 4; i++) {
		catching(i);
		spin(20);
	}
}

struct shape {
	virtual long area(long n) = 0;
	virtual ~shape() = default;
};

struct square : shape {
	long area(long n) override;
};

struct other { virtual long more(long n) = 0; virtual ~other() = default; };

/* The second base is reached through a thunk, which jumps. */
struct both : shape, other {
	long area(long n) override;
	long more(long n) override;
};

FN(static long, area_leaf, (long n), "square::area")
{
	spin(40);
	return n;
}

FN(long, square::area, (long n), "call_area indirect")
{
	long ret = area_leaf(n);

	spin(10);
	return ret + 1;
}

FN(long, both::area, (long n), "nobody")
{
	return n;
}

FN(long, both::more, (long n), "call_more via tail")
{
	spin(40);
	return n + 1;
}

FN(static long, call_area, (shape *s), "virtuals")
{
	spin(10);
	return s->area(3) + 1;
}

FN(static long, call_more, (other *o), "virtuals libc")
{
	spin(10);
	return o->more(3) + 1;
}

FN(static void, virtuals, (shape *s, other *o), "main")
{
	for (int i = 0; i < 100; i++)
		keep(reinterpret_cast<void *>(call_area(s) + call_more(o)));
}

struct task {
	struct promise_type {
		task get_return_object() { return { std::coroutine_handle<promise_type>::from_promise(*this) }; }
		std::suspend_always initial_suspend() { return {}; }
		std::suspend_always final_suspend() noexcept { return {}; }
		void return_void() {}
		void unhandled_exception() { std::abort(); }
	};
	std::coroutine_handle<promise_type> handle;
};

FN(static void, coroutine_leaf, (long n), "coroutine")
{
	spin(n);
}

/* Its body is a function of its own, coroutine(...) [clone .actor]. */
TRUTH("coroutine resume via tail");
static task coroutine(long n)
{
	for (;;) {
		coroutine_leaf(n);
		spin(20);
		co_await std::suspend_always{};
	}
}

FN(static void, resume, (std::coroutine_handle<task::promise_type> handle), "coroutines libc")
{
	spin(10);
	handle.resume();
	spin(10);
}

FN(static void, coroutines, (task &t), "main")
{
	for (int i = 0; i < 200; i++)
		resume(t.handle);
}

FN(static double, now, (), "main libc")
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return ts.tv_sec + ts.tv_nsec / 1e9;
}

FN(int, main, (int argc, char **argv), "@start")
{
	double end = now() + (argc > 1 ? argv[1][0] - '0' : 2);
	static square s;
	static both b;
	static task t = coroutine(200);

	while (now() < end) {
		sorting();
		throwing();
		virtuals(&s, &b);
		coroutines(t);
	}
	return 0;
}
