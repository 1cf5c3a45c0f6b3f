// SPDX-License-Identifier: GPL-2.0
/*
 * What samples were in is noted while they are written. perf need not read the whole file once
 * more at the end for its build-ids.
 */
#include <errno.h>
#include <inttypes.h>
#include <sched.h>
#include <string.h>
#include <sys/mman.h>
#include <linux/perf_event.h>
#include "../../debug.h"
#include "../../dso.h"
#include "../../event.h"
#include "../../evlist.h"
#include "../../evsel.h"
#include "../../machine.h"
#include "../../map.h"
#include "../../maps.h"
#include "../../sample.h"
#include "../../thread.h"
#include "../../util.h"
#include "../../vdso.h"
#include "../glue/file-map.h"
#include "../glue/identity.h"
#include "../glue/open-file.h"
#include "../glue/synthetic-map.h"
#include "recording.h"

/* perf warns if more than the twentieth part of the samples was lost. */
#define WARN_SHARE	20

/* The end of a file waits so long, in ns, for digests: a file system may not answer. */
#define WAIT_NS		1000000000ULL

static u32 add_digest(void *arg, const struct hybrid_mapping *mapping)
{
	return hybrid_digests_add(arg, mapping);
}

void hybrid_hits_init(struct hybrid_hits *hits, struct hybrid_loader *loader)
{
	hits->digests = hybrid_digests_new(loader);
	hits->met.add_digest = add_digest;
	hits->met.arg = hits->digests;
}

void hybrid_hits_exit(struct hybrid_hits *hits)
{
	hybrid_digests_delete(hits->digests);
	hybrid_met_exit(&hits->met);
	hybrid_met_exit(&hits->low);
}

/*
 * perf tells the vDSO of a process of 32 bits by the process's files, and reads it by a program of
 * its own.
 */
static void note_low_vdso(struct hybrid_hits *hits, const struct hybrid_process *process)
{
	const struct hybrid_ident *ident;
	size_t i;

	for (i = 0; process && i < process->space->nr; i++) {
		if (!process->space->mappings[i].object)
			continue;
		ident = hybrid_mapping_ident(&process->space->mappings[i]);
		if (*ident->path != '/')
			continue;
		hybrid_met_file(&hits->low, ident, NULL, process->pid);
		return;
	}
	hits->is_unknown = true;
}

/* perf's table of build-ids has each vDSO that was mapped, whether samples were in it or not. */
static void note_vdso(struct hybrid_hits *hits, const struct perf_record_mmap2 *event,
		      const struct hybrid_process *process)
{
	if ((event->header.misc & PERF_RECORD_MISC_CPUMODE_MASK) != PERF_RECORD_MISC_USER ||
	    strcmp(event->filename, DSO__NAME_VDSO))
		return;
	if (hybrid_met_is_low(event->start))
		note_low_vdso(hits, process);
	else
		hits->vdso_pid = event->pid;
}

void hybrid_hits_record(struct hybrid_hits *hits, const union perf_event *event,
			const struct hybrid_process *process)
{
	hits->nr_records++;
	switch (event->header.type) {
	case PERF_RECORD_MMAP2:
		note_vdso(hits, &event->mmap2, process);
		break;
	case PERF_RECORD_LOST:
		hits->nr_lost++;
		break;
	/* These tell of more than of what samples show. */
	case PERF_RECORD_AUX:
	case PERF_RECORD_ITRACE_START:
		hits->is_unknown = true;
		break;
	default:
		break;
	}
}

static void note_address(struct hybrid_met *met, struct hybrid_space *space, u16 cpumode, u64 ip)
{
	if (cpumode == PERF_RECORD_MISC_KERNEL)
		hybrid_met_kernel(met, ip);
	else if (cpumode == PERF_RECORD_MISC_USER && space)
		hybrid_met_user(met, space, ip);
}

