// SPDX-License-Identifier: GPL-2.0
/* Functions of runtimes, for perf top and trace: a map and symbols instead of a file. */
#include <elf.h>
#include <sys/mman.h>
#include "../../dso.h"
#include "../../map.h"
#include "../../maps.h"
#include "../../symbol.h"
#include "../../thread.h"
#include "../runtime/name-chain.h"
#include "names.h"

/**
 * struct shown - the names of a runtime
 * @names: NULL: none yet
 * @nr: how many of them are symbols
 */
static struct shown {
	struct hybrid_names	*names;
	u32			 nr;
} runtimes[HYBRID_NR_RUNTIMES];

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

void hybrid_session_names__put(struct hybrid_namer *namer, struct thread *thread,
			       struct hybrid_named_chain *c)
{
	struct shown *shown = &runtimes[namer->runtime];
	struct map *map;

	if (!shown->names)
		shown->names = hybrid_names__new(namer->runtime);
	if (!shown->names)
		return;
	hybrid_name_chain(namer, shown->names, c);
	if (!c->is_named)
		return;
	map = map_names(thread, shown->names);
	if (!map)
		return;
	show(shown, map__dso(map));
	map__put(map);
}
