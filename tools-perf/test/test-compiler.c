// SPDX-License-Identifier: GPL-2.0
/*
 * What a store is taught, and when: with a store that is none of the kernel's.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <linux/perf_event.h>
#include "debug-frame.h"
#include "scene.h"
#include "worker.h"
#include "tap.h"

#define MAX_TAUGHT	64

/* Where many.so is mapped. */
#define MANY		0x7f7000000000ULL

#define ASK(frames)	(PERF_HYBRID_END_ASK | (frames) << 16)
#define BY_CODE		(PERF_HYBRID_INNERMOST_CODE << 8)

/**
 * struct store - what would be the kernel's
 * @taught: what came, rows and rules left out
 * @nr: of @taught
 * @forgotten: how often all was
 * @err: what to answer, @errs times
 * @errs: times
 * @watched: an offset in a file
 * @rule: that the last lesson had for it
 */
static struct store {
	struct perf_hybrid_teach	taught[MAX_TAUGHT];
	unsigned int			nr;
	unsigned int			forgotten;
	int				err;
	unsigned int			errs;
	u32				watched;
	struct perf_hybrid_rule		rule;
} store;

static struct scene s;
static struct hybrid_compiler *compiler;

static int fake_teach(void *arg, const struct perf_hybrid_teach *teach,
		      const struct hybrid_hold *file __maybe_unused)
{
	const struct perf_hybrid_rule *rules = (const void *)(uintptr_t)teach->rules;
	const struct perf_hybrid_row *rows = (const void *)(uintptr_t)teach->rows;
	struct store *to = arg;
	u32 i;

	check(teach->nr_rows >= 1 && teach->nr_rules >= 1 && teach->nr_rules <= 65535);
	check(teach->start < teach->end && rows[0].offset == teach->start);
	for (i = 0; i < teach->nr_rows; i++)
		check(rows[i].rule < teach->nr_rules && rows[i].offset < teach->end);
	for (i = 0; i < teach->nr_rows && rows[i].offset <= to->watched; i++) {
		if (to->watched < teach->end)
			to->rule = rules[rows[i].rule];
	}
	if (to->errs) {
		to->errs--;
		return to->err;
	}
	if (!check(to->nr < MAX_TAUGHT))
		return 0;
	to->taught[to->nr] = *teach;
	__atomic_store_n(&to->nr, to->nr + 1, __ATOMIC_RELEASE);
	return 0;
}

static int fake_forget(void *arg, const struct perf_hybrid_forget *forget)
{
	struct store *to = arg;

	same(forget->fd, -1);
	same(forget->flags, 0);
	to->forgotten++;
	to->nr = 0;
	return 0;
}

static struct hybrid_store_ops fake = {
	.teach	= fake_teach,
	.forget	= fake_forget,
};

static void begin(void)
{
	memset(&store, 0, sizeof(store));
	/* The scene is made by its first sample. */
	scene_start(&s, 0);
	compiler = hybrid_compiler_new(&scene_ps.objects, &fake, &store);
	if (!compiler)
		exit(2);
}

static void end(void)
{
	hybrid_compiler_stop(compiler);
	scene_exit();
	hybrid_compiler_delete(compiler);
}

/* leaf() called from the label @name, and nothing known of that one's caller. */
static void sample_in(const char *name, u64 info)
{
	scene_start(&s, scene_at(name));
	scene_unwind(&s);
	s.u.nr = 1;
	s.u.stop = HYBRID_STOP_NO_CFI;
	hybrid_compiler_sample(compiler, &scene_unwinder, &s.u, 0, info);
}

static void work(void)
{
	hybrid_compiler_pass(compiler);
	while (hybrid_compiler_work(compiler))
		;
}

static u32 offset_of(const char *label)
{
	const struct hybrid_mapping *mapping;
	u64 ip = scene_at(label);

	mapping = hybrid_space_find(s.u.space, ip);
	return ip - mapping->start + mapping->pgoff;
}

static bool has(const struct perf_hybrid_teach *lesson, const char *label)
{
	u32 offset = offset_of(label);

	return offset >= lesson->start && offset < lesson->end;
}

