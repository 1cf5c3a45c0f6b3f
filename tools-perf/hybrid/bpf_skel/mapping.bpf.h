/* SPDX-License-Identifier: (GPL-2.0-only OR BSD-2-Clause) */
#ifndef __HYBRID_MAPPING_BPF_H
#define __HYBRID_MAPPING_BPF_H

/*
 * The mapping of an address: found in the address space that the sampled task runs in,
 * and kept for as long as that has not changed.
 */
#include "file.bpf.h"
#include "maps.bpf.h"

/* Does the kernel count the changes of an address space? From 6.4 on. */
static __always_inline bool has_sequence(struct mm_struct___h *mm)
{
	return bpf_core_field_exists(mm->mm_lock_seq.sequence) ||
	       bpf_core_field_exists(((struct mm_struct___6_12 *)mm)->mm_lock_seq);
}

/* A number that changes with it: where there is none, most changes change its sizes. */
static __always_inline __u32 space_sequence(struct mm_struct___h *mm)
{
	struct mm_struct___6_12 *mm_6_12 = (void *)mm;

	if (bpf_core_field_exists(mm->mm_lock_seq.sequence))
		return mm->mm_lock_seq.sequence;
	if (bpf_core_field_exists(mm_6_12->mm_lock_seq))
		return mm_6_12->mm_lock_seq;
	return mm->total_vm + (mm->exec_vm << 10) + ((__u64)mm->map_count << 20);
}

/* May its mappings be changing just now? */
static __always_inline bool space_changes(struct mm_struct___h *mm)
{
	return mm->mmap_lock.count.counter & WRITER_LOCKED;
}

/*
 * May this one? Who changes a mapping locks it first (vma_start_write()), and that ends
 * with the change of the address space. Asked when all of it has been read. A walk in which the
 * sequence changes is not whole.
 */
static __always_inline bool mapping_changes(const struct state *st,
					    struct vm_area_struct___h *vma)
{
	return !bpf_core_field_exists(vma->vm_lock_seq) ||
	       BPF_CORE_READ(vma, vm_lock_seq) == st->entered.seq;
}

/* A node's slot for an address. */
static __always_inline __u64 slot_of(struct state *st, __u32 slots, __u64 addr)
{
	__u32 i;

	for (i = 0; i < RANGE_SLOTS - 1; i++) {
		if (i >= slots - 1 || st->node[NODE_PIVOTS + i] >= addr)
			break;
	}
	st->at = NODE_PIVOTS + slots - 1 + i;
	return st->node[st->at & (NODE_WORDS - 1)];
}

/* One level down, as mtree_load() does it. */
static long descend(__u32 i, void *arg)
{
	struct loop *loop = arg;
	struct state *st = loop->st;
	__u64 entry = st->entry, node = entry & ~0xffULL;
	__u32 type = entry >> 3 & 15;

	st->entry = 0;
	if (entry <= PAGE || type < NODE_LEAF || type > NODE_ARANGE ||
	    bpf_probe_read_kernel(st->node, sizeof(st->node), (void *)node))
		return 1;
	/* One that is dead is its own parent. */
	if ((st->node[0] & ~0xffULL) == node)
		return 1;
	st->at = type == NODE_ARANGE ? ARANGE_SLOTS : RANGE_SLOTS;
	entry = slot_of(st, st->at, st->addr);
	st->entry = entry;
	return type == NODE_LEAF;
}

/* The mapping of an address, of @st->mm. */
static __always_inline __u64 find_vma(struct state *st, __u64 addr)
{
	struct mm_struct___h *mm = (void *)st->mm;
	struct loop loop = { .st = st };

	st->addr = addr;
	st->entry = (__u64)BPF_CORE_READ(mm, mm_mt.ma_root);
	/* Only the root has a mark that it is a node. */
	if ((st->entry & 3) != 2)
		return 0;
	bpf_loop(MAX_DEPTH, descend, &loop, 0);
	return st->entry & 3 ? 0 : st->entry;
}

/* The object of a mapping's file. */
static __always_inline bool find_number(struct state *st, struct mapping *m)
{
	struct hybrid_walk_key key;
	__u64 *found;

	if (m->changes == st->changes)
		return true;
	key = m->key;
	found = bpf_map_lookup_elem(&files, &key);
	st->is_new_file |= !found;
	if (!found)
		return false;
	m->number = READ_WORD(found) - HYBRID_WALK_FOUND(m->key.inode, 0);
	m->changes = st->changes;
	return true;
}

static __always_inline bool find_head(struct state *st, struct mapping *m)
{
	struct hybrid_walk_object *object;
	__u64 now = READ_WORD(&epoch);
	__u32 index, language;

	m->head = 0;
	if (!find_number(st, m) || m->number >= HYBRID_WALK_OBJECTS)
		return false;
	index = m->number;
	object = bpf_map_lookup_elem(&objects, &index);
	if (!object)
		return false;
	/* All CPUs read it: it is seldom written. */
	if (READ_WORD(&object->used) != now)
		object->used = now;
	if (object->interpreter) {
		language = HYBRID_WALK_INTERPRETER_LANGUAGE(object->interpreter) & MAX_LANGUAGE;
		st->met[language].number = HYBRID_WALK_INTERPRETER_NUMBER(object->interpreter);
		st->met[language].shift = m->shift;
		st->met_languages |= 1U << language;
	}
	m->head = READ_WORD(&object->head);
	return m->head;
}

