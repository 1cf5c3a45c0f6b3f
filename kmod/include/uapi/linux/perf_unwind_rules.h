/* SPDX-License-Identifier: GPL-2.0 WITH Linux-syscall-note */
/*
 * /dev/perf_unwind_rules: unwind rules for the user call chains of perf events.
 *
 * Each open file of /dev/perf_unwind_rules is a table of rules that user space loads,
 * empty at first.  PERF_UNWIND_ATTACH attaches it to an event and to all that
 * inherit from it: the user stack of a sample is walked by these rules.  What is
 * taught from then on counts for the next sample.  A table goes when the last
 * file descriptor and the last event do.
 *
 * An object is a file that processes map executable, or the vDSO.  Its rows say
 * which rule holds from an offset in the file on.  All processes that map it
 * share them.  A file that was changed since it was taught (its ctime differs)
 * is an object that was never taught.
 *
 * All structures are the same for 32-bit and 64-bit user space, reserved
 * members must be 0.
 */
#ifndef _UAPI_LINUX_PERF_UNWIND_RULES_H
#define _UAPI_LINUX_PERF_UNWIND_RULES_H

#include <linux/ioctl.h>
#include <linux/types.h>

/**
 * enum perf_unwind_kind - what a rule does
 * @PERF_UNWIND_UNKNOWN:	the walk ends here, and the sample has its stack dump:
 *			nothing is known of these addresses, or no rule can say it
 * @PERF_UNWIND_CFA:	the CFA is the base register + cfa_off
 * @PERF_UNWIND_DEREF:	the CFA is the word at the base register + cfa_off, and
 *			deref_off more, as in functions that align their stack
 * @PERF_UNWIND_PLT:	in an entry of a procedure linkage table, 16 bytes each:
 *			the CFA is sp + cfa_off, and one word more from byte 11
 *			of the entry on
 * @PERF_UNWIND_SIGNAL:	the trampoline of a signal handler: what was interrupted
 *			is in the signal frame; nothing else of the rule is used
 * @PERF_UNWIND_OUTERMOST: no caller: the chain is complete
 * @PERF_UNWIND_NR_KINDS: number of kinds
 */
enum perf_unwind_kind {
	PERF_UNWIND_UNKNOWN,
	PERF_UNWIND_CFA,
	PERF_UNWIND_DEREF,
	PERF_UNWIND_PLT,
	PERF_UNWIND_SIGNAL,
	PERF_UNWIND_OUTERMOST,
	PERF_UNWIND_NR_KINDS,
};

/**
 * enum perf_unwind_base - the register that a CFA is counted from
 * @PERF_UNWIND_BASE_SP: the stack pointer
 * @PERF_UNWIND_BASE_FP: the frame pointer register
 * @PERF_UNWIND_NR_BASES: number of bases
 */
enum perf_unwind_base {
	PERF_UNWIND_BASE_SP,
	PERF_UNWIND_BASE_FP,
	PERF_UNWIND_NR_BASES,
};

/**
 * enum perf_unwind_fp - where the caller's frame pointer register is
 * @PERF_UNWIND_FP_SAME: still in the register
 * @PERF_UNWIND_FP_AT_CFA: at the CFA + bp_off
 * @PERF_UNWIND_FP_AT_FP: at the register + bp_off
 * @PERF_UNWIND_FP_UNDEFINED: nowhere
 * @PERF_UNWIND_NR_BPS: number of places
 */
enum perf_unwind_fp {
	PERF_UNWIND_FP_SAME,
	PERF_UNWIND_FP_AT_CFA,
	PERF_UNWIND_FP_AT_FP,
	PERF_UNWIND_FP_UNDEFINED,
	PERF_UNWIND_NR_BPS,
};

/**
 * struct perf_unwind_rule - how to step from a frame to its caller
 * @kind:	enum perf_unwind_kind
 * @base:	enum perf_unwind_base
 * @bp:		enum perf_unwind_fp
 * @deref_off:	bytes, see @kind; 0 with others than PERF_UNWIND_DEREF
 * @cfa_off:	bytes, see @kind
 * @ra_off:	bytes from the CFA to the return address
 * @bp_off:	bytes, see @bp
 *
 * The caller's sp is the CFA, which must be above sp.  The return address
 * counts only if a call instruction stands before it.
 */
