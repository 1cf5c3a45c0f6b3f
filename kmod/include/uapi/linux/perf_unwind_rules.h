/* SPDX-License-Identifier: GPL-2.0 WITH Linux-syscall-note */
/*
 * /dev/perf_unwind_rules: user-supplied unwind rules for the callchains of perf events
 *
 * Each open file of the device is a table of unwind rules.  It is empty at first.
 * User space loads rules into it, and attaches it to perf events.  The kernel then
 * walks the user stack of each sample of these events by the rules of the table.
 * Documentation/userspace-api/perf_unwind_rules.rst describes the interface.
 *
 * An object is a file that processes map executable, or the vDSO.  Each row of an
 * object contains the offset in the file from which on a rule holds.
 *
 * All structures have the same layout for 32-bit and 64-bit user space.  The argument
 * of each ioctl begins with its size, as known to user space.  A kernel that knows a
 * larger structure takes the missing members as 0.  A kernel that knows a smaller one
 * returns E2BIG if a member that it does not know is not 0.  Reserved members must be 0.
 * The same holds for each row and each rule, whose sizes are in struct perf_unwind_load.
 */
#ifndef _UAPI_LINUX_PERF_UNWIND_RULES_H
#define _UAPI_LINUX_PERF_UNWIND_RULES_H

#include <linux/ioctl.h>
#include <linux/types.h>

/*
 * The rules name two registers:
 *
 *	sp	the stack pointer
 *	fp	the register that the psABI of the architecture uses as frame pointer
 *
 *		sp		fp
 *	x86	rsp, esp	rbp, ebp
 */

/**
 * enum perf_unwind_kind - how a rule finds the CFA
 * @PERF_UNWIND_UNKNOWN: not at all: nothing is known of these addresses, or no rule can
 *			express it.  The walk ends, and the sample has its stack dump.
 * @PERF_UNWIND_CFA:	the CFA is the base register + cfa_off
 * @PERF_UNWIND_DEREF:	the CFA is the word at (base register + cfa_off), + deref_off;
 *			for functions that align their stack
 * @PERF_UNWIND_PLT:	the address is in an entry of a procedure linkage table, whose
 *			layout depends on the architecture.  x86: entries of 16 bytes; the
 *			CFA is sp + cfa_off, and one word more from byte 11 of an entry on.
 * @PERF_UNWIND_SIGNAL:	the address is in the trampoline of a signal handler: the kernel
 *			takes the registers from the signal frame; no other member is used
 * @PERF_UNWIND_OUTERMOST: there is no caller: the callchain is complete
 */
enum perf_unwind_kind {
	PERF_UNWIND_UNKNOWN	= 0,
	PERF_UNWIND_CFA		= 1,
	PERF_UNWIND_DEREF	= 2,
	PERF_UNWIND_PLT		= 3,
	PERF_UNWIND_SIGNAL	= 4,
	PERF_UNWIND_OUTERMOST	= 5,
};

/**
 * enum perf_unwind_base - the base register of a rule
 * @PERF_UNWIND_BASE_SP: sp
 * @PERF_UNWIND_BASE_FP: fp
 */
enum perf_unwind_base {
	PERF_UNWIND_BASE_SP	= 0,
	PERF_UNWIND_BASE_FP	= 1,
};

/**
 * enum perf_unwind_fp - where the caller's value of fp is
 * @PERF_UNWIND_FP_SAME: still in fp
 * @PERF_UNWIND_FP_AT_CFA: in memory, at the CFA + fp_off
 * @PERF_UNWIND_FP_AT_FP: in memory, at fp + fp_off
 * @PERF_UNWIND_FP_UNDEFINED: it is lost
 */
enum perf_unwind_fp {
	PERF_UNWIND_FP_SAME		= 0,
	PERF_UNWIND_FP_AT_CFA		= 1,
	PERF_UNWIND_FP_AT_FP		= 2,
	PERF_UNWIND_FP_UNDEFINED	= 3,
};

