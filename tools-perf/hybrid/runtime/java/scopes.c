// SPDX-License-Identifier: GPL-2.0
/*
 * Which methods an address of compiled code is of.
 */
#include <string.h>
#include <linux/kernel.h>
#include "../../rules/arch.h"
#include "method.h"
#include "scopes.h"

#define MAX_HEADER	512
#define MAX_DATA	(64U << 20)

/* Descriptions that are read at once; before that they are halved. */
#define AT_ONCE		64

/* Bytes of three packed numbers. */
#define SCOPE_SIZE	15

enum field {
	DESC_PC,
	DESC_SCOPE,
	SCOPES_PCS,
	SCOPES_DATA,		/* in JDK 23 and later: offset in the immutable data */
	SCOPES_DATA_BEGIN,	/* before: address */
	DEPENDENCIES,		/* before: behind the descriptions */
	METADATA,		/* before: offset in the blob */
	IMMUTABLE,
	IMMUTABLE_SIZE,
	MUTABLE,		/* since JDK 25: relocations, and then metadata */
	MUTABLE_SIZE,
	RELOCATION_SIZE,
};

static const struct {
	const char	*type;
	const char	*name;
} field_names[] = {
	[DESC_PC]		= { "PcDesc", "_pc_offset" },
	[DESC_SCOPE]		= { "PcDesc", "_scope_decode_offset" },
	[SCOPES_PCS]		= { "nmethod", "_scopes_pcs_offset" },
	[SCOPES_DATA]		= { "nmethod", "_scopes_data_offset" },
	[SCOPES_DATA_BEGIN]	= { "CompiledMethod", "_scopes_data_begin" },
	[DEPENDENCIES]		= { "nmethod", "_dependencies_offset" },
	[METADATA]		= { "nmethod", "_metadata_offset" },
	[IMMUTABLE]		= { "nmethod", "_immutable_data" },
	[IMMUTABLE_SIZE]	= { "nmethod", "_immutable_data_size" },
	[MUTABLE]		= { "CodeBlob", "_mutable_data" },
	[MUTABLE_SIZE]		= { "CodeBlob", "_mutable_data_size" },
	[RELOCATION_SIZE]	= { "CodeBlob", "_relocation_size" },
};

/**
 * struct desc - a description of an address, struct PcDesc
 * @pc: offset in the code
 * @scope: offset in the scopes' data; 0: the method itself
 */
struct desc {
	s32	pc;
	s32	scope;
};

/**
 * struct parts - parts of a compiled method in the process
 * @pcs: descriptions, by @pc
 * @nr_pcs: number of them
 * @data: the scopes' data
 * @data_size: bytes
 * @metadata: addresses of methods and classes
 * @nr_metadata: number of them
 */
struct parts {
	u64	pcs;
	u64	nr_pcs;
	u64	data;
	u64	data_size;
	u64	metadata;
	u64	nr_metadata;
};

#define DESC_SIZE	16

static bool has(const struct java_scopes *scopes, enum field field)
{
	return scopes->fields[field].size;
}

int java_scopes__init(struct java_scopes *scopes, struct java_vm *vm, u8 excluded)
{
	unsigned int i;
	u64 size;

	BUILD_BUG_ON(ARRAY_SIZE(field_names) > ARRAY_SIZE(scopes->fields));
	memset(scopes, 0, sizeof(*scopes));
	scopes->vm = vm;
	scopes->excluded = excluded;
	for (i = 0; i < ARRAY_SIZE(field_names); i++) {
		struct java_field *field = &scopes->fields[i];

		if (java_vm__field(vm, field_names[i].type, field_names[i].name, field))
			scopes->header_size = max(scopes->header_size,
						  (u32)field->offset + field->size);
	}
	if (scopes->header_size > MAX_HEADER)
		return -1;
	if (!java_vm__type_size(vm, "PcDesc", &size) || size != DESC_SIZE ||
	    !has(scopes, DESC_PC) || !has(scopes, DESC_SCOPE) || !has(scopes, SCOPES_PCS))
		return -1;
	if (has(scopes, IMMUTABLE) && has(scopes, IMMUTABLE_SIZE) && has(scopes, SCOPES_DATA) &&
	    has(scopes, MUTABLE) && has(scopes, MUTABLE_SIZE) && has(scopes, RELOCATION_SIZE))
		return 0;
	return has(scopes, SCOPES_DATA_BEGIN) && has(scopes, DEPENDENCIES) &&
	       has(scopes, METADATA) && !has(scopes, IMMUTABLE) ? 0 : -1;
}

static u64 value_of(const struct java_scopes *scopes, const u8 *header, enum field field)
{
	s64 value = 0;

	java_field_value(&scopes->fields[field], header, scopes->header_size, &value);
	return value;
}