static bool knows(const char *label)
{
	unsigned int i;

	for (i = 0; i < store.nr; i++) {
		if (has(&store.taught[i], label))
			return true;
	}
	return false;
}

static void functions(void)
{
	begin();
	sample_in("pushed_at", ASK(0));
	same(store.nr, 0);
	work();
	same(store.nr, 1);
	check(knows("pushed") && knows("pushed_end") && !knows("bpframe_at"));
	same(store.taught[0].flags, 0);
	check(store.taught[0].fd >= 0);

	/* Another row of it, the same row, and code that no CFI covers. */
	sample_in("pushed_end", ASK(0));
	sample_in("pushed_at", ASK(0));
	sample_in("nocfi_at", ASK(0));
	work();
	same(store.nr, 1);
	sample_in("bpframe_at", ASK(0));
	sample_in("leaf_at", ASK(0));
	work();
	same(store.nr, 3);
	end();
}

/* All frames of a sample, each function once. */
static void all_frames(void)
{
	begin();
	scene_start(&s, scene_at("leaf_at"));
	scene_push(&s, scene_at("pushed_ret"));
	scene_push_pushed(&s, 0, scene_at("pushed_ret"));
	scene_push_pushed(&s, 0, scene_at("outer_ret"));
	scene_unwind(&s);
	same(s.u.nr, 4);
	hybrid_compiler_sample(compiler, &scene_unwinder, &s.u, 0, ASK(0));
	work();
	same(store.nr, 3);
	check(knows("leaf_at") && knows("pushed") && knows("outer_ret"));
	end();
}

static const char * const labels[] = {
	"leaf_at", "pushed_at", "bpframe_at", "redzone_at", "remember_one",
	"undefbp_at", "raoff_at", "next",
};

/* Seven samples that met something new teach functions, the eighth all. */
static void hot(void)
{
	unsigned int i;

	begin();
	for (i = 0; i < ARRAY_SIZE(labels); i++) {
		same(store.nr, i);
		check(!knows("outer_ret"));
		sample_in(labels[i], ASK(0));
		/* Nothing new in it: it does not count. */
		sample_in(labels[0], ASK(0));
		work();
	}
	same(i, HYBRID_HOT_SAMPLES);
	check(knows("outer_ret") && knows("plt_low") && knows("realign_at"));
	/* From now on there is nothing to teach. */
	i = store.nr;
	sample_in("outer_ret", ASK(0));
	sample_in("plt_low", ASK(0));
	work();
	same(store.nr, i);
	end();
}

/* A sample at an address of many.so, which is as far from frames.so. */
static void sample_in_many(u64 vaddr)
{
	scene_start(&s, scene_at("leaf_at"));
	scene_unwind(&s);
	s.u.frames[0].ip = MANY + vaddr;
	s.u.nr = 1;
	s.u.stop = HYBRID_STOP_NO_CFI;
	hybrid_compiler_sample(compiler, &scene_unwinder, &s.u, 0, ASK(0));
}

/* Of 400 functions one in 16 has to be met before it is worth while to teach all. */
static void hot_large(void)
{
	u64 many = elf_file_symbol("many.so", "many");
	unsigned int i;

	begin();
	elf_file_map(&scene_ps, SCENE_PID, "many.so", MANY);
	for (i = 0; i < 25; i++) {
		same(store.nr, i);
		same(compiler->wholes, 0);
		sample_in_many(many + 256 * i + 1);
		work();
	}
	same(compiler->wholes, 1);
	i = store.nr;
	sample_in_many(many + 16 * 399 + 1);
	work();
	same(store.nr, i);
	end();
}

/*
 * What a sample meets in an object that all is going to be taught of: its part of that,
 * or only itself, for a store that takes such lessons.
 */
static void while_hot(void)
{
	unsigned int i, small;

	for (small = 0; small <= 1; small++) {
		fake.takes_small = small;
		begin();
		for (i = 0; i < ARRAY_SIZE(labels); i++)
			sample_in(labels[i], ASK(0));
		sample_in("outer_ret", ASK(0));
		work();
		check(store.nr > i && has(&store.taught[i], "outer_ret"));
		check(has(&store.taught[i], "plt_low") == !small);
		check(knows("plt_low") && knows("realign_at"));
		end();
	}
	fake.takes_small = false;
}

