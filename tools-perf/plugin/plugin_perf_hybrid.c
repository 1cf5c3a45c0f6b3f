// SPDX-License-Identifier: GPL-2.0
/*
 * A plugin of libtraceevent: what perf_hybrid's tracepoint says, in words, for
 * perf script, trace-cmd and whoever else prints events.
 */
#include <event-parse.h>
#include <trace-seq.h>

/* By enum x86_frame_kind. */
static const char * const kinds[] = {
	"in a signal trampoline",
	"at a function's entry",
	"in a prologue",
	"in an epilogue",
	"at a return",
	"in a linkage table",
	"without a frame",
	"with a frame by bp that does not stand yet",
	"in a realigned frame that holds the caller's sp",
	"in a realigned frame, with the caller's sp in a register",
};

static int innermost_handler(struct trace_seq *s, struct tep_record *record,
			     struct tep_event *event, void *context)
{
	unsigned long long ip, kind, ra, before, after;

	(void)context;
	if (tep_get_field_val(s, event, "ip", record, &ip, 1) ||
	    tep_get_field_val(s, event, "kind", record, &kind, 1) ||
	    tep_get_field_val(s, event, "ra", record, &ra, 1) ||
	    tep_get_field_val(s, event, "before", record, &before, 1) ||
	    tep_get_field_val(s, event, "after", record, &after, 1))
		return -1;

	trace_seq_printf(s, "%#llx ", ip);
	if (kind < sizeof(kinds) / sizeof(kinds[0]))
		trace_seq_puts(s, kinds[kind]);
	else
		trace_seq_printf(s, "of unknown kind %llu", kind);
	trace_seq_printf(s, kind ? ", called from before %#llx" : ", interrupted %#llx", ra);
	trace_seq_printf(s, "; %llu %s found by code, %llu before it", after - before,
			 after - before == 1 ? "frame" : "frames", before);
	return 0;
}

int TEP_PLUGIN_LOADER(struct tep_handle *tep)
{
	tep_register_event_handler(tep, -1, "perf_hybrid", "innermost",
				   innermost_handler, NULL);
	return 0;
}

void TEP_PLUGIN_UNLOADER(struct tep_handle *tep)
{
	tep_unregister_event_handler(tep, -1, "perf_hybrid", "innermost",
				     innermost_handler, NULL);
}
