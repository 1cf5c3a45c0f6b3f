// SPDX-License-Identifier: GPL-2.0
/*
 * The program of `make demo`: makes records, sorts them with qsort(), joins
 * equal ones and looks some up. It is a truth program like the others; only
 * its names are those of a program that one would profile.
 */
#include <stdlib.h>
#include <string.h>
#include "truth.h"

#define RECORDS	400
#define PAGE	16
#define KEY_LEN	32

struct record {
	char key[KEY_LEN];
	long value;
};

FN_A(unsigned int, next_random, (unsigned int *state), "make_key")
{
	*state = *state * 1103515245 + 12345;
	return *state >> 16;
}

FN_B(void, make_key, (char *key, unsigned int *state), "load_records")
{
	int i;

	for (i = 0; i < KEY_LEN - 2; i++)
		key[i] = 'a';
	for (; i < KEY_LEN; i++)
		key[i] = 'a' + next_random(state) % 26;
}

FN_A(void, load_records, (struct record *rec, unsigned int *state), "main")
{
	int i;

	for (i = 0; i < RECORDS; i++) {
		make_key(rec[i].key, state);
		rec[i].value = i;
	}
}

/* Debian's memcmp() sets up no frame: by frame pointers, compare_keys is lost. */
FN_B(int, compare_keys, (const char *a, const char *b), "compare_records libc")
{
	return memcmp(a, b, opaque(KEY_LEN));
}

FN_A(int, compare_records, (const void *a, const void *b), "sort_records via")
{
	const struct record *x = a, *y = b;
	int ret = compare_keys(x->key, y->key);

	return ret ? ret : (x->value > y->value) - (x->value < y->value);
}

/* Page by page: libc's merge sort recurses as deep as the page is large. */
FN_B(void, sort_records, (struct record *rec), "index_records libc")
{
	int i;

	for (i = 0; i < RECORDS; i += PAGE)
		qsort(rec + i, PAGE, sizeof(*rec), compare_records);
}

FN_A(int, same_key, (const char *a, const char *b), "join_equal libc")
{
	return !memcmp(a, b, opaque(KEY_LEN));
}

FN_B(int, join_equal, (struct record *rec), "index_records")
{
	int i, kept = 0;

	for (i = 1; i < RECORDS; i++) {
		spin(20);
		if (same_key(rec[kept].key, rec[i].key))
			rec[kept].value += rec[i].value;
		else
			rec[++kept] = rec[i];
	}
	return kept + 1;
}

FN_A(int, index_records, (struct record *rec), "main")
{
	sort_records(rec);
	return join_equal(rec);
}

FN_B(long, checksum, (const char *key), "look_up")
{
	long sum = 0;
	int i;

	for (i = 0; i < KEY_LEN; i++)
		sum = sum * 31 + key[i];
	return sum;
}

FN_A(long, look_up, (const struct record *rec, int n), "main")
{
	long sum = 0;
	int i;

	for (i = 0; i < n; i++)
		sum += checksum(rec[i].key);
	return sum;
}

#define WORK() do {					\
	static struct record rec[RECORDS];		\
	static unsigned int state = 1;			\
	int n;						\
							\
	load_records(rec, &state);			\
	n = index_records(rec);				\
	keep((void *)look_up(rec, n / 4));			\
} while (0)

#include "main.h"
