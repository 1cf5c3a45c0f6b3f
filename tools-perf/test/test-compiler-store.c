// SPDX-License-Identifier: GPL-2.0
/*
 * What becomes of it when a store refuses, is full, or says that it has lost something; and
 * when what is loaded goes away.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "fake-store.h"
#include "clock.h"
#include "tap.h"
#include "update.h"

static void answers(int err, unsigned int times)
{
	store.err = err;
	store.errs = times;
}

/* An object that can't be loaded is left alone, and others are loaded. */
static void refused(void)
{
	static const int errs[] = { -EDQUOT, -EFBIG, -ENOMEM, -EINVAL };
	char *text = NULL;
	unsigned int i;
	size_t size;
	FILE *out;

	for (i = 0; i < ARRAY_SIZE(errs); i++) {
		store_begin();
		answers(errs[i], 1);
		store_sample("pushed_at", ASK(0));
		store_work();
		same(store.errs, 0);
		store_sample("bpframe_at", ASK(0));
		store_work();
		same(store.nr, 0);
		scene_start_32(&sample, scene_at_32("leaf_at"));
		scene_unwind(&sample);
		hybrid_compiler_sample(compiler, &scene_unwinder, &sample.u, 0, ASK(0));
		store_work();
		same(store.nr, 1);
		out = open_memstream(&text, &size);
		hybrid_compiler_print(compiler, out);
		fclose(out);
		check(strstr(text, "frames.so can't be loaded: ") &&
		      strstr(text, strerror(-errs[i])));
		free(text);
		store_end();
	}
}

/* A file that is changed while it is loaded is opened anew, if not for ever. */
static void changed(void)
{
	unsigned int i;

	/* A function: as soon as it is seen to be lost. */
	store_begin();
	answers(-ESTALE, 1);
	for (i = 0; i < 4; i++) {
		same(store.nr, 0);
		store_sample("pushed_at", ASK(0));
		store_work();
	}
	check(store_knows("pushed_at"));
	store_end();

	/* The whole object, from its beginning. */
	store_begin();
	for (i = 0; i < ARRAY_SIZE(store_labels); i++) {
		answers(-ESTALE, i == HYBRID_HOT_SAMPLES - 1 ? 2 : 0);
		store_sample(store_labels[i], ASK(0));
		store_work();
	}
	same(store.errs, 0);
	check(store_knows("outer_ret") && store_knows("plt_low"));
	store_end();

	store_begin();
	answers(-ESTALE, 100);
	for (i = 0; i < 60; i++) {
		store_sample("pushed_at", ASK(0));
		store_work();
	}
	check(store.errs > 80);
	store_end();
}

static void interrupted(void)
{
	store_begin();
	answers(-EINTR, 3);
	store_sample("pushed_at", ASK(0));
	store_work();
	same(store.nr, 1);
	store_end();
}

static void print(const char *want)
{
	char *text = NULL;
	size_t size;
	FILE *out = open_memstream(&text, &size);

	hybrid_compiler_print(compiler, out);
	fclose(out);
	same_text(text, want);
	free(text);
}

/* Rules are used up: forget all and begin anew, once. */
static void no_space(void)
{
	store_begin();
	store_sample("pushed_at", ASK(0));
	store_work();
	answers(-ENOSPC, 1);
	store_sample("bpframe_at", ASK(0));
	store_work();
	same(store.forgotten, 1);
	same(store.nr, 0);
	print("hybrid: loaded 1 functions one by one, 0 objects whole\n"
	      "hybrid: too many rules that differ for one store, all was loaded anew\n");
	store_sample("pushed_at", ASK(0));
	store_sample("bpframe_at", ASK(0));
	store_work();
	same(store.nr, 2);

	answers(-ENOSPC, 1);
	store_sample("leaf_at", ASK(0));
	store_work();
	same(store.forgotten, 1);
	store_sample("redzone_at", ASK(0));
	store_work();
	same(store.nr, 2);
	print("hybrid: loaded 3 functions one by one, 0 objects whole\n"
	      "hybrid: too many rules that differ for one store, twice: no more was loaded\n");
	store_end();
}