/* The kernel needs a rule that no dump reaches: it is taught all there is. */
static void beyond_the_dump(void)
{
	unsigned int nr;

	begin();
	scene_start(&s, scene_at("leaf_at"));
	scene_push(&s, scene_at("pushed_ret"));
	scene_push_pushed(&s, 0, scene_at("outer_ret"));
	s.u.dump_size = 16;
	scene_unwind(&s);
	same(s.u.stop, HYBRID_STOP_DUMP_END);
	nr = s.u.nr;
	/* Within the dump: what it shows will do. */
	hybrid_compiler_sample(compiler, &scene_unwinder, &s.u, 0, ASK(nr - 1));
	work();
	check(knows("leaf_at") && !knows("outer_ret"));
	hybrid_compiler_sample(compiler, &scene_unwinder, &s.u, 0, ASK(nr));
	work();
	check(knows("outer_ret") && knows("realign_at"));
	/* And not again. */
	nr = store.nr;
	hybrid_compiler_sample(compiler, &scene_unwinder, &s.u, 0, ASK(nr));
	work();
	same(store.nr, nr);
	end();
}

/* Two samples that are cut off: all of the objects that they show is taught. */
static void cut_off(void)
{
	begin();
	scene_start(&s, scene_at("leaf_at"));
	scene_push(&s, scene_at("pushed_ret"));
	s.u.dump_size = 8;
	scene_unwind(&s);
	same(s.u.stop, HYBRID_STOP_DUMP_END);
	hybrid_compiler_sample(compiler, &scene_unwinder, &s.u, 0, ASK(0));
	work();
	check(knows("leaf_at") && knows("pushed") && !knows("realign_at"));
	hybrid_compiler_sample(compiler, &scene_unwinder, &s.u, 0, ASK(0));
	work();
	check(knows("realign_at"));
	end();
}

/* What is only guessed is taught, less and less often looked for, and shows no loss. */
static void guessed(void)
{
	unsigned int i, nr = 0;

	begin();
	scene_start(&s, scene_at("leaf_at"));
	scene_push(&s, scene_at("pushed_ret"));
	scene_push_pushed(&s, 0, scene_at("outer_ret"));
	scene_unwind(&s);
	same(s.u.nr, 3);
	s.u.nr = 1;
	s.u.stop = HYBRID_STOP_DUMP_END;
	check(hybrid_compiler_may_guess(compiler));
	hybrid_compiler_sample(compiler, &scene_unwinder, &s.u, 1, ASK(1));
	work();
	check(knows("pushed") && !knows("outer_ret") && !knows("realign_at"));
	for (i = 0; i < 1000; i++) {
		bool may = hybrid_compiler_may_guess(compiler);

		nr += may;
		s.u.stop = HYBRID_STOP_NO_CFI;
		hybrid_compiler_sample(compiler, &scene_unwinder, &s.u, may, ASK(1));
		work();
	}
	check(nr > 10 && nr < 40);
	same(store.nr, 2);
	sample_in("bpframe_at", ASK(0));
	check(hybrid_compiler_may_guess(compiler) || compiler->guess_at < 1100);
	end();
}

/* Code without CFI, for a store that takes what it tells itself: and what stands around. */
static void by_code(void)
{
	const u64 large = elf_file_symbol("nocfi.so", "large_at");
	unsigned int codes;

	for (codes = 0; codes <= 1; codes++) {
		fake.takes_codes = codes;
		begin();
		scene_start(&s, SCENE_NOCFI + large);
		scene_fill(&s, 4, 0);
		scene_unwind(&s);
		same(s.u.stop, HYBRID_STOP_DUMP_END);
		same(s.u.nr, 1);
		store.watched = large;
		hybrid_compiler_sample(compiler, &scene_unwinder, &s.u, 0, ASK(0));
		work();
		same(!!store.nr, codes);
		same(store.rule.kind, codes ? PERF_HYBRID_CFA : PERF_HYBRID_ASK);
		same(store.rule.cfa_off, codes ? 20488 : 0);
		same(store.nr, codes ? 3 : 0);
		check(!codes || store.taught[1].start <= elf_file_symbol("nocfi.so", "bare_at"));
		end();
	}
	fake.takes_codes = false;
}

