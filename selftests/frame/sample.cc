// SPDX-License-Identifier: GPL-2.0
/*
 * Code for the oracles: compiled at several levels, with and without frame
 * pointers.  Has what frames are made of: many and few registers, exceptions,
 * tail calls, big and variable arrays, alignment, switches, virtual calls.
 */
#include <alloca.h>
#include <algorithm>
#include <cstdarg>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <map>
#include <memory>
#include <regex>
#include <sstream>
#include <stdexcept>
#include <string>
#include <vector>

struct shape {
	virtual ~shape() {}
	virtual double area() const = 0;
	virtual const char *name() const { return "shape"; }
};

struct square : shape {
	double side;
	explicit square(double s) : side(s) {}
	double area() const override { return side * side; }
	const char *name() const override { return "square"; }
};

struct circle : shape {
	double radius;
	explicit circle(double r) : radius(r) {}
	double area() const override { return 3.14159 * radius * radius; }
};

__attribute__((noinline)) double tail_virtual(const shape *s)
{
	return s->area();
}

__attribute__((noinline, noreturn)) void fail(const char *what)
{
	throw std::runtime_error(what);
}

__attribute__((noinline)) int shrink_wrapped(int n, const std::string &s)
{
	if (n < 3)
		return n;
	std::map<std::string, int> m;
	for (int i = 0; i < n; i++)
		m[s + std::to_string(i)] = i;
	return (int)m.size();
}

__attribute__((noinline)) long variable(int n)
{
	long *a = (long *)alloca(n * sizeof(*a)), sum = 0;

	for (int i = 0; i < n; i++)
		a[i] = i * 7;
	qsort(a, n, sizeof(*a), [](const void *x, const void *y) {
		long p = *(const long *)x, q = *(const long *)y;

		return p < q ? 1 : p > q ? -1 : 0;
	});
	for (int i = 0; i < n; i++)
		sum += a[i] * (i + 1);
	return sum;
}

__attribute__((noinline)) float aligned(const float *v, int n)
{
	alignas(64) float buf[64];

	for (int i = 0; i < 64; i++)
		buf[i] = v[i % n] * i;
	return *std::max_element(buf, buf + 64);
}

__attribute__((noinline)) int big(int n)
{
	char buf[40000];

	memset(buf, n, sizeof(buf));
	return snprintf(buf, sizeof(buf), "%d %s", n, getenv("HOME"));
}

__attribute__((noinline)) int nine(int a, int b, int c, int d, int e, int f,
				   int g, int h, int i)
{
	if (a > 100)
		fail("nine");
	return a + b * c + d * e + f * g + h * i;
}

__attribute__((noinline)) int choose(int op, int a, int b)
{
	switch (op) {
	case 0: return a + b;
	case 1: return shrink_wrapped(a, "x") - b;
	case 2: return nine(a, b, a, b, a, b, a, b, a);
	case 3: return (int)variable(a & 15);
	case 4: return big(b);
	case 5: return a / (b ? b : 1);
	case 6: return a ^ b;
	case 7: return strcmp(std::to_string(a).c_str(), "7");
	default: fail("choose");
	}
}

__attribute__((noinline)) int format(char *buf, size_t len, const char *fmt, ...)
{
	va_list ap;
	int ret;

	va_start(ap, fmt);
	ret = vsnprintf(buf, len, fmt, ap);
	va_end(ap);
	return ret;
}

__attribute__((noinline)) int catching(int n)
{
	try {
		std::vector<std::unique_ptr<shape>> v;

		v.push_back(std::make_unique<square>(n));
		v.push_back(std::make_unique<circle>(n));
		if (n % 3 == 0)
			fail("three");
		return (int)tail_virtual(v[n & 1].get());
	} catch (const std::runtime_error &e) {
		return (int)strlen(e.what());
	}
}

__attribute__((noinline)) int recursive(int n)
{
	return n < 2 ? n : recursive(n - 1) + recursive(n - 2);
}

int main(int argc, char **argv)
{
	std::regex re("([a-z]+)-([0-9]+)");
	std::ostringstream out;
	float v[7] = { 1, 2, 3, 4, 5, 6, 7 };
	long sum = 0;
	int rounds = argc > 1 ? atoi(argv[1]) : 2;

	for (int i = 0; i < rounds; i++) {
		std::string s = "abc-" + std::to_string(i);
		std::smatch m;
		char buf[64];

		if (std::regex_match(s, m, re))
			sum += (long)m[2].str().size();
		sum += choose(i % 8, i & 63, (i & 63) + 1) + catching(i) + recursive(5);
		sum += (long)aligned(v, 7) + format(buf, sizeof(buf), "%d", i);
		out << s << sum;
	}
	printf("%ld %zu\n", sum, out.str().size());
	return 0;
}
