// SPDX-License-Identifier: GPL-2.0
/*
 * perf data convert --to-pprof.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <linux/err.h>
#include <linux/kernel.h>
#include <linux/time64.h>
#include <linux/zalloc.h>
#include "../callchain.h"
#include "../cgroup.h"
#include "../data-convert.h"
#include "../data.h"
#include "../debug.h"
#include "../env.h"
#include "../evlist.h"
#include "../evsel.h"
#include "../machine.h"
#include "../sample.h"
#include "../session.h"
#include "../srcline.h"
#include "../symbol.h"
#include "../thread.h"
#include "../time-utils.h"
#include "../tool.h"
#include "chain.h"
#include "profile.h"
#include "stacks.h"

struct convert {
	struct perf_tool		 tool;
	struct pprof_profile		 profile;
	struct pprof_stacks		 stacks;
	struct pprof_chain		 chain;
	struct perf_time_interval	*ranges;
	int				 range_size;
	int				 range_num;
	u64				 nr_samples;
	u64				 nr_skipped;
	u64				 first_time;
	u64				 last_time;
	u64				 period;	/* of all samples */
	bool				 is_set_up;
};

static u32 cgroup_name(struct convert *c, struct machine *machine, u64 id)
{
	const struct cgroup *cgroup = cgroup__find(machine->env, id);

	return cgroup ? pprof_profile__string(&c->profile, cgroup->name) : 0;
}

static int count(struct convert *c, struct perf_sample *sample, struct machine *machine,
		 struct thread *thread)
{
	u64 type = sample->evsel->core.attr.sample_type;
	struct pprof_whose whose = {
		.pid	= sample->pid,
		.tid	= sample->tid,
		.comm	= pprof_profile__string(&c->profile, thread__comm_str(thread) ?: ""),
		.event	= sample->evsel->core.idx,
		.cpu	= type & PERF_SAMPLE_CPU ? sample->cpu : PPROF_NO_CPU,
	};
	int err;

	if (type & PERF_SAMPLE_CGROUP)
		whose.cgroup = cgroup_name(c, machine, sample->cgroup);
	err = pprof_chain__read(&c->chain, &c->profile, machine, thread, sample);
	if (err)
		return err;
	if (type & PERF_SAMPLE_TIME) {
		c->first_time = min(c->first_time, sample->time);
		c->last_time = max(c->last_time, sample->time);
	}
	c->period += sample->period;
	c->nr_samples++;
	err = pprof_stacks__add(&c->stacks, &c->chain, &whose, sample->period);
	return err ?: c->profile.error;
}

/* What comes through a pipe tells its events only on the way. */
static void set_up(struct convert *c, struct evlist *evlist)
{
	struct perf_session *session = evlist__session(evlist);

	if (c->is_set_up)
		return;
	c->is_set_up = true;
	callchain_param_setup(evlist__combined_sample_type(evlist),
			      perf_session__e_machine(session, /*e_flags=*/NULL));
}

static int process_sample(const struct perf_tool *tool, union perf_event *event __maybe_unused,
			  struct perf_sample *sample, struct machine *machine)
{
	struct convert *c = container_of(tool, struct convert, tool);
	struct thread *thread;
	int err;

	if (perf_time__ranges_skip_sample(c->ranges, c->range_num, sample->time)) {
		c->nr_skipped++;
		return 0;
	}
	set_up(c, sample->evsel->evlist);
	thread = machine__findnew_thread(machine, sample->pid, sample->tid);
	if (!thread) {
		c->profile.error = -ENOMEM;
		return -ENOMEM;
	}
	err = count(c, sample, machine, thread);
	thread__put(thread);
	/* The first error is what the user is told. */
	if (err && !c->profile.error)
		c->profile.error = err;
	return err ?: -c->profile.output.error;
}

/* The events that tell who ran what, where. */
static void init_tool(struct perf_tool *tool)
{
	perf_tool__init(tool, /*ordered_events=*/true);
	tool->sample		= process_sample;
	tool->mmap		= perf_event__process_mmap;
	tool->mmap2		= perf_event__process_mmap2;
	tool->comm		= perf_event__process_comm;
	tool->namespaces	= perf_event__process_namespaces;
	tool->cgroup		= perf_event__process_cgroup;
	tool->exit		= perf_event__process_exit;
	tool->fork		= perf_event__process_fork;
	tool->lost		= perf_event__process_lost;
	tool->ksymbol		= perf_event__process_ksymbol;
	tool->text_poke		= perf_event__process_text_poke;
#ifdef HAVE_LIBTRACEEVENT
	tool->tracing_data	= perf_event__process_tracing_data;
#endif
	tool->build_id		= perf_event__process_build_id;
	tool->id_index		= perf_event__process_id_index;
	tool->event_update	= perf_event__process_event_update;
	tool->attr		= perf_event__process_attr;
	tool->feature		= perf_event__process_feature;
	tool->ordering_requires_timestamps = true;
}

/* The event that the profile is about: the first that is sampled. */
static struct evsel *main_event(struct evlist *evlist)
{
	struct evsel *evsel;

	evlist__for_each_entry(evlist, evsel) {
		if (!evsel__is_dummy_event(evsel))
			return evsel;
	}
	return NULL;
}