/* Samples that were in the rings already say nothing; later ones do. */
static void lost(void)
{
	unsigned int pass;

	store_begin();
	store_sample("pushed_at", ASK(0));
	store_work();
	for (pass = 0; pass < 2; pass++) {
		same(store.nr, 1);
		store_sample("pushed_at", ASK(0));
		store_work();
	}
	store_sample("pushed_at", ASK(0));
	store_work();
	same(store.nr, 2);
	same(store.loaded[0].start, store.loaded[1].start);

	/* It does not help: not again for a while. */
	for (pass = 0; pass < 10; pass++) {
		store_sample("pushed_at", ASK(0));
		store_work();
	}
	same(store.nr, 2);
	for (; pass < 30; pass++) {
		store_sample("pushed_at", ASK(0));
		store_work();
	}
	same(store.nr, 3);
	store_end();
}

/* Only where the walk ended for want of a rule, and at that frame. */
static void not_lost(void)
{
	static const u64 infos[] = {
		ASK(1), ASK(0) | BY_CODE, PERF_UNWIND_END_NOT_RETURN,
		PERF_UNWIND_END_UNREADABLE, PERF_UNWIND_END_LIMIT, PERF_UNWIND_END_BUSY,
	};
	unsigned int i, pass;

	store_begin();
	store_sample("pushed_at", ASK(0));
	store_sample("inreg_at", ASK(0));
	store_work();
	same(store.nr, 2);
	for (pass = 0; pass < 8; pass++) {
		for (i = 0; i < ARRAY_SIZE(infos); i++)
			store_sample("pushed_at", infos[i]);
		/* The kernel is told to ask there. */
		store_sample("inreg_at", ASK(0));
		store_work();
	}
	same(store.nr, 2);
	store_end();
}

/* The reader closes a file that is still to be loaded. */
static void object_gone(void)
{
	store_begin();
	store_sample("pushed_at", ASK(0));
	hybrid_processes_exit(&scene_ps);
	store_work();
	same(store.nr, 1);
	check(fcntl(store.loaded[0].fd, F_GETFD) < 0);
	hybrid_processes_init(&scene_ps, elf_file_open);
	store_end();
}

/* A file that is not used is closed, and opened again if a sample meets more of it. */
static void closed(void)
{
	u64 now = hybrid_clock_ns(CLOCK_MONOTONIC_COARSE);

	store_begin();
	store_sample("pushed_at", ASK(0));
	store_work();
	same(compiler->nr_opened, 1);
	hybrid_update_age(compiler, now + HYBRID_UPDATE_AGE / 2);
	same(compiler->nr_opened, 1);
	hybrid_update_age(compiler, now + 100 * HYBRID_UPDATE_AGE);
	same(compiler->nr_opened, 0);
	store_sample("bpframe_at", ASK(0));
	store_work();
	same(compiler->nr_opened, 1);
	same(store.nr, 2);
	check(store_knows("bpframe"));
	store_end();
}

/* With a thread the same is loaded, and stopping leaves nothing behind. */
static void threaded(void)
{
	unsigned int tries;

	store_begin();
	same(hybrid_compiler_start(compiler), 0);
	store_sample("pushed_at", ASK(0));
	hybrid_compiler_pass(compiler);
	for (tries = 0; tries < 10000; tries++) {
		if (__atomic_load_n(&store.nr, __ATOMIC_ACQUIRE))
			break;
		usleep(1000);
	}
	hybrid_compiler_stop(compiler);
	same(store.nr, 1);
	check(store_knows("pushed"));
	store_sample("bpframe_at", ASK(0));
	hybrid_compiler_pass(compiler);
	store_end();
}

/*
 * A store of files: what it says of the one that was loaded and of the one that a sample was in,
 * whether it takes that one, and what it was told.
 */
static struct {
	const struct hybrid_pinned_file	*first;
	bool				 has_first, has_other;
	int				 add_err, open;
	unsigned int			 added, dropped, opened;
} files;

static bool has_file(void *to __maybe_unused, const struct hybrid_pinned_file *file)
{
	return file == files.first ? files.has_first : files.has_other;
}

static int add_file(void *to __maybe_unused, const struct hybrid_pinned_file *file,
		    const struct hybrid_pinned_file *same)
{
	check(file == files.first && same != files.first);
	files.added++;
	return files.add_err;
}

