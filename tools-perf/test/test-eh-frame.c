// SPDX-License-Identifier: GPL-2.0
/*
 * All rows of real ELF files, as eh-frame.c reads them and as libdw does.
 *
 * usage: test-eh-frame [FILE...]    those instead of what the system has
 */
#include <fcntl.h>
#include <glob.h>
#include <inttypes.h>
#include <link.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "abi.h"
#include "elf-file.h"
#include "fde.h"
#include "tap.h"

/* Many different compilers', and hand-written; those that are not there are none. */
static const char * const usual[] = {
	"/lib/x86_64-linux-gnu/lib[cm].so.6", "/lib64/lib[cm].so.6", "/lib64/ld-linux-x86-64.so.2",
	"/usr/lib*/x86_64-linux-gnu/lib{stdc++.so.6,crypto.so.3,gcc_s.so.1,gmp.so.10}",
	"/usr/lib64/lib{stdc++.so.6,crypto.so.3,gcc_s.so.1,gmp.so.10}",
	"/usr/bin/{bash,dash,python3,perl,git,ld,as}", "/usr/lib/gcc/x86_64-linux-gnu/*/cc1",
};

static unsigned long nr_rows, nr_read;
static char **files;

static bool is_same(const struct hybrid_row *a, const struct hybrid_row *b)
{
	return a->start == b->start && a->end == b->end && a->rule.kind == b->rule.kind &&
	       a->rule.base == b->rule.base && a->rule.signal == b->rule.signal &&
	       a->rule.bp == b->rule.bp && a->rule.deref_off == b->rule.deref_off &&
	       a->rule.cfa_off == b->rule.cfa_off && a->rule.ra_off == b->rule.ra_off &&
	       a->rule.bp_off == b->rule.bp_off;
}

/* The row at an address of an FDE; returns where the next one begins, 0 where they differ. */
static u64 compare_row(struct hybrid_object *object, const struct hybrid_fde *fde, u64 vaddr)
{
	struct hybrid_row ours = {}, libdw;
	bool begins;
	u64 end;

	nr_rows++;
	if (hybrid_cfi_libdw_row(&object->cfi, vaddr, &libdw))
		return 0;
	end = libdw.end;
	if (hybrid_eh_frame_row(&object->cfi, vaddr, &ours)) {
		nr_read++;
		begins = ours.start == fde->start;
		/* From another address of the row, too. */
		if (!is_same(&ours, &libdw) || ours.begins != begins ||
		    !hybrid_eh_frame_row(&object->cfi, end - 1, &ours) || !is_same(&ours, &libdw))
			end = 0;
	}
	hybrid_row_exit(&libdw);
	return end;
}

static void compare_file(const char *path)
{
	struct hybrid_ident ident = { .path = path };
	struct hybrid_objects *objects = malloc(sizeof(*objects));
	struct hybrid_object *object;
	struct hybrid_fdes fdes = {};
	u64 vaddr, next;
	size_t i;

	hybrid_objects_init(objects, NULL, hybrid_x86_abi);
	object = hybrid_object_get(objects, &ident);
	/* A script, or an object of no code. */
	if (hybrid_object_open(object, open(path, O_RDONLY | O_CLOEXEC)))
		goto out;
	same(hybrid_fdes_read(object, &fdes), 0);
	for (i = 0; i < fdes.nr; i++) {
		for (vaddr = fdes.fdes[i].start; vaddr < fdes.fdes[i].end; vaddr = next) {
			next = compare_row(object, &fdes.fdes[i], vaddr);
			if (next > vaddr)
				continue;
			printf("# %s: 0x%" PRIx64 "\n", path, vaddr);
			check(!"another row");
			goto out;
		}
	}
out:
	hybrid_fdes_exit(&fdes);
	hybrid_object_put(object);
	hybrid_objects_exit(objects);
	free(objects);
}

static void own(void)
{
	static const char * const names[] = {
		"debug.so", "eh-frame.so", "entry.so", "frames.so", "i386.so", "many.so",
		"nocfi.so", "small.so",
	};
	size_t i;

	for (i = 0; i < ARRAY_SIZE(names); i++)
		compare_file(elf_file_path(names[i]));
}

static int loaded(struct dl_phdr_info *info, size_t size, void *arg)
{
	(void)size;
	(void)arg;
	if (info->dlpi_name[0] == '/')
		compare_file(info->dlpi_name);
	return 0;
}

static void of_system(void)
{
	glob_t found;
	size_t i, j;

	nr_rows = 0;
	nr_read = 0;
	for (i = 0; files[i]; i++)
		compare_file(files[i]);
	if (!i) {
		dl_iterate_phdr(loaded, NULL);
		compare_file("/proc/self/exe");
	}
	for (i = 0; !files[0] && i < ARRAY_SIZE(usual); i++) {
		if (glob(usual[i], GLOB_BRACE, NULL, &found))
			continue;
		for (j = 0; j < found.gl_pathc; j++)
			compare_file(found.gl_pathv[j]);
		globfree(&found);
	}
	/* It is worth its while. */
	printf("# %lu of %lu rows were read without libdw\n", nr_read, nr_rows);
	check(nr_read > nr_rows / 100 * 95);
}

/* Rows in any order: the program of an FDE is begun anew. */
static void any_order(void)
{
	struct hybrid_ident ident = { .path = "/proc/self/exe" };
	struct hybrid_objects *objects = malloc(sizeof(*objects));
	struct hybrid_row ours, libdw;
	struct hybrid_object *object;
	struct hybrid_fdes fdes;
	u64 vaddr;
	size_t i;

	hybrid_objects_init(objects, NULL, hybrid_x86_abi);
	object = hybrid_object_get(objects, &ident);
	same(hybrid_object_open(object, open(ident.path, O_RDONLY | O_CLOEXEC)), 0);
	same(hybrid_fdes_read(object, &fdes), 0);
	tap_seed(1);
	for (i = 0; i < 20000; i++) {
		const struct hybrid_fde *fde;

		fde = &fdes.fdes[tap_random() % min_t(size_t, fdes.nr, 50)];
		vaddr = fde->start + tap_random() % (fde->end - fde->start);
		same(hybrid_cfi_row(&object->cfi, vaddr, &ours), 0);
		same(hybrid_cfi_libdw_row(&object->cfi, vaddr, &libdw), 0);
		if (!check(is_same(&ours, &libdw)))
			i = 20000;
		hybrid_row_exit(&ours);
		hybrid_row_exit(&libdw);
	}
	hybrid_fdes_exit(&fdes);
	hybrid_object_put(object);
	hybrid_objects_exit(objects);
	free(objects);
}

int main(int argc, char **argv)
{
	static const struct tap_test tests[] = {
		{ "eh_frame: rows of the tests' own files", own },
		{ "eh_frame: rows of what the system has", of_system },
		{ "eh_frame: rows asked for in any order", any_order },
	};

	(void)argc;
	files = argv + 1;
	return tap_run(tests, ARRAY_SIZE(tests));
}
