// SPDX-License-Identifier: GPL-2.0
/*
 * Files that are opened elsewhere, and answer late or never.
 */
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>
#include "await.h"
#include "file-copy.h"
#include "elf-file.h"
#include "file-loader.h"
#include "helper-pool.h"
#include "loader-world.h"
#include "rows.h"
#include "tap.h"

/* More than there are processes that open files. */
#define MANY	40

static struct hybrid_row *row_of(const struct hybrid_mapping *mapping)
{
	return hybrid_object_row(mapping, AT + elf_file_symbol("frames.so", "leaf_at"));
}

/* However long it takes: how busy the machine is does not matter. */
static struct hybrid_row *row_at_last(const struct hybrid_mapping *mapping)
{
	struct hybrid_row *row;

	do {
		row = row_of(mapping);
	} while (!row && hybrid_object_waits(mapping->object) && !usleep(1000));
	return row;
}

static void at_hand(void)
{
	struct hybrid_mapping mapping;

	loader_world_start();
	mapping = loader_world_map("/a");
	check(row_at_last(&mapping));
	check(!hybrid_object_waits(mapping.object) && !mapping.object->why);
	same(hybrid_loader_state(mapping.object, false), HYBRID_LOAD_DONE);
	loader_world_end();
}

/* No process is started for what is on a local file system. */
static void local(void)
{
	static const char * const paths[] = { "/a", "/b", "/far/a", "/far/b", "/c" };
	static const unsigned int by_helper[] = { 0, 0, 1, 2, 2 };
	struct hybrid_mapping mapping;
	unsigned int i, before = loader_world_opened();

	loader_world_start();
	for (i = 0; i < ARRAY_SIZE(paths); i++) {
		mapping = loader_world_map(paths[i]);
		check(row_at_last(&mapping));
		same(loader_world_opened() - before, by_helper[i]);
		same(world.started, !!by_helper[i]);
	}
	loader_world_end();
}

/* Is a file given to a helper? */
static bool is_far(const char *path)
{
	unsigned int before = loader_world_opened();
	struct hybrid_mapping mapping = loader_world_map(path);

	check(row_at_last(&mapping));
	return loader_world_opened() != before;
}

/* A file system is known by its number and that of its mount. */
static void known_devices(void)
{
	struct hybrid_device *devices, device;
	unsigned int i;

	loader_world_start();
	devices = world.loader->devices;
	check(!is_far("/a") && !is_far("/b"));
	check(is_far("/far/a") && is_far("/far/b"));
	/* Without a number of its mount a file system that is on no disk is not kept. */
	check(world.loader->nr_devices == 2 || !devices[0].mount);
	check(devices[0].is_local);
	device = devices[0];
	world.loader->nr_devices = 1;
	devices[0].is_local = false;
	check(is_far("/c"));
	devices[0].dev++;
	check(!is_far("/d"));
	devices[0] = device;
	devices[0].is_local = false;
	devices[0].mount++;
	world.loader->nr_devices = 1;
	check(!is_far("/e"));
	/* As many as there is room for: another one takes the place of one. */
	for (i = 0; i < HYBRID_MAX_DEVICES; i++)
		devices[i] = (struct hybrid_device) { .dev = device.dev + 1 + i };
	world.loader->nr_devices = HYBRID_MAX_DEVICES - 1;
	check(!is_far("/f"));
	same(world.loader->nr_devices, HYBRID_MAX_DEVICES);
	same(devices[HYBRID_MAX_DEVICES - 1].dev, device.dev);
	devices[HYBRID_MAX_DEVICES - 1].dev++;
	check(!is_far("/g"));
	same(world.loader->nr_devices, HYBRID_MAX_DEVICES);
	i = (device.dev + device.mount) % HYBRID_MAX_DEVICES;
	same(devices[i].dev, device.dev);
	same(devices[i].mount, device.mount);
	check(devices[i].is_local);
	loader_world_end();
}

static void does_not_answer(void)
{
	struct hybrid_mapping slow, other;

	loader_world_start();
	slow = loader_world_map("/slow!");
	other = loader_world_map("/other");
	world.objects.waiting = NULL;
	check(!row_of(&slow) && hybrid_object_waits(slow.object));
	check(world.objects.waiting == slow.object);
	/* No other file waits for it. */
	check(row_at_last(&other));
	check(!row_of(&slow));
	check(hybrid_loader_state(slow.object, false) != HYBRID_LOAD_DONE);
	check(!slow.object->is_late);
	hybrid_await_give_up(slow.object);
	check(slow.object->is_late);
	same(hybrid_await(slow.object, false), HYBRID_LOAD_LATE);
	same(hybrid_await(other.object, false), HYBRID_LOAD_DONE);
	same_text(slow.object->why, "its file system did not answer in time");
	/* When it is there it is used. */
	loader_world_answer(true);
	check(row_at_last(&slow) && !slow.object->why);
	loader_world_end();
}