/* As all of JDK 25 have it: outside of the blob. */
static void set_outside(const struct java_scopes *scopes, const u8 *header, struct parts *parts,
			u64 *pcs_end)
{
	u64 start = value_of(scopes, header, IMMUTABLE);
	u64 relocation = value_of(scopes, header, RELOCATION_SIZE);

	parts->pcs = start + value_of(scopes, header, SCOPES_PCS);
	parts->data = start + value_of(scopes, header, SCOPES_DATA);
	parts->data_size = start + value_of(scopes, header, IMMUTABLE_SIZE) - parts->data;
	parts->metadata = value_of(scopes, header, MUTABLE) + relocation;
	parts->nr_metadata = (value_of(scopes, header, MUTABLE_SIZE) - relocation) / sizeof(u64);
	*pcs_end = parts->data;
}

/* As JDK 17 and 21 have it: metadata, the scopes' data, descriptions, one behind the other. */
static void set_inside(const struct java_scopes *scopes, const struct java_blob *blob,
		       const u8 *header, struct parts *parts, u64 *pcs_end)
{
	parts->pcs = blob->addr + value_of(scopes, header, SCOPES_PCS);
	parts->data = value_of(scopes, header, SCOPES_DATA_BEGIN);
	parts->data_size = parts->pcs - parts->data;
	parts->metadata = blob->addr + value_of(scopes, header, METADATA);
	parts->nr_metadata = (parts->data - parts->metadata) / sizeof(u64);
	*pcs_end = blob->addr + value_of(scopes, header, DEPENDENCIES);
}

/* False if it can't be: sizes are differences of what the process says. */
static bool find_parts(const struct java_scopes *scopes, const struct java_blob *blob,
		       struct parts *parts)
{
	u8 header[MAX_HEADER];
	u64 pcs_end;

	if (java_vm__read(scopes->vm, blob->addr, header, scopes->header_size))
		return false;
	if (has(scopes, IMMUTABLE))
		set_outside(scopes, header, parts, &pcs_end);
	else
		set_inside(scopes, blob, header, parts, &pcs_end);
	parts->nr_pcs = (pcs_end - parts->pcs) / DESC_SIZE;
	return parts->nr_pcs <= MAX_DATA / DESC_SIZE && parts->data_size <= MAX_DATA &&
	       parts->nr_metadata <= MAX_DATA / sizeof(u64);
}

static void take_desc(const struct java_scopes *scopes, const u8 *bytes, struct desc *desc)
{
	s64 pc = 0, scope = 0;

	java_field_value(&scopes->fields[DESC_PC], bytes, DESC_SIZE, &pc);
	java_field_value(&scopes->fields[DESC_SCOPE], bytes, DESC_SIZE, &scope);
	*desc = (struct desc) { pc, scope };
}

/*
 * The first description of an address that is not below; else the last one. @before: the one before
 * it, or the same.
 */
static bool find_desc(const struct java_scopes *scopes, const struct parts *parts, s64 offset,
		      struct desc *desc, struct desc *before)
{
	u8 bytes[AT_ONCE * DESC_SIZE];
	u64 low = 0, high = parts->nr_pcs, middle, i, nr;

	while (high - low > AT_ONCE) {
		middle = (low + high) / 2;
		if (java_vm__read(scopes->vm, parts->pcs + middle * DESC_SIZE, bytes, DESC_SIZE))
			return false;
		take_desc(scopes, bytes, desc);
		if (desc->pc < offset)
			low = middle + 1;
		else
			high = middle + 1;
	}
	nr = high - low;
	if (!nr || java_vm__read(scopes->vm, parts->pcs + low * DESC_SIZE, bytes, nr * DESC_SIZE))
		return false;
	for (i = 0; i < nr; i++) {
		take_desc(scopes, bytes + i * DESC_SIZE, desc);
		take_desc(scopes, bytes + (i ? i - 1 : 0) * DESC_SIZE, before);
		if (desc->pc >= offset)
			break;
	}
	return true;
}

/* ScopeDesc::decode_body(): the scope around it, the method, the place in it. */
static bool read_scope(const struct java_scopes *scopes, const struct parts *parts, u32 *at,
		       struct java_scope *scope)
{
	u8 bytes[SCOPE_SIZE];
	struct java_stream stream = { .bytes = bytes, .excluded = scopes->excluded };
	u32 sender, method, bci;

	if (*at >= parts->data_size)
		return false;
	stream.size = min_t(u64, parts->data_size - *at, sizeof(bytes));
	if (java_vm__read(scopes->vm, parts->data + *at, bytes, stream.size) ||
	    !java_stream__u32(&stream, &sender) || !java_stream__u32(&stream, &method) ||
	    !java_stream__u32(&stream, &bci))
		return false;
	/* Its numbers begin with 1; 0 is none. */
	if (!method || method > parts->nr_metadata ||
	    java_vm__read(scopes->vm, parts->metadata + (method - 1) * sizeof(u64),
			  &scope->method, sizeof(scope->method)))
		return false;
	/* The method's beginning, where it takes its lock, is -1, and stands as 0. */
	scope->bci = bci ? bci - 1 : 0;
	*at = sender;
	return true;
}

/* Bytes of add, pop, compare, jump and return. */
#define EPILOGUE	32

