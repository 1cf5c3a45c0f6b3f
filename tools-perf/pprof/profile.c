// SPDX-License-Identifier: GPL-2.0
/*
 * The messages of pprof's format.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <linux/kernel.h>
#include <linux/zalloc.h>
#include "../build-id.h"
#include "../dso.h"
#include "../map.h"
#include "../string2.h"
#include "../symbol.h"
#include "../vdso.h"
#include "util/pprof/profile.pb-c.h"
#include "profile.h"
#include "lines.h"

/* A mapped object, whoever mapped it. */
struct mapping_key {
	const void	*dso;		/* that all references are of */
	u64		 offset;
	u64		 size;
	u64		 start;		/* 0: the same wherever it is mapped */
};

struct location_key {
	u64	address;
	u64	mapping;		/* number + 1, or 0 */
};

struct function_key {
	u32	name;
	u32	filename;
};

/* Writes a profile that has one part of the whole. */
static void write_part(struct pprof_profile *profile, const Pprof__Profile *part)
{
	size_t size = pprof__profile__get_packed_size(part);
	void *buffer;

	if (size > profile->buffer_size) {
		buffer = realloc(profile->buffer, size);
		if (!buffer) {
			profile->error = -ENOMEM;
			return;
		}
		profile->buffer = buffer;
		profile->buffer_size = size;
	}
	pprof__profile__pack(part, profile->buffer);
	pprof_output__write(&profile->output, profile->buffer, size);
}

void pprof_profile__init(struct pprof_profile *profile, bool symbols)
{
	pprof_table__init(&profile->strings, 0, 0);
	pprof_table__init(&profile->functions, sizeof(struct function_key), 0);
	pprof_table__init(&profile->mappings, sizeof(struct mapping_key),
			  sizeof(struct pprof_mapping));
	pprof_table__init(&profile->locations, sizeof(struct location_key), 0);
	profile->buffer = NULL;
	profile->buffer_size = 0;
	profile->symbols = symbols;
	profile->error = 0;
	/* The empty string has to be the first. */
	pprof_profile__string(profile, "");
}

void pprof_profile__exit(struct pprof_profile *profile)
{
	u32 i;

	for (i = 0; i < profile->mappings.nr; i++) {
		struct pprof_mapping *mapping = pprof_table__data(&profile->mappings, i);

		dso__put(mapping->dso);
	}
	pprof_table__exit(&profile->strings);
	pprof_table__exit(&profile->functions);
	pprof_table__exit(&profile->mappings);
	pprof_table__exit(&profile->locations);
	zfree(&profile->buffer);
}

/* A number of a table, or 0 with the error noted. */
static u32 number(struct pprof_profile *profile, struct pprof_table *table, const void *key,
		  size_t size, bool *is_new)
{
	int nr = pprof_table__number(table, key, size, is_new);

	if (nr < 0) {
		profile->error = nr;
		*is_new = false;
		return 0;
	}
	return nr;
}

u32 pprof_profile__string(struct pprof_profile *profile, const char *str)
{
	Pprof__Profile part = PPROF__PROFILE__INIT;
	size_t size = strlen(str) + 1;
	bool is_new;
	char *room, *text;
	u32 nr;

	nr = number(profile, &profile->strings, str, size, &is_new);
	if (!is_new)
		return nr;
	/* Names of files, threads and symbols are any bytes; protobuf's strings are UTF-8. */
	room = malloc(4 * size);
	if (!room) {
		profile->error = -ENOMEM;
		return nr;
	}
	text = (char *)str__printable(str, room, 4 * size);
	part.n_string_table = 1;
	part.string_table = &text;
	write_part(profile, &part);
	free(room);
	return nr;
}

static u32 function_number(struct pprof_profile *profile, const struct pprof_line *line)
{
	Pprof__Function function = PPROF__FUNCTION__INIT, *functions = &function;
	Pprof__Profile part = PPROF__PROFILE__INIT;
	struct function_key key = {
		.name		= pprof_profile__string(profile, line->function),
		.filename	= pprof_profile__string(profile, line->file ?: ""),
	};
	bool is_new;
	u32 nr;

	nr = number(profile, &profile->functions, &key, sizeof(key), &is_new);
	if (!is_new)
		return nr;
	function.id = nr + 1;
	function.name = key.name;
	function.system_name = key.name;
	function.filename = key.filename;
	part.n_functions = 1;
	part.functions = &functions;
	write_part(profile, &part);
	return nr;
}