struct perf_unwind_rule {
	__u8	kind;
	__u8	base;
	__u8	bp;
	__u8	deref_off;
	__s32	cfa_off;
	__s32	ra_off;
	__s32	bp_off;
};

/**
 * struct perf_unwind_row - from where on a rule holds
 * @offset:	bytes from the start of the file, or of the vDSO
 * @rule:	index into the rules taught with it
 * @__reserved:	0
 *
 * It holds up to the next row, or to the end of what is taught.
 */
struct perf_unwind_row {
	__u32	offset;
	__u16	rule;
	__u16	__reserved;
};

/* Which object, where it is no file. */
#define PERF_UNWIND_VDSO_64	0x1
#define PERF_UNWIND_VDSO_32	0x2

/* Rows of one update; an object may have more. */
#define PERF_UNWIND_MAX_ROWS	65536

/**
 * struct perf_unwind_load - rows of one object
 * @fd:		its file, open for reading; -1 for a vDSO
 * @flags:	0, or one of PERF_UNWIND_VDSO_*
 * @start:	first offset that the rows are about
 * @end:	offset behind the last; what was taught from @start to here before
 *		is replaced
 * @rows:	address of an array of struct perf_unwind_row: by ascending
 *		offset, all from @start to below @end
 * @rules:	address of an array of struct perf_unwind_rule
 * @nr_rows:	1 to PERF_UNWIND_MAX_ROWS
 * @nr_rules:	1 to 65535
 */
struct perf_unwind_load {
	__s32	fd;
	__u32	flags;
	__u32	start;
	__u32	end;
	__u64	rows;
	__u64	rules;
	__u32	nr_rows;
	__u32	nr_rules;
};

/**
 * struct perf_unwind_unload - an object to forget
 * @fd:		its file; -1 with @flags 0: all objects
 * @flags:	as in struct perf_unwind_load
 */
struct perf_unwind_unload {
	__s32	fd;
	__u32	flags;
};

/**
 * struct perf_unwind_attach - an event whose user stacks are walked by the rules
 * @fd:		of the event, with PERF_SAMPLE_CALLCHAIN, PERF_SAMPLE_STACK_USER and
 *		PERF_SAMPLE_REGS_USER (ip, sp and bp in sample_regs_user)
 * @flags:	0
 */
struct perf_unwind_attach {
	__s32	fd;
	__u32	flags;
};

/**
 * struct perf_unwind_stats - what a table holds
 * @rows:	of all objects
 * @bytes:	of kernel memory, all included, and what was replaced until it is freed
 * @max_bytes:	what @bytes never grows beyond
 * @taught:	PERF_UNWIND_LOAD that succeeded
 * @evicted:	objects that made room for others: those whose rows were not
 *		used for longest
 * @objects:	that have rows
 * @rules:	that differ, of all objects; 65535 at most
 */
struct perf_unwind_stats {
	__u64	rows;
	__u64	bytes;
	__u64	max_bytes;
	__u64	loads;
	__u64	evicted;
	__u32	objects;
	__u32	rules;
};

/*
 * Errors: EBADF, no such open file; EFAULT, an array can't be read; EINVAL,
 * something in it is not as above; E2BIG, more rows than one update may have;
 * EFBIG, more rows than a table may hold; EDQUOT, all tables of the user hold what
 * they may, and what this one could forget is not enough; ENOSPC, the table has no
 * room for another rule (forget all, and teach anew); ENOMEM; EINTR.  What the table
 * knows has not changed then, but that other objects may have made room.
 */
#define PERF_UNWIND_LOAD	_IOW('$', 0x20, struct perf_unwind_load)
/* ENOENT: nothing was taught of that object. */
#define PERF_UNWIND_UNLOAD	_IOW('$', 0x21, struct perf_unwind_unload)
#define PERF_UNWIND_STATS	_IOR('$', 0x22, struct perf_unwind_stats)
/*
 * EBADF, no event; EINVAL, one that has not what is needed, or has
 * exclude_callchain_user or defer_callchain; EPERM, event and table were opened by
 * different users; EEXIST, it has a table.
 */
#define PERF_UNWIND_ATTACH	_IOW('$', 0x23, struct perf_unwind_attach)

#endif /* _UAPI_LINUX_PERF_UNWIND_RULES_H */