static s64 period(const struct convert *c, const struct evsel *evsel)
{
	const struct perf_event_attr *attr = &evsel->core.attr;

	if (!attr->freq)
		return attr->sample_period;
	if (evsel__is_clock(evsel))
		return attr->sample_freq ? NSEC_PER_SEC / attr->sample_freq : 0;
	/* The kernel chose it anew and anew: what it was on average. */
	return c->nr_samples ? c->period / c->nr_samples : 0;
}

/*
 * When the first sample was taken. Without a clock that the file relates to the time of
 * day, the file's end is when it was written last.
 */
static s64 wall_time(const struct convert *c, struct perf_session *session, s64 duration)
{
	const struct perf_env *env = perf_session__env(session);
	struct stat st;

	if (env->clock.enabled)
		return env->clock.tod_ns + c->first_time - env->clock.clockid_ns;
	if (fstat(perf_data__fd(session->data), &st) || !S_ISREG(st.st_mode))
		return 0;
	return st.st_mtim.tv_sec * NSEC_PER_SEC + st.st_mtim.tv_nsec - duration;
}

static void write_rest(struct convert *c, struct perf_session *session)
{
	struct evsel *evsel = main_event(session->evlist);
	struct pprof_header header = {
		.period_type	= "",
		.period_unit	= "",
		.default_type	= "samples",
		.comment	= "perf data convert --to-pprof",
	};

	if (c->last_time >= c->first_time) {
		header.duration = c->last_time - c->first_time;
		header.time = wall_time(c, session, header.duration);
	}
	if (evsel) {
		header.period_type = pprof_event_type(evsel);
		header.period_unit = pprof_event_unit(evsel);
		header.period = period(c, evsel);
		header.default_type = header.period_type;
	}
	pprof_stacks__write(&c->stacks, &c->profile, session->evlist);
	pprof_profile__write_mappings(&c->profile);
	pprof_profile__write_header(&c->profile, &header);
}

static int read_and_write(struct convert *c, struct perf_session *session,
			  const struct perf_data_convert_opts *opts)
{
	int err;

	if (opts->time_str &&
	    perf_time__parse_for_ranges(opts->time_str, session, &c->ranges, &c->range_size,
					&c->range_num) < 0)
		return -1;
	err = perf_session__process_events(session);
	if (!c->profile.output.error && !c->profile.error) {
		if (err) {
			pr_err("Failed to read %s: no profile is written\n", session->data->path);
			return -1;
		}
		write_rest(c, session);
	}
	if (c->profile.error && !c->profile.output.error) {
		pr_err("Failed to make a profile of %s: %s\n", session->data->path,
		       strerror(abs(c->profile.error)));
		return -1;
	}
	return pprof_output__commit(&c->profile.output);
}

static void report(const struct convert *c, const struct perf_data *data)
{
	fprintf(stderr, "[ perf data convert: Converted '%s' into pprof data '%s' ]\n",
		data->path, c->profile.output.path);
	fprintf(stderr,
		"[ perf data convert: Wrote %.3f MB (%" PRIu64 " samples, %u stacks) ]\n",
		c->profile.output.size / 1024.0 / 1024.0, c->nr_samples, c->stacks.nr);
	if (c->nr_skipped)
		fprintf(stderr, "[ perf data convert: Skipped %" PRIu64 " samples ]\n",
			c->nr_skipped);
}

static int convert_file(struct convert *c, struct perf_data *data,
			const struct perf_data_convert_opts *opts)
{
	struct perf_session *session = perf_session__new(data, &c->tool);
	int ret = -1;

	if (IS_ERR(session)) {
		/* What else is wrong it said itself. */
		if (PTR_ERR(session) == -ENOMEM)
			pr_err("Failed to open %s: %s\n", data->path ?: "perf.data",
			       strerror(ENOMEM));
		return -1;
	}
	/* Full names of files; and a process for each address would take minutes. */
	srcline_full_filename = true;
	/* Else frames that are unwound now have theirs twice: see lines.c. */
	symbol_conf.inline_name = false;
#ifdef HAVE_LIBDW_SUPPORT
	if (symbol_conf.addr2line_style[0] == A2L_STYLE_UNKNOWN)
		symbol_conf.addr2line_style[0] = A2L_STYLE_LIBDW;
#endif
	if (symbol__init(perf_session__env(session)) < 0)
		pr_err("Failed to set up symbols\n");
	else
		ret = read_and_write(c, session, opts);
	if (!ret)
		report(c, data);
	perf_session__delete(session);
	return ret;
}

int bt_convert__perf2pprof(const char *input, const char *output_name,
			   struct perf_data_convert_opts *opts)
{
	struct perf_data data = {
		.mode	= PERF_DATA_MODE_READ,
		.path	= input,
		.force	= opts->force,
	};
	struct convert c = {
		.chain.has_calls	= -1,
		.first_time		= ~0ULL,
	};
	int ret;

	if (opts->all || opts->tod) {
		pr_err("%s is not for --to-pprof.\n", opts->all ? "--all" : "--tod");
		return -1;
	}
	init_tool(&c.tool);
	if (pprof_output__open(&c.profile.output, output_name, opts->force))
		return -1;
	pprof_profile__init(&c.profile, !opts->no_symbols);
	pprof_stacks__init(&c.stacks);
	ret = convert_file(&c, &data, opts);
	pprof_output__discard(&c.profile.output);
	pprof_profile__exit(&c.profile);
	pprof_stacks__exit(&c.stacks);
	free(c.chain.locations);
	free(c.ranges);
	return ret;
}