/* The kernel has one name, whichever file perf took its symbols from. */
static const char *mapping_name(struct dso *dso)
{
	/* Not the file that perf copied it to. */
	if (dso__is_vdso(dso))
		return dso__short_name(dso);
	if (dso__kernel(dso) == DSO_SPACE__KERNEL && !dso__is_kmod(dso))
		return "[kernel.kallsyms]";
	if (dso__kernel(dso) == DSO_SPACE__KERNEL_GUEST && !dso__is_kmod(dso))
		return "[guest.kernel.kallsyms]";
	return dso__long_name(dso);
}

static void describe_mapping(struct pprof_profile *profile, struct map *map,
			     struct pprof_mapping *mapping)
{
	struct dso *dso = map__dso(map);
	char build_id[SBUILD_ID_SIZE] = "";

	if (dso__has_build_id(dso))
		build_id__snprintf(dso__bid(dso), build_id, sizeof(build_id));
	mapping->dso = dso__get(dso);
	mapping->start = map__start(map);
	mapping->limit = map__end(map);
	mapping->offset = map__pgoff(map);
	mapping->filename = pprof_profile__string(profile, mapping_name(dso));
	mapping->build_id = pprof_profile__string(profile, build_id);
}

static int mapping_number(struct pprof_profile *profile, struct map *map)
{
	struct dso *dso = map__dso(map);
	struct mapping_key key = {
		.dso	= RC_CHK_ACCESS(dso),
		.offset	= map__pgoff(map),
		.size	= map__size(map),
	};
	bool is_new;
	int nr;

	/* perf may learn a file's build-id only when it loads the symbols. */
	if (profile->symbols)
		map__load(map);
	if (!dso__has_build_id(dso) || dso__kernel(dso))
		key.start = map__start(map);
	nr = pprof_table__number(&profile->mappings, &key, sizeof(key), &is_new);
	if (nr >= 0 && is_new)
		describe_mapping(profile, map, pprof_table__data(&profile->mappings, nr));
	return nr;
}

/* The messages stand behind the pointers to them, to be freed as one. */
static Pprof__Line **new_lines(u32 nr)
{
	Pprof__Line **lines = calloc(nr, sizeof(*lines) + sizeof(**lines));
	Pprof__Line *line;
	u32 i;

	if (!lines)
		return NULL;
	line = (Pprof__Line *)(lines + nr);
	for (i = 0; i < nr; i++) {
		pprof__line__init(&line[i]);
		lines[i] = &line[i];
	}
	return lines;
}

static void find_lines(struct pprof_profile *profile, struct map *map, u64 address,
		       struct pprof_mapping *mapping, Pprof__Location *location)
{
	struct pprof_lines lines;
	u32 i;

	if (pprof_lines__find(&lines, map, address)) {
		profile->error = -ENOMEM;
		return;
	}
	if (!lines.nr)
		return;
	location->lines = new_lines(lines.nr);
	if (!location->lines)
		profile->error = -ENOMEM;
	for (i = 0; location->lines && i < lines.nr; i++) {
		Pprof__Line *line = location->lines[i];

		line->function_id = function_number(profile, &lines.line[i]) + 1;
		line->line = lines.line[i].line;
		mapping->has_lines |= !!lines.line[i].file;
		location->n_lines++;
	}
	mapping->has_functions = true;
	mapping->has_inlines |= lines.nr > 1;
	pprof_lines__exit(&lines);
}

int pprof_profile__location(struct pprof_profile *profile, struct map *map, u64 address)
{
	Pprof__Location location = PPROF__LOCATION__INIT, *locations = &location;
	Pprof__Profile part = PPROF__PROFILE__INIT;
	struct location_key key = { .address = address };
	struct pprof_mapping *mapping = NULL;
	bool is_new;
	int nr;

	if (map) {
		nr = mapping_number(profile, map);
		if (nr < 0)
			return nr;
		mapping = pprof_table__data(&profile->mappings, nr);
		key.mapping = nr + 1;
		key.address = address - map__start(map) + mapping->start;
	}
	nr = pprof_table__number(&profile->locations, &key, sizeof(key), &is_new);
	if (nr < 0 || !is_new)
		return nr;
	location.id = nr + 1;
	location.mapping_id = key.mapping;
	location.address = key.address;
	if (mapping && profile->symbols)
		find_lines(profile, map, address, mapping, &location);
	part.n_locations = 1;
	part.locations = &locations;
	write_part(profile, &part);
	free(location.lines);
	return profile->error ?: nr;
}

