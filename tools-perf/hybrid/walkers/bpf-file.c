// SPDX-License-Identifier: GPL-2.0
/*
 * Which files the BPF program knows, and the rules of them that it has.
 */
#include <errno.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include "util/hybrid/bpf_skel/hybrid_walk.skel.h"
#include "../compiler/compiler.h"
#include "bpf-private.h"

/* The lock of perf's own address space may be another thread's just then. */
#define TRIES	1000

/* What no walk came through for so long gives its room to others, in s. */
#define EPOCH	10

/**
 * struct hybrid_bpf_file - one that the program knows
 * @list: among all
 * @key: what the program knows it by
 * @held: until hybrid_store_ops::drop(): the key is no other file's
 * @object: of the table
 */
struct hybrid_bpf_file {
	struct list_head	list;
	struct hybrid_walk_key	key;
	const struct hybrid_pinned_file *held;
	u32			object;
};

/* The key of what is mapped at an address of perf's. */
static int ask(struct hybrid_bpf *bpf, void *addr, struct hybrid_walk_key *key)
{
	LIBBPF_OPTS(bpf_test_run_opts, opts);
	struct hybrid_walk_file file = { .addr = (uintptr_t)addr };
	int prog = bpf_program__fd(bpf->skel->progs.hybrid_file), err, i;

	opts.ctx_in = &file;
	opts.ctx_size_in = sizeof(file);
	for (i = 0; i < TRIES; i++) {
		err = bpf_prog_test_run_opts(prog, &opts) ? -errno : (int)opts.retval;
		if (err != -EBUSY)
			break;
		sched_yield();
	}
	*key = file.key;
	return err ?: key->inode ? 0 : -ENOENT;
}

/* The key of what was read of a file, if that is still what its mappings show. */
static int key_of(struct hybrid_bpf *bpf, const struct perf_unwind_load *load,
		  const struct hybrid_pinned_file *file, struct hybrid_walk_key *key)
{
	int err;

	if (load->flags) {
		*key = (struct hybrid_walk_key) { .inode = load->flags };
		return 0;
	}
	err = ask(bpf, file->page, key);
	if (err)
		return err;
	/*
	 * The rows may be of what the file was before; or, on overlayfs, of the copy that was
	 * made of it meanwhile, while mappings of what was opened show the one below.
	 */
	if (key->ctime_sec != file->ctime.tv_sec || key->ctime_nsec != (u64)file->ctime.tv_nsec ||
	    (!file->copied && hybrid_pinned_file_changed(file, load->fd)))
		return -ESTALE;
	return 0;
}

/* After the table was changed: the program looks up anew what it keeps of it. */
static void count_change(struct hybrid_bpf *bpf)
{
	__atomic_add_fetch(&bpf->skel->bss->table_changes, 1, __ATOMIC_RELEASE);
}

/* The program finds the object by the file from now on. */
static int add_file(struct hybrid_bpf *bpf, const struct hybrid_walk_key *key,
		    const struct hybrid_pinned_file *held, u32 object)
{
	u64 found = HYBRID_WALK_FOUND(key->inode, object);
	struct hybrid_bpf_file *file = malloc(sizeof(*file));
	int err;

	if (!file)
		return -ENOMEM;
	file->key = *key;
	file->held = held;
	file->object = object;
	err = bpf_map__update_elem(bpf->skel->maps.files, key, sizeof(*key), &found,
				   sizeof(found), BPF_NOEXIST);
	if (err) {
		free(file);
		return err == -E2BIG ? -ENOSPC : err;
	}
	list_add_tail(&file->list, &bpf->files);
	if (!bpf->users[object]++)
		bpf->stats.objects++;
	return 0;
}

static void remove_file(struct hybrid_bpf *bpf, struct hybrid_bpf_file *file)
{
	bpf_map__delete_elem(bpf->skel->maps.files, &file->key, sizeof(file->key), 0);
	count_change(bpf);
	if (!--bpf->users[file->object])
		bpf->stats.objects--;
	list_del(&file->list);
	free(file);
}