static bool has_bytes(const u8 *code, const char *bytes, unsigned int nr)
{
	return !memcmp(code, bytes, nr);
}

/*
 * Is that the rest of what leaves a frame? add $SIZE,%rsp; pop %rbp; cmp disp(%r15),%rsp; ja; ret,
 * of which the first ones may have been run.
 */
static bool is_epilogue(const u8 *code)
{
	if (has_bytes(code, "\x48\x83\xc4", 3))
		code += 4;
	else if (has_bytes(code, "\x48\x81\xc4", 3))
		code += 7;
	if (*code == 0x5d)
		code++;
	if (has_bytes(code, "\x49\x3b\x67", 3))
		code += 4;
	else if (has_bytes(code, "\x49\x3b\xa7", 3))
		code += 7;
	if (has_bytes(code, "\x0f\x87", 2))
		code += 6;
	return *code == 0xc3;
}

/* Instructions that are looked at before those. */
#define BEFORE		10

/* The instruction after the one at @ip, whose first bytes are @code; 0: it may be another. */
static u64 next_insn(const struct hybrid_process_memory *pm, u64 ip, const u8 *code)
{
	enum hybrid_effect effect;
	u64 next;
	s32 disp;

	if (*code == 0xeb)
		return ip + 2 + (s8)code[1];
	if (*code == 0xe9) {
		memcpy(&disp, code + 1, sizeof(disp));
		return ip + 5 + disp;
	}
	effect = hybrid_memory_after(pm->memory, pm->space, pm->pid, &hybrid_abi_64, ip, &next);
	return effect == HYBRID_EFFECT_NEXT ? next : 0;
}

/*
 * Does code without a choice lead from @pc to the end of the frame? @described: the next address
 * that is described: it is not to come through that before.
 */
static bool is_leaving(const struct java_scopes *scopes, const struct java_blob *blob, u64 pc,
		       u64 described)
{
	unsigned int i;
	u64 ip = pc;

	for (i = 0; i <= BEFORE && ip >= blob->code && ip < blob->end && ip != described; i++) {
		u8 code[EPILOGUE] = {};

		if (java_vm__read(scopes->vm, ip, code, min_t(u64, blob->end - ip, sizeof(code))))
			return false;
		if (is_epilogue(code))
			return true;
		ip = next_insn(&scopes->vm->pm, ip, code);
	}
	return false;
}

/* Where the conditional jump @code at @ip leads; 0: it is none. */
static u64 jump_target(u64 ip, const u8 *code)
{
	s32 disp;

	if ((*code & 0xf0) == 0x70)
		return ip + 2 + (s8)code[1];
	if (*code != 0x0f || (code[1] & 0xf0) != 0x80)
		return 0;
	memcpy(&disp, code + 2, sizeof(disp));
	return ip + 6 + disp;
}

/*
 * Is @pc at the end of a loop that @before, the address that is described before it, is in? The
 * next description is of what follows in memory then.
 */
static bool is_in_loop(const struct java_scopes *scopes, const struct java_blob *blob, u64 pc,
		       u64 before, u64 described)
{
	unsigned int i;
	u64 ip = pc, target;

	for (i = 0; i <= BEFORE && ip >= pc && ip < blob->end; i++) {
		u8 code[EPILOGUE] = {};

		if (before >= pc || (described > pc && ip >= described) ||
		    java_vm__read(scopes->vm, ip, code, min_t(u64, blob->end - ip, sizeof(code))))
			return false;
		target = jump_target(ip, code);
		if (target)
			return target >= blob->code && target <= before;
		ip = next_insn(&scopes->vm->pm, ip, code);
	}
	return false;
}

/*
 * Where the frame is made no method runs that was inlined. Where it is about to be left most likely
 * none does, whichever the next description is of: it stands behind the return then.
 */
static bool is_outside(const struct java_scopes *scopes, const struct java_blob *blob, u64 pc,
		       const struct desc *desc, struct java_scope *scope)
{
	*scope = (struct java_scope) { .method = blob->method };
	if (blob->frame_complete > 0 && pc < blob->code + blob->frame_complete)
		return true;
	scope->bci = JAVA_LAST_BCI;
	return is_leaving(scopes, blob, pc, blob->code + desc->pc);
}

unsigned int java_scopes__find(const struct java_scopes *scopes, const struct java_blob *blob,
			       u64 pc, struct java_scope *out, unsigned int max)
{
	struct desc desc, before;
	struct parts parts;
	unsigned int nr = 0;
	u32 at;

	if (!find_parts(scopes, blob, &parts) ||
	    !find_desc(scopes, &parts, pc - blob->code, &desc, &before))
		return 0;
	if (desc.pc != (s64)(pc - blob->code)) {
		if (is_outside(scopes, blob, pc, &desc, out))
			return 1;
		if (is_in_loop(scopes, blob, pc, blob->code + before.pc, blob->code + desc.pc))
			desc = before;
	}
	for (at = desc.scope; at && nr < max; nr++) {
		if (!read_scope(scopes, &parts, &at, &out[nr]))
			return 0;
	}
	return nr;
}
