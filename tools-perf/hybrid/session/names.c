// SPDX-License-Identifier: GPL-2.0
/* Functions of runtimes, for perf top and trace: a map and symbols instead of a file. */
#include <elf.h>
#include <stdlib.h>
#include <sys/mman.h>
#include "../../dso.h"
#include "../../map.h"
#include "../../maps.h"
#include "../../symbol.h"
#include "../../thread.h"
#include "../api/hybrid-unwind.h"
#include "../records/kept-functions.h"
#include "../runtime/joined-namer.h"
#include "names.h"

/**
 * struct shown - the names of a runtime
 * @names: NULL: none yet
 * @nr: how many of them are symbols
 */
static struct shown {
	struct hybrid_names	*names;
	u32			 nr;
} runtimes[HYBRID_NR_LANGUAGES];

/* The map of the names in the process, referenced; NULL if memory is short. */
static struct map *map_names(struct thread *thread, const struct hybrid_names *names)
{
	struct maps *maps = thread__maps(thread);
	const struct dso_id id = {};
	struct map *map = maps__find(maps, hybrid_names__start(names));

	if (map)
		return map;
	map = map__new(maps__machine(maps), hybrid_names__start(names), HYBRID_NAMES_SIZE, 0, &id,
		       PROT_READ | PROT_EXEC, MAP_PRIVATE, (char *)hybrid_names__label(names),
		       thread);
	if (!map)
		return NULL;
	if (thread__insert_map(thread, map)) {
		map__put(map);
		return NULL;
	}
	/* There is no file to be looked for. */
	dso__set_loaded(map__dso(map));
	return map;
}

static void show(struct shown *shown, struct dso *dso)
{
	struct symbol *symbol;
	const char *name;
	u64 start, size;

	for (; shown->nr < hybrid_names__nr(shown->names); shown->nr++) {
		name = hybrid_names__get(shown->names, shown->nr, &start, &size);
		symbol = symbol__new(start, size, STB_GLOBAL, STT_FUNC, name);
		if (symbol)
			symbols__insert(dso__symbols(dso), symbol);
	}
}

static struct hybrid_names *names_of(const struct hybrid_namer *namer)
{
	struct shown *shown = &runtimes[namer->language];

	if (!shown->names)
		shown->names = hybrid_names__new(namer->language);
	return shown->names;
}

/* One more language of a chain. */
static void add_namer(struct hybrid_joined_namer *joined, struct hybrid_namer *namer,
		      const struct hybrid_functions *functions)
{
	struct hybrid_names *names = namer ? names_of(namer) : NULL;

	if (names)
		hybrid_joined_namer__add(joined, namer, names, functions);
}

/* The functions that BPF has read in the process: what runs them may have ended. */
static void take_texts(struct hybrid_core *core, pid_t pid)
{
	struct hybrid_kept_text *text;
	struct hybrid_namer *namer;

	for (;;) {
		text = hybrid_kept_functions__text(pid);
		if (!text)
			return;
		namer = text->language ? hybrid_core_namer(core, pid, text->language) : NULL;
		if (namer && namer->text && names_of(namer))
			namer->text(namer, names_of(namer), text->text, text->size);
		free(text);
	}
}

static void show_names(struct thread *thread, struct shown *shown)
{
	struct map *map = map_names(thread, shown->names);

	if (!map)
		return;
	show(shown, map__dso(map));
	map__put(map);
}

void hybrid_session_names__put(struct hybrid_core *core, const struct hybrid_sample *sample,
			       struct thread *thread, struct hybrid_named_chain *c)
{
	const struct hybrid_sample_functions *functions = &sample->functions;
	const struct hybrid_functions *language;
	struct hybrid_joined_namer joined;
	unsigned int i;

	hybrid_joined_namer__init(&joined);
	/* Without functions it is whatever runtime the process has. */
	for (i = 0; i < max(functions->nr, 1U); i++) {
		language = hybrid_sample_functions__get(functions, i);
		add_namer(&joined, hybrid_core_namer(core, sample->pid, language->language),
			  language);
	}
	/* Without a namer texts are kept: no sample has met the runtime's mapping yet. */
	if (!joined.nr)
		return;
	take_texts(core, sample->pid);
	hybrid_core_named_chain(core, sample, c);
	hybrid_joined_namer__name_chain(&joined, c);
	for (i = 0; i < joined.nr && c->is_named; i++)
		show_names(thread, &runtimes[joined.parts[i].namer->language]);
}
