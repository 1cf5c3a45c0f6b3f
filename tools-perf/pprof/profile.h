/* SPDX-License-Identifier: GPL-2.0 */
#ifndef __PERF_PPROF_PROFILE_H
#define __PERF_PPROF_PROFILE_H

#include <stdbool.h>
#include <linux/types.h>
#include "output.h"
#include "table.h"

struct dso;
struct map;

/* What belongs to a mapping's number. */
struct pprof_mapping {
	struct dso *dso;	/* referenced */
	u64	start;
	u64	limit;
	u64	offset;
	u32	filename;	/* strings */
	u32	build_id;
	bool	has_functions;
	bool	has_lines;
	bool	has_inlines;
};

/* A number or a string that a sample is labelled with. */
struct pprof_label {
	const char	*key;
	u32		 str;	/* or 0: then num counts */
	s64		 num;
};

/*
 * A profile on its way to the file. A message of protobuf is the same as its parts one
 * behind the other, so each string, function and location is written when it is met,
 * and only its number is kept.
 */
struct pprof_profile {
	struct pprof_output	 output;
	struct pprof_table	 strings;
	struct pprof_table	 functions;
	struct pprof_table	 mappings;
	struct pprof_table	 locations;
	void			*buffer;
	size_t			 buffer_size;
	bool			 symbols;
	int			 error;
};

/**
 * pprof_profile__init - begin a profile
 * @profile: whose output is open
 * @symbols: are functions and lines wanted?
 */
void pprof_profile__init(struct pprof_profile *profile, bool symbols);

void pprof_profile__exit(struct pprof_profile *profile);

/* The number of a string; 0 is the empty one, and what a lack of memory gives. */
u32 pprof_profile__string(struct pprof_profile *profile, const char *str);

/**
 * pprof_profile__location - the number of an address
 * @profile: where it is to be
 * @map: that holds the address, or NULL
 * @address: in its process
 *
 * A file that several processes mapped at different places is one mapping; addresses in
 * it are those of the first.
 *
 * Return: the number, or a negative error.
 */
int pprof_profile__location(struct pprof_profile *profile, struct map *map, u64 address);

/* Writes the mappings, once all that was found in them is known. */
void pprof_profile__write_mappings(struct pprof_profile *profile);

/* Writes what one value of each sample is. */
void pprof_profile__write_type(struct pprof_profile *profile, const char *type,
			       const char *unit);

/**
 * pprof_profile__write_sample - a stack, what it counts, and its labels
 * @profile: that it belongs to
 * @locations: numbers, the innermost first
 * @nr_locations: how many
 * @values: one for each type
 * @nr_values: types
 * @from: the labels
 * @nr_labels: at most PPROF_MAX_LABELS
 */
void pprof_profile__write_sample(struct pprof_profile *profile, const u32 *locations,
				 u32 nr_locations, s64 *values, u32 nr_values,
				 const struct pprof_label *from, u32 nr_labels);

#define PPROF_MAX_LABELS	12

/* What the profile as a whole has. */
struct pprof_header {
	s64		 time;		/* ns since 1970 */
	s64		 duration;	/* ns */
	const char	*period_type;
	const char	*period_unit;
	s64		 period;
	const char	*default_type;
	const char	*comment;
};

void pprof_profile__write_header(struct pprof_profile *profile,
				 const struct pprof_header *header);

#endif /* __PERF_PPROF_PROFILE_H */
