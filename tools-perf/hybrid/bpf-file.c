// SPDX-License-Identifier: GPL-2.0
/*
 * Which files the BPF program knows, and what it is taught of them.
 */
#include <errno.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include "util/hybrid/bpf_skel/hybrid_walk.skel.h"
#include "bpf-private.h"
#include "store/compiler.h"

/* The lock of perf's own address space may be another thread's just then. */
#define TRIES	1000

/**
 * struct hybrid_bpf_file - one that the program knows
 * @list: among all
 * @key: what the program knows it by
 * @held: until hybrid_store_ops::drop(): the key is no other file's
 */
struct hybrid_bpf_file {
	struct list_head	list;
	struct hybrid_walk_key	key;
	const struct hybrid_hold *held;
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
static int key_of(struct hybrid_bpf *bpf, const struct perf_hybrid_teach *teach,
		  const struct hybrid_hold *file, struct hybrid_walk_key *key)
{
	int err;

	if (teach->flags) {
		*key = (struct hybrid_walk_key) { .inode = teach->flags };
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
	    (!file->copied && hybrid_hold_changed(file, teach->fd)))
		return -ESTALE;
	return 0;
}

/* The program finds the object by the file from now on. */
static int add_file(struct hybrid_bpf *bpf, const struct hybrid_walk_key *key,
		    const struct hybrid_hold *held, u32 object)
{
	struct hybrid_bpf_file *file = malloc(sizeof(*file));
	int err;

	if (!file)
		return -ENOMEM;
	file->key = *key;
	file->held = held;
	err = bpf_map__update_elem(bpf->skel->maps.files, key, sizeof(*key), &object,
				   sizeof(object), BPF_NOEXIST);
	if (err)
		free(file);
	else
		list_add_tail(&file->list, &bpf->files);
	return err;
}

static void remove_file(struct hybrid_bpf *bpf, struct hybrid_bpf_file *file)
{
	bpf_map__delete_elem(bpf->skel->maps.files, &file->key, sizeof(file->key), 0);
	list_del(&file->list);
	free(file);
}

static int teach(void *store, const struct perf_hybrid_teach *teach,
		 const struct hybrid_hold *held)
{
	struct hybrid_bpf *bpf = store;
	struct hybrid_walk_key key;
	u32 object = bpf->nr_objects;
	bool is_new;
	int err;

	err = key_of(bpf, teach, held, &key);
	if (err)
		return err;
	is_new = bpf_map__lookup_elem(bpf->skel->maps.files, &key, sizeof(key), &object,
				      sizeof(object), 0);
	if (is_new && bpf->nr_objects == HYBRID_WALK_OBJECTS)
		return -ENOSPC;
	err = hybrid_table_teach(&bpf->table, object, teach);
	if (err)
		return err;
	bpf->stats.taught++;
	bpf->stats.rows += teach->nr_rows;
	if (!is_new)
		return 0;
	err = add_file(bpf, &key, held, object);
	if (!err)
		bpf->stats.objects = ++bpf->nr_objects;
	return err;
}

/* What walks may be reading is not used for anything else: there is no end of them. */
static int forget(void *store __maybe_unused,
		  const struct perf_hybrid_forget *what __maybe_unused)
{
	return -EOPNOTSUPP;
}

/* The object of a file, as it is now; false: the program knows none. */
static bool find_object(struct hybrid_bpf *bpf, const struct hybrid_hold *held, u32 *object)
{
	struct hybrid_walk_key key;

	return !ask(bpf, held->page, &key) &&
	       !bpf_map__lookup_elem(bpf->skel->maps.files, &key, sizeof(key), object,
				     sizeof(*object), 0);
}

static bool has(void *store, const struct hybrid_hold *held)
{
	u32 object;

	return find_object(store, held, &object);
}

static int add(void *store, const struct hybrid_hold *held, const struct hybrid_hold *same)
{
	struct hybrid_walk_key key;
	u32 object;
	int err;

	if (!find_object(store, held, &object))
		return -ENOENT;
	err = ask(store, same->page, &key);
	/* What was compared is what it held when it was opened. */
	if (!err && (key.ctime_sec != same->ctime.tv_sec ||
		     key.ctime_nsec != (u64)same->ctime.tv_nsec))
		err = -ESTALE;
	return err ?: add_file(store, &key, same, object);
}

static void drop(void *store, const struct hybrid_hold *held)
{
	struct hybrid_bpf *bpf = store;
	struct hybrid_bpf_file *file, *next;

	list_for_each_entry_safe(file, next, &bpf->files, list) {
		if (file->held == held)
			remove_file(bpf, file);
	}
}

const struct hybrid_store_ops *hybrid_bpf__ops(void)
{
	static const struct hybrid_store_ops ops = {
		.teach	= teach,
		.forget	= forget,
		.has	= has,
		.add	= add,
		.drop	= drop,
		.takes_registers = true,
		.takes_small = true,
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