/* A file is not late because its helper took longer to start than samples wait for a file. */
static void starts_slowly(void)
{
	enum hybrid_load_state state;
	struct hybrid_mapping mapping;
	struct hybrid_row *row;

	loader_world_start_slowly(HYBRID_LOAD_WAIT_NS / 1000000 + 500);
	loader_world_start();
	mapping = loader_world_map("/far/a");
	do {
		row = row_of(&mapping);
		state = hybrid_loader_state(mapping.object, false);
	} while (!row && state != HYBRID_LOAD_LATE && !usleep(1000));
	check(row && state == HYBRID_LOAD_DONE);
	loader_world_end();
	loader_world_start_slowly(0);
}

/* Who has nothing else to do waits, and not for ever. */
static void waits(void)
{
	struct hybrid_mapping a, b;

	loader_world_start();
	a = loader_world_map("/a!");
	b = loader_world_map("/b!");
	check(!row_of(&a) && !row_of(&b));
	same(hybrid_loader_state(a.object, true), HYBRID_LOAD_LATE);
	same(hybrid_loader_state(b.object, true), HYBRID_LOAD_LATE);
	loader_world_end();
}

/* Objects, and all of them, go while their files are asked for. */
static void goes(void)
{
	struct hybrid_mapping mapping;
	unsigned int i;
	char path[16];

	loader_world_start();
	for (i = 0; i < MANY; i++) {
		snprintf(path, sizeof(path), "/%u!", i);
		mapping = loader_world_map(path);
		check(!row_of(&mapping));
		mapping.object->is_old = true;
		if (i % 2)
			hybrid_object_put(mapping.object);
	}
	loader_world_end();
}

/* More than there are processes: those behind them are late, and come. */
static void many(void)
{
	struct hybrid_mapping mappings[MANY];
	unsigned int i;
	char path[16];

	loader_world_start();
	for (i = 0; i < MANY; i++) {
		snprintf(path, sizeof(path), "/%u!", i);
		mappings[i] = loader_world_map(path);
		check(!row_of(&mappings[i]));
	}
	loader_world_answer(true);
	for (i = 0; i < MANY; i++)
		check(row_at_last(&mappings[i]));
	loader_world_end();
}

/* A copy has the same rows. */
static void copies(void)
{
	static const char * const names[] = { "frames.so", "debug.so", "nocfi.so", "i386.so" };
	struct hybrid_mapping original, copy;
	struct hybrid_row *a, *b;
	unsigned int i, nr;
	int fd;
	u64 ip;

	loader_world_start();
	for (i = 0; i < ARRAY_SIZE(names); i++) {
		fd = open(elf_file_path(names[i]), O_RDONLY);
		original = loader_world_map("/file");
		copy = loader_world_map("/copy");
		original.object->is_old = true;
		copy.object->is_old = true;
		hybrid_object_open(copy.object, hybrid_copy(fd, hybrid_copy_size(fd)));
		hybrid_object_open(original.object, fd);
		for (ip = AT, nr = 0; ip < AT + 0x4000; ip++) {
			a = hybrid_object_row(&original, ip);
			b = hybrid_object_row(&copy, ip);
			check(!a == !b && (!a || !memcmp(&a->rule, &b->rule, sizeof(a->rule))));
			check(hybrid_object_is_return(&original, ip) ==
			      hybrid_object_is_return(&copy, ip));
			nr += a && a->rule.kind != HYBRID_RULE_NONE;
		}
		check(nr > 0 || !strcmp(names[i], "nocfi.so"));
		hybrid_object_put(original.object);
		hybrid_object_put(copy.object);
	}
	loader_world_end();
}

int main(void)
{
	static const struct tap_test tests[] = {
		{ "load: a file that is at hand", at_hand },
		{ "load: file systems that are local", local },
		{ "load: file systems that are known", known_devices },
		{ "load: a file that does not answer", does_not_answer },
		{ "load: processes that start slowly", starts_slowly },
		{ "load: with nothing else to do", waits },
		{ "load: objects that go meanwhile", goes },
		{ "load: more files than processes", many },
		{ "load: a copy in memory", copies },
	};

	if (!loader_world_init())
		return 2;
	return tap_run(tests, ARRAY_SIZE(tests));
}