/* But for code that has led to what has called nothing. */
static void by_wrong_code(void)
{
	fake.takes_codes = true;
	begin();
	scene_start(&s, SCENE_NOCFI + elf_file_symbol("nocfi.so", "large"));
	scene_push(&s, 12345);
	scene_unwind(&s);
	same(s.u.nr, 1);
	hybrid_compiler_sample(compiler, &scene_unwinder, &s.u, 0, ASK(0));
	work();
	same(store.nr, 0);
	end();
	fake.takes_codes = false;
}

static void answers(int err, unsigned int times)
{
	store.err = err;
	store.errs = times;
}

/* An object that can't be taught is left alone, and others are taught. */
static void refused(void)
{
	static const int errs[] = { -EDQUOT, -EFBIG, -ENOMEM, -EINVAL };
	char *text = NULL;
	unsigned int i;
	size_t size;
	FILE *out;

	for (i = 0; i < ARRAY_SIZE(errs); i++) {
		begin();
		answers(errs[i], 1);
		sample_in("pushed_at", ASK(0));
		work();
		same(store.errs, 0);
		sample_in("bpframe_at", ASK(0));
		work();
		same(store.nr, 0);
		scene_start_32(&s, scene_at_32("leaf_at"));
		scene_unwind(&s);
		hybrid_compiler_sample(compiler, &scene_unwinder, &s.u, 0, ASK(0));
		work();
		same(store.nr, 1);
		out = open_memstream(&text, &size);
		hybrid_compiler_print(compiler, out);
		fclose(out);
		check(strstr(text, "frames.so can't be taught: ") &&
		      strstr(text, strerror(-errs[i])));
		free(text);
		end();
	}
}

/* A file that is changed while it is taught is opened anew, if not for ever. */
static void changed(void)
{
	unsigned int i;

	/* A function: as soon as it is seen to be lost. */
	begin();
	answers(-ESTALE, 1);
	for (i = 0; i < 4; i++) {
		same(store.nr, 0);
		sample_in("pushed_at", ASK(0));
		work();
	}
	check(knows("pushed_at"));
	end();

	/* The whole object, from its beginning. */
	begin();
	for (i = 0; i < ARRAY_SIZE(labels); i++) {
		answers(-ESTALE, i == HYBRID_HOT_SAMPLES - 1 ? 2 : 0);
		sample_in(labels[i], ASK(0));
		work();
	}
	same(store.errs, 0);
	check(knows("outer_ret") && knows("plt_low"));
	end();

	begin();
	answers(-ESTALE, 100);
	for (i = 0; i < 60; i++) {
		sample_in("pushed_at", ASK(0));
		work();
	}
	check(store.errs > 80);
	end();
}

static void interrupted(void)
{
	begin();
	answers(-EINTR, 3);
	sample_in("pushed_at", ASK(0));
	work();
	same(store.nr, 1);
	end();
}

/* Rules are used up: forget all and begin anew, once. */
static void no_space(void)
{
	begin();
	sample_in("pushed_at", ASK(0));
	work();
	answers(-ENOSPC, 1);
	sample_in("bpframe_at", ASK(0));
	work();
	same(store.forgotten, 1);
	same(store.nr, 0);
	sample_in("pushed_at", ASK(0));
	sample_in("bpframe_at", ASK(0));
	work();
	same(store.nr, 2);

	answers(-ENOSPC, 1);
	sample_in("leaf_at", ASK(0));
	work();
	same(store.forgotten, 1);
	sample_in("redzone_at", ASK(0));
	work();
	same(store.nr, 2);
	end();
}

/* Samples that were in the rings already say nothing; later ones do. */
static void lost(void)
{
	unsigned int pass;

	begin();
	sample_in("pushed_at", ASK(0));
	work();
	for (pass = 0; pass < 2; pass++) {
		same(store.nr, 1);
		sample_in("pushed_at", ASK(0));
		work();
	}
	sample_in("pushed_at", ASK(0));
	work();
	same(store.nr, 2);
	same(store.taught[0].start, store.taught[1].start);

	/* It does not help: not again for a while. */
	for (pass = 0; pass < 10; pass++) {
		sample_in("pushed_at", ASK(0));
		work();
	}
	same(store.nr, 2);
	for (; pass < 30; pass++) {
		sample_in("pushed_at", ASK(0));
		work();
	}
	same(store.nr, 3);
	end();
}

