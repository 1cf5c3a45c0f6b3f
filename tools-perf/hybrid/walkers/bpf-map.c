// SPDX-License-Identifier: GPL-2.0
/* The maps of the BPF program: the table of rules, which perf maps, and its counts. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <sys/mman.h>
#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include "util/hybrid/bpf_skel/hybrid_walk.skel.h"
#include "bpf-private.h"

#define OBJECTS_SIZE	(HYBRID_WALK_OBJECTS * sizeof(struct hybrid_walk_object))

/* A chunk of the table: the program reads it, and it is mapped here. */
static int add_chunk(void *arg, unsigned int number, u64 **words)
{
	LIBBPF_OPTS(bpf_map_create_opts, opts, .map_flags = BPF_F_MMAPABLE);
	struct hybrid_bpf *bpf = arg;
	int fd, err = 0;

	fd = bpf_map_create(BPF_MAP_TYPE_ARRAY, "hybrid_rules", sizeof(u32),
			    HYBRID_BPF_CHUNK_SIZE, 1, &opts);
	if (fd < 0)
		return fd;
	*words = mmap(NULL, HYBRID_BPF_CHUNK_SIZE, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	if (*words == MAP_FAILED)
		err = -errno;
	else if (bpf_map__update_elem(bpf->skel->maps.chunks, &number, sizeof(number),
				      &fd, sizeof(fd), BPF_ANY))
		err = -errno;
	if (err && *words != MAP_FAILED)
		munmap(*words, HYBRID_BPF_CHUNK_SIZE);
	if (!err)
		bpf->stats.bytes += HYBRID_BPF_CHUNK_SIZE;
	close(fd);
	if (err)
		*words = NULL;
	return err;
}

/*
 * Taken out of the array of maps: the kernel returns when no program that has found it
 * there runs any more.
 */
static void remove_chunk(void *arg, unsigned int number, u64 *words)
{
	struct hybrid_bpf *bpf = arg;

	bpf_map__delete_elem(bpf->skel->maps.chunks, &number, sizeof(number), 0);
	munmap(words, HYBRID_BPF_CHUNK_SIZE);
	bpf->stats.bytes -= HYBRID_BPF_CHUNK_SIZE;
}

int hybrid_bpf__map_table(struct hybrid_bpf *bpf)
{
	bpf->table.more = add_chunk;
	bpf->table.less = remove_chunk;
	bpf->table.arg = bpf;
	bpf->table.objects = mmap(NULL, OBJECTS_SIZE, PROT_READ | PROT_WRITE, MAP_SHARED,
				  bpf_map__fd(bpf->skel->maps.objects), 0);
	if (bpf->table.objects == MAP_FAILED) {
		bpf->table.objects = NULL;
		return -errno;
	}
	return 0;
}

void hybrid_bpf__unmap_table(struct hybrid_bpf *bpf)
{
	unsigned int i;

	for (i = 0; i < HYBRID_WALK_CHUNKS; i++) {
		if (bpf->table.chunks[i])
			munmap(bpf->table.chunks[i], HYBRID_BPF_CHUNK_SIZE);
	}
	if (bpf->table.objects)
		munmap(bpf->table.objects, OBJECTS_SIZE);
}

void hybrid_bpf__counts(const struct hybrid_bpf *bpf, const struct bpf_map *states,
			struct hybrid_walk_counts *counts)
{
	size_t size = bpf_map__value_size(states);
	struct hybrid_walk_counts *cpu = malloc(size);
	int i;

	memset(counts, 0, sizeof(*counts));
	for (i = 0; cpu && i < bpf->cpus; i++) {
		if (bpf_map__lookup_elem(states, &i, sizeof(i), cpu, size, 0))
			break;
		counts->whole += cpu->whole;
		counts->dumped += cpu->dumped;
		counts->shed += cpu->shed;
		counts->full += cpu->full;
		counts->dropped += cpu->dropped;
		counts->single += cpu->single;
		counts->over_time += cpu->over_time;
		counts->timed += cpu->timed;
		counts->timed_ns += cpu->timed_ns;
	}
	free(cpu);
}