void hybrid_hits_chain(struct hybrid_record *hr, const struct hybrid_sample *sample)
{
	struct hybrid_hits *hits = &hr->hits;
	struct hybrid_process *process;
	struct hybrid_space *space;

	if (sample->is_known) {
		if (sample->cpumode == PERF_RECORD_MISC_KERNEL)
			hybrid_met_kernel(&hits->met, sample->ip);
		hybrid_met_chain(&hits->met, NULL, sample->chain, sample->kernel.nr_kernel);
		return;
	}
	process = hybrid_process_find(&hr->core->ps, sample->pid);
	space = process ? process->space : NULL;
	note_address(&hits->met, space, sample->cpumode, sample->named_ip ?: sample->ip);
	hybrid_met_chain(&hits->met, space, sample->chain, sample->nr);
}

void hybrid_hits_time(struct hybrid_hits *hits, u64 time)
{
	hits->first = hits->nr_samples ? min(hits->first, time) : time;
	hits->last = hits->nr_samples ? max(hits->last, time) : time;
	hits->nr_samples++;
	hits->nr_all_samples++;
}

void hybrid_hits_sample(struct hybrid_record *hr, const struct hybrid_event *event, u64 time,
			const struct hybrid_sample *sample)
{
	hybrid_hits_time(&hr->hits, time);
	/* perf counts such a sample once for each event of its group. */
	if (event->layout.attr.sample_type & PERF_SAMPLE_READ)
		hr->hits.is_unknown = true;
	hybrid_hits_chain(hr, sample);
}

int hybrid_hits_map(struct hybrid_record *hr, const struct hybrid_event *event,
		    const struct perf_event_header *sample, pid_t pid)
{
	const u64 nr_numbered = hr->hits.met.nr_numbered;
	struct hybrid_process *process = nr_numbered ?
		hybrid_process_find(&hr->core->ps, pid) : NULL;
	const struct hybrid_space *space = process ? process->space : NULL;
	size_t i;
	void *out;

	if (!space || (process->numbers == nr_numbered && process->numbers_gen == space->gen &&
		       process->numbers_in == hr->file))
		return 0;
	for (i = 0; i < space->nr; i++) {
		if (!space->mappings[i].object || !space->mappings[i].number)
			continue;
		out = hybrid_output_room(&hr->out, HYBRID_FILE_MAP_SIZE);
		if (!out)
			return -EIO;
		hr->out.used += hybrid_file_map__event(&space->mappings[i], &event->layout.attr,
						       sample, pid, out);
	}
	process->numbers = nr_numbered;
	process->numbers_gen = space->gen;
	process->numbers_in = hr->file;
	return 0;
}

/* What perf makes of a mapping's record. */
static struct map *map_of(struct machine *machine, const struct hybrid_ident *ident, u32 number,
			  struct thread *thread)
{
	struct dso_id id = dso_id_empty;

	hybrid_identity__set_number(&id, number);
	if (ident->build_id_size) {
		build_id__init(&id.build_id, ident->build_id, ident->build_id_size);
	} else {
		id.maj = ident->maj;
		id.min = ident->min;
		id.ino = ident->ino;
		id.ino_generation = ident->ino_generation;
		id.mmap2_valid = true;
		id.mmap2_ino_generation_valid = true;
	}
	return map__new(machine, 0, 1, 0, &id, PROT_READ | PROT_EXEC, MAP_PRIVATE,
			(char *)ident->path, thread);
}

static int hit_file(struct machine *machine, const struct hybrid_ident *ident, u32 number,
		    pid_t pid, bool hit)
{
	struct thread *thread = machine__findnew_thread(machine, pid, pid);
	struct map *map = thread ? map_of(machine, ident, number, thread) : NULL;

	if (map && hit)
		dso__set_hit(map__dso(map));
	map__put(map);
	thread__put(thread);
	return map ? 0 : -ENOMEM;
}

/*
 * The vDSO of a program of 32 bits. perf takes that of 64 bits if it can't tell that the program
 * has another one.
 */