/* Only where the walk ended for want of a rule, and at that frame. */
static void not_lost(void)
{
	static const u64 infos[] = {
		ASK(1), ASK(0) | BY_CODE, PERF_HYBRID_END_NOT_RETURN,
		PERF_HYBRID_END_UNREADABLE, PERF_HYBRID_END_LIMIT, PERF_HYBRID_END_BUSY,
	};
	unsigned int i, pass;

	begin();
	sample_in("pushed_at", ASK(0));
	sample_in("inreg_at", ASK(0));
	work();
	same(store.nr, 2);
	for (pass = 0; pass < 8; pass++) {
		for (i = 0; i < ARRAY_SIZE(infos); i++)
			sample_in("pushed_at", infos[i]);
		/* The kernel is told to ask there. */
		sample_in("inreg_at", ASK(0));
		work();
	}
	same(store.nr, 2);
	end();
}

/* The reader closes a file that is still to be taught. */
static void object_gone(void)
{
	begin();
	sample_in("pushed_at", ASK(0));
	hybrid_processes_exit(&scene_ps);
	work();
	same(store.nr, 1);
	check(fcntl(store.taught[0].fd, F_GETFD) < 0);
	hybrid_processes_init(&scene_ps, elf_file_open);
	end();
}

static void vdso_flags(void)
{
	struct hybrid_ident ident = { .path = "[vdso]" };
	struct hybrid_mapping mapping;

	begin();
	sample_in("leaf_at", ASK(0));
	mapping = *hybrid_space_find(s.u.space, scene_at("leaf_at"));
	mapping.object = hybrid_object_get(&scene_ps.objects, &ident);
	hybrid_object_open(mapping.object, open(elf_file_path("frames.so"), O_RDONLY));
	hybrid_space_map(s.u.space, &mapping, true);
	hybrid_object_put(mapping.object);
	sample_in("pushed_at", ASK(0));
	work();
	same(store.nr, 2);
	same(store.taught[1].flags, PERF_HYBRID_VDSO_64);
	same(store.taught[1].fd, -1);
	end();
}

/* With a thread the same is taught, and stopping leaves nothing behind. */
static void threaded(void)
{
	unsigned int tries;

	begin();
	same(hybrid_compiler_start(compiler), 0);
	sample_in("pushed_at", ASK(0));
	hybrid_compiler_pass(compiler);
	for (tries = 0; tries < 10000; tries++) {
		if (__atomic_load_n(&store.nr, __ATOMIC_ACQUIRE))
			break;
		usleep(1000);
	}
	hybrid_compiler_stop(compiler);
	same(store.nr, 1);
	check(knows("pushed"));
	sample_in("bpframe_at", ASK(0));
	hybrid_compiler_pass(compiler);
	end();
}

int main(void)
{
	static const struct tap_test tests[] = {
		{ "teach: functions that samples met", functions },
		{ "teach: all frames of a sample", all_frames },
		{ "teach: an object that is hot", hot },
		{ "compiler: a large object that samples meet often", hot_large },
		{ "teach: while an object is hot", while_hot },
		{ "teach: a rule that no dump shows", beyond_the_dump },
		{ "teach: samples that are cut off", cut_off },
		{ "teach: frames that are guessed", guessed },
		{ "teach: code without CFI", by_code },
		{ "teach: code that tells what is not so", by_wrong_code },
		{ "teach: the store refuses", refused },
		{ "teach: the file was changed", changed },
		{ "teach: the store was interrupted", interrupted },
		{ "teach: the store's rules are used up", no_space },
		{ "teach: the store has lost it", lost },
		{ "teach: the store has not lost it", not_lost },
		{ "teach: an object goes", object_gone },
		{ "teach: the vdso", vdso_flags },
		{ "teach: in a thread", threaded },
	};

	return tap_run(tests, ARRAY_SIZE(tests));
}
