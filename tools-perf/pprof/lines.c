// SPDX-License-Identifier: GPL-2.0
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <linux/kernel.h>
#include <linux/list.h>
#include <linux/zalloc.h>
#include "../dso.h"
#include "../map.h"
#include "../srcline.h"
#include "../symbol.h"
#include "lines.h"

static int add(struct pprof_lines *lines, const char *function, const char *file, u32 line)
{
	struct pprof_line *all = reallocarray(lines->line, lines->nr + 1, sizeof(*all));
	struct pprof_line *added;

	if (!all)
		return -ENOMEM;
	lines->line = all;
	added = &all[lines->nr++];
	added->function = strdup(function);
	added->file = file ? strdup(file) : NULL;
	added->line = line;
	return !added->function || (file && !added->file) ? -ENOMEM : 0;
}

/* "FILE:LINE", as perf keeps it. */
static int add_srcline(struct pprof_lines *lines, const char *function, char *srcline)
{
	char *colon = srcline && srcline != SRCLINE_UNKNOWN ? strrchr(srcline, ':') : NULL;
	int err;

	/* "??" and "<unknown>" are no files. */
	if (!colon || srcline[0] == '?' || srcline[0] == '<')
		return add(lines, function, NULL, 0);
	*colon = '\0';
	err = add(lines, function, srcline, strtoul(colon + 1, NULL, 10));
	*colon = ':';
	return err;
}

static int add_inlined(struct pprof_lines *lines, struct dso *dso, u64 address,
		       struct symbol *sym)
{
	struct inline_node *node = dso__parse_addr_inlines(dso, address, sym);
	struct inline_list *list;
	int err = 0;

	if (!node)
		return 0;
	list_for_each_entry(list, &node->val, list) {
		if (!err && list->symbol)
			err = add_srcline(lines, list->symbol->name, list->srcline);
	}
	/* perf would keep it; a location is asked for once. */
	inline_node__delete(node);
	return err;
}

int pprof_lines__find(struct pprof_lines *lines, struct map *map, u64 address)
{
	struct symbol *sym = map__find_symbol(map, map__map_ip(map, address));
	struct dso *dso = map__dso(map);
	unsigned int line = 0;
	char *file;
	int err;

	memset(lines, 0, sizeof(*lines));
	if (!sym)
		return 0;
	address = map__rip_2objdump(map, map__dso_map_ip(map, address));
	err = dso__has_srcline(dso) ? add_inlined(lines, dso, address, sym) : 0;
	if (!err && !lines->nr) {
		file = get_srcline_split(dso, address, &line);
		err = add(lines, sym->name, file, line);
		free(file);
	}
	if (err)
		pprof_lines__exit(lines);
	return err;
}

void pprof_lines__exit(struct pprof_lines *lines)
{
	u32 i;

	for (i = 0; i < lines->nr; i++) {
		free(lines->line[i].function);
		free(lines->line[i].file);
	}
	zfree(&lines->line);
	lines->nr = 0;
}