static bool is_recent(const struct hybrid_bpf *bpf, u32 object)
{
	return bpf->table.objects[object].used + 1 >= bpf->skel->bss->epoch;
}

/* The files of objects that have no rows, or have not been of use; or all. */
static void remove_files(struct hybrid_bpf *bpf, bool unused, bool all)
{
	struct hybrid_bpf_file *file, *next;

	list_for_each_entry_safe(file, next, &bpf->files, list) {
		if (all || !bpf->table.objects[file->object].head ||
		    (unused && !is_recent(bpf, file->object)))
			remove_file(bpf, file);
	}
}

/* What no file leads to. Returns how many words the others take. */
static u64 clear_objects(struct hybrid_bpf *bpf)
{
	u64 size = 0;
	u32 object;

	for (object = 0; object < bpf->max_objects; object++) {
		if (!bpf->users[object])
			__atomic_store_n(&bpf->table.objects[object].head, 0, __ATOMIC_RELEASE);
		size += hybrid_table_size(&bpf->table, object);
	}
	return size;
}

/*
 * Half of all is free then, or more. What was found before is not used for anything else
 * until the walks that may have found it have ended: that is when the chunks are given back.
 */
static void make_room(struct hybrid_bpf *bpf)
{
	u64 most = (u64)bpf->table.max_chunks * HYBRID_WALK_CHUNK_WORDS / 2;
	u32 objects = bpf->stats.objects;

	remove_files(bpf, true, false);
	if (clear_objects(bpf) > most || bpf->stats.objects > bpf->max_objects / 2) {
		remove_files(bpf, true, true);
		clear_objects(bpf);
	}
	hybrid_table_compact(&bpf->table);
	remove_files(bpf, false, false);
	count_change(bpf);
	hybrid_table_give_back(&bpf->table);
	bpf->next_object = 0;
	bpf->stats.evicted += objects - bpf->stats.objects;
}

/* An object that no walk has found since the last make_room(). */
static int new_object(struct hybrid_bpf *bpf, u32 *object)
{
	while (bpf->next_object < bpf->max_objects && bpf->users[bpf->next_object])
		bpf->next_object++;
	if (bpf->next_object == bpf->max_objects)
		return -ENOSPC;
	*object = bpf->next_object++;
	bpf->table.objects[*object].used = bpf->skel->bss->epoch;
	bpf->table.objects[*object].interpreter = 0;
	return 0;
}

static void count_epochs(struct hybrid_bpf *bpf)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC_COARSE, &now);
	if (now.tv_sec - bpf->epoch_at < EPOCH)
		return;
	bpf->epoch_at = now.tv_sec;
	__atomic_store_n(&bpf->skel->bss->epoch, bpf->skel->bss->epoch + 1, __ATOMIC_RELAXED);
}

/* The object of a key; false: the program knows none. */
static bool find_object(struct hybrid_bpf *bpf, const struct hybrid_walk_key *key, u32 *object)
{
	u64 found;

	if (bpf_map__lookup_elem(bpf->skel->maps.files, key, sizeof(*key), &found, sizeof(found),
				 0))
		return false;
	*object = found & (HYBRID_WALK_OBJECTS - 1);
	return true;
}

/* Returns 1 where nothing was known of the object. */
static int load_object(struct hybrid_bpf *bpf, const struct hybrid_walk_key *key,
		       const struct perf_unwind_load *load,
		       const struct hybrid_pinned_file *held)
{
	bool is_known;
	u32 object;
	int err;

	is_known = find_object(bpf, key, &object);
	err = is_known ? 0 : new_object(bpf, &object);
	if (!err)
		err = hybrid_table_load(&bpf->table, object, load);
	count_change(bpf);
	if (err || is_known)
		return err;
	return add_file(bpf, key, held, object) ?: 1;
}