/*
 * What can be written may hold other code than the file does, and so may what has pages of its own.
 * A file that is written through a mapping keeps its ctime after the first write to a page
 * (mapping_writably_mapped()). A walk for functions alone goes on: uprobes have written.
 */
static __always_inline bool is_file_code(const struct state *st, const struct mapping *m)
{
	struct vm_area_struct___h *vma = (void *)m->vma;
	struct address_space___h *pages = (void *)m->pages;

	return st->for_functions ||
	       (!BPF_CORE_READ(vma, anon_vma) &&
		(!pages || BPF_CORE_READ(pages, i_mmap_writable.counter) <= 0));
}

/* Is it code that nothing has changed? Of a copy perf has compared it with the file. */
static __always_inline bool is_code(const struct state *st, const struct mapping *m)
{
	struct vm_area_struct___h *vma = (void *)m->vma;

	return (BPF_CORE_READ(vma, vm_flags) & (VM_EXEC | VM_WRITE)) == VM_EXEC &&
	       (m->copied || is_file_code(st, m));
}

/* Does memory of no file have code that perf has found to be a file's? */
static __always_inline bool find_copy(struct state *st, struct mapping *m)
{
	struct hybrid_walk_code_key key = { .space = st->code_key.space, .ip = m->start };
	struct hybrid_walk_copy *copy;

	copy = bpf_map_lookup_elem(&copies, &key);
	if (!copy || READ_WORD(&copy->end) != m->end)
		return false;
	m->shift = READ_WORD(&copy->shift);
	m->key.inode = READ_WORD(&copy->key.inode);
	m->key.ctime_sec = READ_WORD(&copy->key.ctime_sec);
	m->key.ctime_nsec = READ_WORD(&copy->key.ctime_nsec);
	m->copied = true;
	return true;
}

/* Looks the mapping of an address up in the address space. */
static __always_inline bool look_up(struct state *st, __u64 addr)
{
	struct vm_area_struct___h *vma = (void *)find_vma(st, addr);
	struct mm_struct___h *mm = (void *)st->mm;
	struct mapping *m = &st->now;
	struct file___h *file;

	m->start = 0;
	m->end = 0;
	m->copied = false;
	m->changes = ~0ULL;
	m->pages = 0;
	if (!vma)
		return false;
	m->vma = (__u64)vma;
	m->start = BPF_CORE_READ(vma, vm_start);
	m->end = BPF_CORE_READ(vma, vm_end);
	file = BPF_CORE_READ(vma, vm_file);
	if (file) {
		m->shift = BPF_CORE_READ(vma, vm_pgoff) * PAGE - m->start;
		m->pages = (__u64)BPF_CORE_READ(file, f_mapping);
		key_of_file(file, &m->key);
	} else if ((__u64)BPF_CORE_READ(mm, context.vdso) != m->start || !m->start) {
		st->no_file = true;
		if (!find_copy(st, m))
			return false;
	} else {
		m->shift = -m->start;
		m->key.inode = PERF_UNWIND_VDSO_64;
		m->key.ctime_sec = 0;
		m->key.ctime_nsec = 0;
	}
	if (addr < m->start || addr >= m->end || !is_code(st, m))
		return false;
	if (st->changing && mapping_changes(st, vma)) {
		st->locked = true;
		return false;
	}
	/* It may have been freed meanwhile, and be another's. */
	if ((st->changing || !has_sequence(mm)) && BPF_CORE_READ(vma, vm_mm) != mm)
		return false;
	m->walk = st->walk;
	return find_head(st, m);
}

/* Is what was looked up for an earlier walk still so? The mappings and their flags are the same. */
static __always_inline bool is_still_true(struct state *st, struct mapping *m)
{
	struct hybrid_walk_key *key = &st->changed;

	if (m->walk == st->walk)
		return true;
	if (!m->copied && !is_file_code(st, m))
		return false;
	if (m->key.inode != PERF_UNWIND_VDSO_64) {
		file_changed_at((void *)m->key.inode, key);
		if (key->ctime_sec != m->key.ctime_sec || key->ctime_nsec != m->key.ctime_nsec)
			return false;
	}
	m->walk = st->walk;
	return find_head(st, m);
}

/*
 * Makes st->now the mapping of an address; false where nothing is known of that. frame.bpf.h says
 * why it is not inline.
 */
__noinline int change_mapping(struct state *st, __u64 addr)
{
	struct mapping *m;
	__u32 i;

	if (!st)
		return false;
	for (i = 0; i < NR_MAPPINGS; i++) {
		if (addr >= st->mappings[i].start && addr < st->mappings[i].end)
			break;
	}
	st->at = i < NR_MAPPINGS ? i : st->next++;
	m = &st->mappings[st->at & (NR_MAPPINGS - 1)];
	if (addr >= m->start && addr < m->end && is_still_true(st, m)) {
		st->now = *m;
		return true;
	}
	st->place = st->at;
	if (!look_up(st, addr)) {
		st->now.end = 0;
		return false;
	}
	st->mappings[st->place & (NR_MAPPINGS - 1)] = st->now;
	return true;
}

static __always_inline bool find_mapping(struct state *st, __u64 addr)
{
	st->no_file = false;
	return (addr >= st->now.start && addr < st->now.end && st->now.walk == st->walk) ||
	       change_mapping(st, addr);
}

#endif /* __HYBRID_MAPPING_BPF_H */