static void write_mapping(struct pprof_profile *profile, u32 nr)
{
	const struct pprof_mapping *from = pprof_table__data(&profile->mappings, nr);
	Pprof__Mapping mapping = PPROF__MAPPING__INIT, *mappings = &mapping;
	Pprof__Profile part = PPROF__PROFILE__INIT;

	mapping.id = nr + 1;
	mapping.memory_start = from->start;
	mapping.memory_limit = from->limit;
	mapping.file_offset = from->offset;
	mapping.filename = from->filename;
	mapping.build_id = from->build_id;
	mapping.has_functions = from->has_functions;
	mapping.has_filenames = from->has_lines;
	mapping.has_line_numbers = from->has_lines;
	mapping.has_inline_frames = from->has_inlines;
	part.n_mappings = 1;
	part.mappings = &mappings;
	write_part(profile, &part);
}

/* The first is what tools call the program: none of the kernel's. */
void pprof_profile__write_mappings(struct pprof_profile *profile)
{
	int kernel;
	u32 i;

	for (kernel = 0; kernel < 2; kernel++) {
		for (i = 0; i < profile->mappings.nr; i++) {
			const struct pprof_mapping *mapping =
				pprof_table__data(&profile->mappings, i);

			if (!!dso__kernel(mapping->dso) == kernel)
				write_mapping(profile, i);
		}
	}
}

static Pprof__ValueType value_type(struct pprof_profile *profile, const char *type,
				   const char *unit)
{
	Pprof__ValueType value = PPROF__VALUE_TYPE__INIT;

	value.type = pprof_profile__string(profile, type);
	value.unit = pprof_profile__string(profile, unit);
	return value;
}

void pprof_profile__write_type(struct pprof_profile *profile, const char *type,
			       const char *unit)
{
	Pprof__ValueType value = value_type(profile, type, unit), *values = &value;
	Pprof__Profile part = PPROF__PROFILE__INIT;

	part.n_sample_type = 1;
	part.sample_type = &values;
	write_part(profile, &part);
}

void pprof_profile__write_sample(struct pprof_profile *profile, const u32 *locations,
				 u32 nr_locations, s64 *values, u32 nr_values,
				 const struct pprof_label *from, u32 nr_labels)
{
	Pprof__Label labels[PPROF_MAX_LABELS], *pointers[PPROF_MAX_LABELS];
	Pprof__Sample sample = PPROF__SAMPLE__INIT, *samples = &sample;
	Pprof__Profile part = PPROF__PROFILE__INIT;
	u32 i;

	sample.location_id = calloc(nr_locations, sizeof(*sample.location_id));
	if (nr_locations && !sample.location_id) {
		profile->error = -ENOMEM;
		return;
	}
	for (i = 0; i < nr_locations; i++)
		sample.location_id[i] = locations[i] + 1ULL;
	sample.n_location_id = nr_locations;
	sample.value = values;
	sample.n_value = nr_values;
	for (i = 0; i < nr_labels && i < PPROF_MAX_LABELS; i++) {
		pprof__label__init(&labels[i]);
		labels[i].key = pprof_profile__string(profile, from[i].key);
		labels[i].str = from[i].str;
		labels[i].num = from[i].num;
		pointers[i] = &labels[i];
	}
	sample.n_labels = i;
	sample.labels = pointers;
	part.n_samples = 1;
	part.samples = &samples;
	write_part(profile, &part);
	free(sample.location_id);
}

void pprof_profile__write_header(struct pprof_profile *profile,
				 const struct pprof_header *header)
{
	Pprof__ValueType type = value_type(profile, header->period_type, header->period_unit);
	Pprof__Profile part = PPROF__PROFILE__INIT;
	s64 comment = pprof_profile__string(profile, header->comment);

	part.time_nanos = header->time;
	part.duration_nanos = header->duration;
	part.period_type = &type;
	part.period = header->period;
	part.default_sample_type = pprof_profile__string(profile, header->default_type);
	part.n_comment = 1;
	part.comment = &comment;
	write_part(profile, &part);
}