/**
 * enum perf_unwind_ra - where the return address is
 * @PERF_UNWIND_RA_AT_CFA: in memory, at the CFA + ra_off
 * @PERF_UNWIND_RA_IN_REGISTER: in the register in which a call leaves it, such as x30 of
 *			arm64.  Such a rule finds the caller of an interrupted function
 *			only, because a caller has saved the register.  ra_off must be 0.
 *			x86 has no such register: PERF_UNWIND_LOAD returns EINVAL.
 */
enum perf_unwind_ra {
	PERF_UNWIND_RA_AT_CFA		= 0,
	PERF_UNWIND_RA_IN_REGISTER	= 1,
};

/**
 * struct perf_unwind_rule - how to find the caller of a frame
 * @kind:	enum perf_unwind_kind
 * @base:	enum perf_unwind_base
 * @fp:		enum perf_unwind_fp
 * @ra:		enum perf_unwind_ra
 * @cfa_off:	bytes, see @kind
 * @ra_off:	bytes, see @ra
 * @fp_off:	bytes, see @fp
 * @deref_off:	bytes, see @kind; must be 0 unless @kind is PERF_UNWIND_DEREF
 * @__reserved:	0
 *
 * The caller's sp is the CFA.  It must be above sp, or equal to it if the return address
 * is in a register.  The kernel accepts a return address only if a call instruction
 * precedes it.
 */
struct perf_unwind_rule {
	__u8	kind;
	__u8	base;
	__u8	fp;
	__u8	ra;
	__s32	cfa_off;
	__s32	ra_off;
	__s32	fp_off;
	__u8	deref_off;
	__u8	__reserved[3];
};

/**
 * struct perf_unwind_row - where a rule begins to hold
 * @offset:	bytes from the start of the file, or of the vDSO
 * @rule:	index into the rules that are loaded together with the row
 * @__reserved:	0
 *
 * The rule holds up to the next row, or to the end of the loaded range.
 */
struct perf_unwind_row {
	__u32	offset;
	__u16	rule;
	__u16	__reserved;
};

/* Flags: the object is the vDSO of 64-bit or of 32-bit tasks, and no file. */
#define PERF_UNWIND_VDSO_64	0x1
#define PERF_UNWIND_VDSO_32	0x2

/* Most rows of one PERF_UNWIND_LOAD; an object may have more. */
#define PERF_UNWIND_MAX_ROWS	65536

/* Largest size of a row, and of a rule, that PERF_UNWIND_LOAD reads. */
#define PERF_UNWIND_MAX_SIZE	256

/**
 * struct perf_unwind_load - rows to load for one object
 * @size:	sizeof(struct perf_unwind_load)
 * @fd:		the object's file, open for reading; -1 for a vDSO
 * @flags:	0, or one of PERF_UNWIND_VDSO_*
 * @start:	first offset of the range that the rows describe
 * @end:	end of the range, exclusive.  The rows replace all that the table has for
 *		the range.
 * @nr_rows:	1 to PERF_UNWIND_MAX_ROWS
 * @nr_rules:	1 to 65535
 * @row_size:	sizeof(struct perf_unwind_row)
 * @rule_size:	sizeof(struct perf_unwind_rule)
 * @rows:	address of an array of struct perf_unwind_row, by ascending offset, all
 *		of them within the range
 * @rules:	address of an array of struct perf_unwind_rule
 */
struct perf_unwind_load {
	__u32		size;
	__s32		fd;
	__u32		flags;
	__u32		start;
	__u32		end;
	__u32		nr_rows;
	__u32		nr_rules;
	__u16		row_size;
	__u16		rule_size;
	__aligned_u64	rows;
	__aligned_u64	rules;
};

/**
 * struct perf_unwind_unload - an object whose rows are removed
 * @size:	sizeof(struct perf_unwind_unload)
 * @fd:		the object's file; -1 with @flags 0: remove the rows of all objects
 * @flags:	as in struct perf_unwind_load
 * @__reserved:	0
 */
struct perf_unwind_unload {
	__u32	size;
	__s32	fd;
	__u32	flags;
	__u32	__reserved;
};