static void drop_file(void *to __maybe_unused, const struct hybrid_pinned_file *file __maybe_unused)
{
	files.dropped++;
}

/* Opens the file once more, another one, none, or later. */
static int open_other(const struct hybrid_mapping *mapping)
{
	struct hybrid_stored *stored = list_first_entry(&compiler->stored_objects,
							struct hybrid_stored, list);

	files.opened++;
	/* By an object of its own, which the sample's may outlive. */
	check(!mapping->record && mapping->object == stored->awaited);
	if (files.open < 0)
		return files.open;
	return files.open ? open(elf_file_path("small.so"), O_RDONLY | O_CLOEXEC) :
			    elf_file_open(mapping);
}

/* A walk ended in a file whose rules were loaded, as the kernel takes it for another. */
static void twins(void)
{
	static const struct {
		bool		has_first, has_other;
		int		open, add_err;
		unsigned int	added;
		bool		again;
		unsigned int	nr_twins;
		bool		is_known;
	} cases[] = {
		{ true, false, 0, 0, 1, false, 1 },
		{ false, false, 0, 0, 0, true, 0 },
		{ true, true, 0, 0, 0, false, 0 },
		{ true, false, 0, -ENOSPC, 1, false, 0 },
		{ true, false, 1, 0, 0, false, 0 },
		{ true, false, -1, 0, 0, true, 0 },
		{ true, false, HYBRID_OPEN_LATER, 0, 0, false, 0 },
		/* perf has a copy of the file that the rules are of. */
		{ true, false, 0, 0, 1, false, 1, true },
		{ true, true, 0, 0, 0, false, 0, true },
	};
	struct hybrid_mapping *mapping;
	struct hybrid_stored *stored;
	unsigned int i, pass;
	int fd;

	for (i = 0; i < ARRAY_SIZE(cases); i++) {
		fd = dup(STDIN_FILENO);
		close(fd);
		store_ops.has = has_file;
		store_ops.add = add_file;
		store_ops.drop = drop_file;
		memset(&files, 0, sizeof(files));
		files.has_first = cases[i].has_first;
		files.has_other = cases[i].has_other;
		files.add_err = cases[i].add_err;
		store_begin();
		store_sample("pushed_at", ASK(0));
		store_work();
		same(store.nr, 1);
		stored = list_first_entry(&compiler->stored_objects, struct hybrid_stored, list);
		files.first = &stored->hold;
		files.open = cases[i].open;
		mapping = hybrid_space_at(sample.u.space, scene_at("pushed_at"));
		if (cases[i].is_known) {
			mapping->object->file = (struct hybrid_file_id) { .dev = 5, .ino = 6 };
			mapping->object->is_copy = true;
			mapping->file = mapping->object->file;
			stored->hold.copied = true;
		}
		scene_ps.objects.open = open_other;
		for (pass = 0; pass < 3; pass++) {
			store_sample("pushed_at", ASK(0));
			store_work();
		}
		same(files.opened, !cases[i].is_known);
		same(files.added, cases[i].added);
		same(stored->nr_twins, cases[i].nr_twins);
		/* Where it is loaded anew there is a sample for it first. */
		store_sample("pushed_at", ASK(0));
		store_work();
		same(store.nr, 1 + cases[i].again);
		check(!stored->awaited || cases[i].open == HYBRID_OPEN_LATER);
		scene_ps.objects.open = elf_file_open;
		store_end();
		/* The file, and those that are like it. */
		same(files.dropped, 1 + cases[i].nr_twins);
		/* No file stays open. */
		same(dup(STDIN_FILENO), fd);
		close(fd);
	}
	store_ops.has = NULL;
	store_ops.add = NULL;
	store_ops.drop = NULL;
}

int main(void)
{
	static const struct tap_test tests[] = {
		{ "load: the store refuses", refused },
		{ "load: the file was changed", changed },
		{ "load: the store was interrupted", interrupted },
		{ "load: the store's rules are used up", no_space },
		{ "load: the store has lost it", lost },
		{ "load: the store has not lost it", not_lost },
		{ "load: an object goes", object_gone },
		{ "load: an unused file is closed", closed },
		{ "load: in a thread", threaded },
		{ "load: other files with the same rows", twins },
	};

	return tap_run(tests, ARRAY_SIZE(tests));
}
