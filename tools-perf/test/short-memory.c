// SPDX-License-Identifier: GPL-2.0
#include <stdlib.h>
#include <string.h>
#include "short-memory.h"

void *__real_malloc(size_t size);
void *__real_calloc(size_t nr, size_t size);
void *__real_realloc(void *ptr, size_t size);
char *__real_strdup(const char *text);

void *__wrap_malloc(size_t size);
void *__wrap_calloc(size_t nr, size_t size);
void *__wrap_realloc(void *ptr, size_t size);
char *__wrap_strdup(const char *text);

/* Of the thread that tests: others that are at work go on. */
static __thread bool armed, failed;
static __thread unsigned int left;

void short_memory_begin(unsigned int nr)
{
	left = nr;
	failed = false;
	armed = true;
}

bool short_memory_end(void)
{
	armed = false;
	return failed;
}

static bool fails(void)
{
	if (!armed || left--)
		return false;
	armed = false;
	failed = true;
	return true;
}

void *__wrap_malloc(size_t size)
{
	return fails() ? NULL : __real_malloc(size);
}

void *__wrap_calloc(size_t nr, size_t size)
{
	return fails() ? NULL : __real_calloc(nr, size);
}

void *__wrap_realloc(void *ptr, size_t size)
{
	return fails() ? NULL : __real_realloc(ptr, size);
}

char *__wrap_strdup(const char *text)
{
	return fails() ? NULL : __real_strdup(text);
}