/**
 * struct perf_unwind_attach - an event whose user stacks are walked by the rules
 * @size:	sizeof(struct perf_unwind_attach)
 * @fd:		of the event.  It needs perf_event_attr.unwind_rules, PERF_SAMPLE_CALLCHAIN,
 *		PERF_SAMPLE_STACK_USER and PERF_SAMPLE_REGS_USER, with ip, sp and fp in
 *		sample_regs_user.  Rules read the sample_stack_user bytes from sp on, which
 *		must not be 0.
 * @flags:	0
 * @__reserved:	0
 */
struct perf_unwind_attach {
	__u32	size;
	__s32	fd;
	__u32	flags;
	__u32	__reserved;
};

/**
 * struct perf_unwind_stats - what a table holds
 * @size:	in: sizeof(struct perf_unwind_stats); out: the size that the kernel knows.
 *		Members that the kernel does not know are set to 0.
 * @objects:	objects that have rows
 * @rules:	different rules of all objects, at most 65535
 * @__reserved:	0
 * @rows:	rows of all objects
 * @bytes:	kernel memory of the table.  Replaced rows count until they are freed.
 * @max_bytes:	limit of @bytes
 * @loads:	PERF_UNWIND_LOAD calls that succeeded
 * @evicted:	objects that were removed to make room for others: those whose rows were
 *		not used for the longest time
 */
struct perf_unwind_stats {
	__u32		size;
	__u32		objects;
	__u32		rules;
	__u32		__reserved;
	__aligned_u64	rows;
	__aligned_u64	bytes;
	__aligned_u64	max_bytes;
	__aligned_u64	loads;
	__aligned_u64	evicted;
};

/* Sizes of the first published structures: an ioctl returns EINVAL for less. */
#define PERF_UNWIND_ROW_SIZE_VER0	8
#define PERF_UNWIND_RULE_SIZE_VER0	20
#define PERF_UNWIND_LOAD_SIZE_VER0	48
#define PERF_UNWIND_UNLOAD_SIZE_VER0	16
#define PERF_UNWIND_ATTACH_SIZE_VER0	16
#define PERF_UNWIND_STATS_SIZE_VER0	56

/*
 * The number of an ioctl does not contain the size of its argument, so that the
 * structures can grow.  Errors of all of them:
 *
 *	EFAULT	memory of user space cannot be read or written
 *	EINVAL	a member has an invalid value, or a size is too small
 *	E2BIG	a member that the kernel does not know is not 0
 *	EINTR	a signal arrived while the ioctl waited for another one on the same table
 *
 * If PERF_UNWIND_LOAD fails, the rows of the object are the same as before, but other
 * objects may have been removed to make room.  Further errors:
 *
 *	EBADF	@fd is not an open file, or not open for reading
 *	E2BIG	more rows than PERF_UNWIND_MAX_ROWS, or larger ones than PERF_UNWIND_MAX_SIZE
 *	EFBIG	the rows do not fit into the limit of a table
 *	EDQUOT	the rows do not fit into the user's RLIMIT_MEMLOCK, which is for all his
 *		tables, even after the other objects of this table were removed
 *	ENOSPC	the table has 65535 different rules: unload all objects, and load again
 *	ENOMEM	not enough memory
 *	EOPNOTSUPP  the file is on a tmpfs, a memfd, or on another file system where a
 *		shared mapping can change a file but not its ctime
 */
#define PERF_UNWIND_LOAD	_IO('$', 0x20)
/* EBADF: as above; ENOENT: the table has no rows of the object. */
#define PERF_UNWIND_UNLOAD	_IO('$', 0x21)
#define PERF_UNWIND_STATS	_IO('$', 0x22)
/*
 * EBADF: @fd is not a perf event; EINVAL: the event lacks unwind_rules or one of the sample
 * types above, or has exclude_callchain_user or defer_callchain; EPERM: different users
 * opened the event and the table; EEXIST: the event has a table.
 */
#define PERF_UNWIND_ATTACH	_IO('$', 0x23)

#endif /* _UAPI_LINUX_PERF_UNWIND_RULES_H */