static int hit_low_vdso(struct machine *machine, const struct hybrid_met_file *file, bool hit)
{
	const struct hybrid_ident vdso = { .path = DSO__NAME_VDSO };
	struct thread *thread = thread__new(file->pid, file->pid);
	struct map *program = NULL, *map = NULL;
	int err = -ENOMEM;

	if (thread && !thread__init_maps(thread, machine))
		program = map_of(machine, &file->ident, file->number, thread);
	if (program && !maps__insert(thread__maps(thread), program))
		map = map_of(machine, &vdso, 0, thread);
	if (map)
		err = strcmp(dso__short_name(map__dso(map)), DSO__NAME_VDSO) ? 0 : -ENOENT;
	if (!err && hit)
		dso__set_hit(map__dso(map));
	map__put(map);
	map__put(program);
	thread__put(thread);
	return err;
}

static void hit_kernel(struct machine *machine, const struct hybrid_met *met)
{
	const u64 *pages = (const u64 *)met->pages.entries;
	struct map *map;
	u32 i;

	for (i = 0; pages && i < 1U << met->pages.bits; i++) {
		if (!pages[i])
			continue;
		map = maps__find(machine__kernel_maps(machine), pages[i] << HYBRID_MET_SHIFT);
		if (map)
			dso__set_hit(map__dso(map));
		map__put(map);
	}
}

static int hit_files(struct machine *machine, const struct hybrid_hits *hits)
{
	const struct hybrid_ident vdso = { .path = DSO__NAME_VDSO };
	const struct hybrid_met_file *file;
	u32 i;

	if (hits->vdso_pid && hit_file(machine, &vdso, 0, hits->vdso_pid, false))
		return -ENOMEM;
	for (i = 0; i < hits->low.nr_files; i++) {
		if (hit_low_vdso(machine, &hits->low.files[i], hits->met.in_low_vdso))
			return -ENOENT;
	}
	for (i = 0; i < hits->met.nr_files; i++) {
		file = &hits->met.files[i];
		/* The vDSO is among them if a sample was in it. */
		if (hit_file(machine, &file->ident, file->number, file->pid, true))
			return -ENOMEM;
	}
	return 0;
}

bool hybrid_hits_mark(struct hybrid_hits *hits, struct machine *machine)
{
	if (hits->is_unknown || hits->met.failed || hits->low.failed || perf_guest ||
	    hit_files(machine, hits))
		return false;
	hit_kernel(machine, &hits->met);
	pr_debug("hybrid: samples were in %u files and %u pages of the kernel; the file is not read for that\n",
		 hits->met.nr_files, hits->met.pages.nr);
	return true;
}

static void identify(struct machine *machine, const struct hybrid_met_file *file, const u8 *digest)
{
	struct thread *thread = machine__findnew_thread(machine, file->pid, file->pid);
	struct map *map = thread ? map_of(machine, &file->ident, file->number, thread) : NULL;

	if (map) {
		dso__set_hit(map__dso(map));
		hybrid_identity__set(map__dso(map), digest, &file->file);
	}
	map__put(map);
	thread__put(thread);
}

void hybrid_hits_identify(struct hybrid_hits *hits, struct machine *machine)
{
	u8 digest[HYBRID_DIGEST_SIZE];
	unsigned int nr = 0;
	u32 i;

	/* perf enters mount namespaces: setns() fails if threads share the root directory. */
	if (unshare(CLONE_FS))
		pr_debug("hybrid: files in other mount namespaces are not found\n");
	hybrid_digests_wait(hits->digests, WAIT_NS);
	for (i = 0; i < hits->met.nr_files; i++) {
		if (!hybrid_digests_get(hits->digests, hits->met.files[i].digest, digest))
			continue;
		identify(machine, &hits->met.files[i], digest);
		nr++;
	}
	pr_debug("hybrid: %u of %u files have a digest\n", nr, hits->met.nr_files);
}

void hybrid_hits_warn(const struct hybrid_hits *hits, u64 nr_lost)
{
	u64 nr = hits->nr_all_samples + nr_lost;

	if (hits->nr_lost)
		ui__warning("Processed %" PRIu64 " events and lost %" PRIu64 " chunks!\n\n"
			    "Check IO/CPU overload!\n\n",
			    hits->nr_records + hits->nr_all_samples, hits->nr_lost);
	if (nr_lost * WARN_SHARE > nr)
		ui__warning("Processed %" PRIu64 " samples and lost %3.2f%%!\n\n",
			    nr, 100.0 * nr_lost / nr);
}