static int load(void *store, const struct perf_unwind_load *load,
		const struct hybrid_pinned_file *held)
{
	struct hybrid_bpf *bpf = store;
	struct hybrid_walk_key key;
	int err;

	err = key_of(bpf, load, held, &key);
	if (err)
		return err;
	count_epochs(bpf);
	err = load_object(bpf, &key, load, held);
	if (err == -ENOSPC) {
		make_room(bpf);
		err = load_object(bpf, &key, load, held);
	}
	if (err == -ENOSPC)
		return -EFBIG;
	if (err < 0)
		return err;
	bpf->stats.loads++;
	bpf->stats.rows += load->nr_rows;
	return err;
}

/* It makes room by itself. */
static int forget(void *store __maybe_unused,
		  const struct perf_unwind_unload *what __maybe_unused)
{
	return -EOPNOTSUPP;
}

/* As the file is now. */
static bool find_file(struct hybrid_bpf *bpf, const struct hybrid_pinned_file *held, u32 *object)
{
	struct hybrid_walk_key key;

	return !ask(bpf, held->page, &key) && find_object(bpf, &key, object);
}

static bool has(void *store, const struct hybrid_pinned_file *held)
{
	u32 object;

	return find_file(store, held, &object);
}

static int add(void *store, const struct hybrid_pinned_file *held,
	       const struct hybrid_pinned_file *same)
{
	struct hybrid_walk_key key;
	u32 object;
	int err;

	if (!find_file(store, held, &object))
		return -ENOENT;
	err = ask(store, same->page, &key);
	/* What was compared is what it held when it was opened. */
	if (!err && (key.ctime_sec != same->ctime.tv_sec ||
		     key.ctime_nsec != (u64)same->ctime.tv_nsec))
		err = -ESTALE;
	return err ?: add_file(store, &key, same, object);
}

static void drop(void *store, const struct hybrid_pinned_file *held)
{
	struct hybrid_bpf *bpf = store;
	struct hybrid_bpf_file *file, *next;

	list_for_each_entry_safe(file, next, &bpf->files, list) {
		if (file->held == held)
			remove_file(bpf, file);
	}
}

static int put_copy(void *store, const struct hybrid_pinned_file *held,
		    const struct hybrid_walk_code_key *at, struct hybrid_walk_copy *copy)
{
	struct hybrid_bpf *bpf = store;
	int err = ask(bpf, held->page, &copy->key);

	return err ?: bpf_map__update_elem(bpf->skel->maps.copies, at, sizeof(*at), copy,
					   sizeof(*copy), BPF_ANY);
}

static int put_interpreter(void *store, const struct hybrid_pinned_file *held,
			   const struct hybrid_walk_interpreter *interpreter)
{
	struct hybrid_bpf *bpf = store;
	u32 object;
	int err;

	if (!find_file(bpf, held, &object))
		return -ENOENT;
	err = bpf_map__update_elem(bpf->skel->maps.interpreters, &object, sizeof(object),
				   interpreter, sizeof(*interpreter), BPF_ANY);
	if (err)
		return err;
	__atomic_store_n(&bpf->table.objects[object].interpreter,
			 HYBRID_WALK_INTERPRETER(object, interpreter->language), __ATOMIC_RELEASE);
	bpf->skel->bss->any_interpreters = 1;
	return 0;
}

static void begin(void *store)
{
	struct hybrid_bpf *bpf = store;

	hybrid_table_begin(&bpf->table);
}

const struct hybrid_store_ops *hybrid_bpf__ops(void)
{
	static const struct hybrid_store_ops ops = {
		.begin	= begin,
		.load	= load,
		.forget	= forget,
		.has	= has,
		.add	= add,
		.drop	= drop,
		.put_code = hybrid_bpf__put_code,
		.put_block = hybrid_bpf__put_block,
		.put_copy = put_copy,
		.put_range = hybrid_bpf__put_range,
		.put_interpreter = put_interpreter,
		.put_compiled = hybrid_bpf__put_compiled,
		.takes_registers = true,
		.takes_small = true,
		.takes_codes = true,
	};

	return &ops;
}

void hybrid_bpf__free_files(struct hybrid_bpf *bpf)
{
	struct hybrid_bpf_file *file, *next;

	list_for_each_entry_safe(file, next, &bpf->files, list) {
		list_del(&file->list);
		free(file);
	}
}
