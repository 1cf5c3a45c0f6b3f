// SPDX-License-Identifier: GPL-2.0
/* What interpreters run in samples that perf top or trace has read and not resolved yet. */
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <linux/hash.h>
#include <linux/kernel.h>
#include "kept-functions.h"
#include "walk-record.h"

/* Samples whose functions are kept: of those that share a place the newer one's are. */
#define BITS	12

/**
 * struct kept - the functions of a sample
 * @ids: of the task
 * @time: of the sample
 * @id: of the event
 * @ip: that was sampled
 * @functions: in @words
 * @words: NULL: none
 */
struct kept {
	u64			 ids;
	u64			 time;
	u64			 id;
	u64			 ip;
	struct hybrid_sample_functions functions;
	void			*words;
};

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;

/* Under @mutex. */
static struct kept all[1 << BITS];

/* Bytes of functions that are kept. */
#define MAX_TEXTS	1048576

/* Under @mutex: functions that BPF has read, the oldest first. */
static struct {
	struct hybrid_kept_text	*first;
	size_t			 bytes;
} texts;

/* Of the thread that reads the rings: the last record with functions and without a sample. */
static struct kept before;

/* Of the thread that resolves: what the last call has given. */
static struct kept taken;

static struct kept *place_of(u64 ids, u64 time)
{
	return &all[hash_64(ids ^ time, BITS)];
}

static void replace(struct kept *place, struct kept *with)
{
	free(place->words);
	*place = *with;
	with->words = NULL;
}

/* Until the sample is resolved; @functions has none then. */
static void keep(struct kept *functions)
{
	pthread_mutex_lock(&mutex);
	replace(place_of(functions->ids, functions->time), functions);
	pthread_mutex_unlock(&mutex);
}

static void copy(struct kept *to, const struct hybrid_walked *walked)
{
	*to = (struct kept) {
		.ids = walked->ids, .time = walked->head.time, .id = walked->head.id,
		.ip = walked->head.ip, .functions = walked->functions,
		.words = malloc(hybrid_sample_functions__size(&walked->functions)),
	};
	if (to->words)
		hybrid_sample_functions__copy(&to->functions, to->words);
}

static bool is_before(const struct hybrid_walked *walked)
{
	return before.words && before.ids == walked->ids && before.id == walked->head.id &&
	       before.ip == walked->head.ip;
}

/* Under @mutex. NULL: there is none. */
static struct hybrid_kept_text *take_text(struct hybrid_kept_text **at)
{
	struct hybrid_kept_text *text = *at;

	if (text) {
		*at = text->next;
		texts.bytes -= sizeof(*text) + text->size;
	}
	return text;
}

/* A process may have ended before a sample of it is resolved: the oldest go if there are many. */
static void keep_text(const struct hybrid_walked *walked)
{
	struct hybrid_kept_text *text = malloc(sizeof(*text) + walked->text_size), **end;

	if (!text)
		return;
	text->next = NULL;
	text->pid = (u32)walked->ids;
	text->language = walked->language;
	text->size = walked->text_size;
	memcpy(text->text, walked->text, walked->text_size);
	pthread_mutex_lock(&mutex);
	for (end = &texts.first; *end; end = &(*end)->next)
		;
	*end = text;
	texts.bytes += sizeof(*text) + text->size;
	while (texts.bytes > MAX_TEXTS)
		free(take_text(&texts.first));
	pthread_mutex_unlock(&mutex);
}

struct hybrid_kept_text *hybrid_kept_functions__text(pid_t pid)
{
	struct hybrid_kept_text **at, *text;

	pthread_mutex_lock(&mutex);
	for (at = &texts.first; *at && (*at)->pid != pid; at = &(*at)->next)
		;
	text = take_text(at);
	pthread_mutex_unlock(&mutex);
	return text;
}

void hybrid_kept_functions__read(const struct hybrid_walked *walked)
{
	struct kept now = {};

	if (walked->text) {
		keep_text(walked);
		return;
	}
	/* The functions before it are those of the sample behind it. */
	if (walked->head.kind == HYBRID_WALK_RECORD_NOTE)
		return;
	if (walked->functions.nr)
		copy(&now, walked);
	if (!hybrid_walked_is_sample(walked)) {
		replace(&before, &now);
		return;
	}
	if (!now.words && is_before(walked)) {
		now = before;
		now.time = walked->head.time;
		before.words = NULL;
	}
	if (now.words)
		keep(&now);
}

void hybrid_kept_functions__read_other(void)
{
	if (before.words)
		keep(&before);
}

void hybrid_kept_functions__take(u64 ids, u64 time,
				 struct hybrid_sample_functions *functions)
{
	struct kept *place;

	pthread_mutex_lock(&mutex);
	place = place_of(ids, time);
	if (place->words && place->ids == ids && place->time == time) {
		replace(&taken, place);
		*functions = taken.functions;
	}
	pthread_mutex_unlock(&mutex);
}

void hybrid_kept_functions__exit(void)
{
	struct kept none = {};
	unsigned int i;

	pthread_mutex_lock(&mutex);
	for (i = 0; i < ARRAY_SIZE(all); i++)
		replace(&all[i], &none);
	while (texts.first)
		free(take_text(&texts.first));
	pthread_mutex_unlock(&mutex);
	replace(&before, &none);
	replace(&taken, &none);
}
