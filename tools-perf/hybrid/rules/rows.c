// SPDX-License-Identifier: GPL-2.0
/*
 * What is asked of a mapped file: the row for an address, compiled when it is first
 * met, and what the code there tells. The file is opened for the first question, and
 * again where others needed its descriptor in the meantime.
 */
#include <errno.h>
#include <stdlib.h>
#include <linux/hash.h>
#include "compile.h"
#include "rows.h"

/*
 * Files that only root can write, and that all use, have root's share whoever met them first. So
 * has the vDSO, which is one for all.
 */
struct hybrid_file_user *hybrid_mapping_user(const struct hybrid_mapping *mapping, int fd)
{
	struct hybrid_objects *objects = mapping->object->objects;

	if (!objects->user_of || mapping->object->ident.path[0] == '[' ||
	    hybrid_file_is_guarded(fd))
		return hybrid_file_user_get(objects->budget, 0);
	return objects->user_of(mapping);
}

/* Where it is not there yet, a sample may wait for it. */
static void object_open(const struct hybrid_mapping *mapping)
{
	struct hybrid_object *object = mapping->object;
	struct hybrid_objects *objects = object->objects;
	int fd;

	do {
		errno = 0;
		fd = objects->open(mapping);
	} while (fd == -1 && errno == EMFILE && hybrid_objects_close_one(objects));
	if (fd == HYBRID_OPEN_LATER) {
		objects->waiting = object;
		return;
	}
	/* Between the two it became another file. */
	if (fd < 0 && errno == ESTALE)
		hybrid_object_set_old(object);
	if (fd < 0 && errno == EDQUOT) {
		hybrid_object_leave_out(object, object->over);
		return;
	}
	if (fd >= 0 && !object->is_copy)
		object->user = hybrid_mapping_user(mapping, fd);
	hybrid_object_open(object, fd);
}

/* A row that another file's object has, or is to have, is not compiled once more. */
static bool must_wait(const struct hybrid_mapping *mapping)
{
	if (!mapping->record || !hybrid_object_is_compared(mapping->object))
		return false;
	mapping->object->objects->waiting = mapping->object;
	return true;
}

/* After @retry there may be room again, because perf closes copies that it has compared. */
static void end_left_out(struct hybrid_object *object)
{
	if (object->is_left_out && object->state == HYBRID_OBJECT_FAILED && object->user &&
	    object->user->budget->clock() >= object->retry)
		hybrid_object_try_again(object);
}

/* Is there something known of the object? */
static bool is_known(const struct hybrid_mapping *mapping)
{
	end_left_out(mapping->object);
	if (mapping->object->state == HYBRID_OBJECT_NEW)
		object_open(mapping);
	return mapping->object->state == HYBRID_OBJECT_READY ||
	       mapping->object->state == HYBRID_OBJECT_CLOSED;
}

bool hybrid_object_use(const struct hybrid_mapping *mapping)
{
	struct hybrid_object *object = mapping->object;

	end_left_out(object);
	if (object->state == HYBRID_OBJECT_NEW || object->state == HYBRID_OBJECT_CLOSED)
		object_open(mapping);
	if (object->state != HYBRID_OBJECT_READY)
		return false;
	if (!list_empty(&object->opened))
		list_move_tail(&object->opened, &object->objects->opened);
	return true;
}

bool hybrid_object_use_unawaited(const struct hybrid_mapping *mapping)
{
	struct hybrid_objects *objects = mapping->object->objects;
	struct hybrid_object *waiting = objects->waiting;
	bool usable = hybrid_object_use(mapping);

	objects->waiting = waiting;
	return usable;
}

static u32 key(const struct hybrid_object *object, u64 vaddr, unsigned int bits)
{
	return hash_64(vaddr + (object->id << 40), bits);
}

static struct hybrid_row *find_row(struct hybrid_object *object, u64 vaddr)
{
	struct rb_node *node = object->rows.rb_node;

	while (node) {
		struct hybrid_row *row = rb_entry(node, struct hybrid_row, node);

		if (vaddr < row->start)
			node = node->rb_left;
		else if (vaddr >= row->end)
			node = node->rb_right;
		else
			return row;
	}
	return NULL;
}

/* Rows of lying files may overlap: where they do, the new one gives way. */
static void insert_row(struct hybrid_object *object, struct hybrid_row *new, u64 vaddr)
{
	struct rb_node **link = &object->rows.rb_node, *parent = NULL;

	while (*link) {
		struct hybrid_row *row = rb_entry(*link, struct hybrid_row, node);

		parent = *link;
		if (vaddr < row->start) {
			if (new->end > row->start)
				new->end = row->start;
			link = &parent->rb_left;
		} else {
			if (new->start < row->end)
				new->start = row->end;
			link = &parent->rb_right;
		}
	}
	rb_link_node(&new->node, parent, link);
	rb_insert_color(&new->node, &object->rows);
	object->nr_rows++;
	object->objects->nr_rows++;
}

/*
 * What others of the user's files have in memory gives way. Returns -EDQUOT if that is not enough:
 * a row may be wrong then.
 */
static int compile(struct hybrid_object *object, u64 vaddr, struct hybrid_row *row)
{
	int err = hybrid_compile_row(object, vaddr, row);

	if (!hybrid_object_is_refused(object))
		return err;
	if (!err)
		hybrid_row_exit(row);
	if (!hybrid_objects_make_room(object))
		return -EDQUOT;
	hybrid_cfi_forget(&object->cfi);
	err = hybrid_compile_row(object, vaddr, row);
	if (!err && hybrid_object_is_refused(object)) {
		hybrid_row_exit(row);
		err = -EDQUOT;
	}
	return err;
}

static struct hybrid_row *compile_row(const struct hybrid_mapping *mapping, u64 vaddr)
{
	struct hybrid_object *object = mapping->object;
	struct hybrid_row *row;
	int err;

	if (!hybrid_object_use(mapping) || must_wait(mapping))
		return NULL;
	row = malloc(sizeof(*row));
	if (!row)
		return NULL;
	err = compile(object, vaddr, row);
	if (!hybrid_object_is_current(object) && !err) {
		hybrid_row_exit(row);
		err = -ESTALE;
	}
	if (err) {
		if (err == -EDQUOT)
			hybrid_object_leave_out(object, hybrid_file_refused(object->user));
		if (err == -EAGAIN)
			object->objects->waiting = object;
		free(row);
		return NULL;
	}
	/* See hybrid_object_code_rule(): it caches what the code says at this address. */
	if (row->rule.kind == HYBRID_RULE_NONE) {
		row->start = vaddr;
		row->end = vaddr + 1;
	}
	insert_row(object, row, vaddr);
	return row;
}

/*
 * What one process met serves the next one: where processes are short, each has an
 * address space of its own, and the same few files.
 */
static struct hybrid_row *found_row(const struct hybrid_mapping *mapping, u64 vaddr)
{
	struct hybrid_object *object = mapping->object;
	struct hybrid_found_row *found;
	struct hybrid_row *row;

	found = &object->objects->found_rows[key(object, vaddr, HYBRID_FOUND_ROWS_BITS)];
	if (found->id == object->id && found->vaddr == vaddr)
		return found->row;
	row = find_row(object, vaddr);
	if (!row)
		row = compile_row(mapping, vaddr);
	if (row)
		*found = (struct hybrid_found_row) { object->id, vaddr, row };
	return row;
}

struct hybrid_row *hybrid_image_row(struct hybrid_object *image, u64 ip)
{
	const struct hybrid_mapping mapping = { .end = ~0ULL, .object = image };

	return found_row(&mapping, ip);
}

struct hybrid_row *hybrid_object_row(const struct hybrid_mapping *mapping, u64 ip)
{
	u64 vaddr;

	if (!is_known(mapping) ||
	    !hybrid_object_vaddr(mapping->object, ip - mapping->start + mapping->pgoff, &vaddr))
		return NULL;
	return found_row(mapping, vaddr);
}

/* The code of a file that is open, and what is asked of it. */
static const struct hybrid_arch *arch_of(const struct hybrid_mapping *mapping,
					 struct hybrid_code *code)
{
	*code = hybrid_object_code(mapping->object);
	return mapping->object->cfi.abi->arch;
}

const struct hybrid_rule *hybrid_object_code_rule(struct hybrid_row *row,
						  const struct hybrid_mapping *mapping,
						  u64 ret)
{
	static const struct hybrid_rule none;
	struct hybrid_code code;
	u64 vaddr;

	if (row->code_at == ret - mapping->start + mapping->pgoff + 1)
		return &row->code;
	if (!hybrid_object_use(mapping))
		return &none;
	row->code_at = ret - mapping->start + mapping->pgoff + 1;
	row->code_led = false;
	row->code_failed = false;
	if (!hybrid_object_vaddr(mapping->object, ret - mapping->start + mapping->pgoff, &vaddr) ||
	    !arch_of(mapping, &code)->rule(&code, vaddr, &row->code))
		row->code.kind = HYBRID_RULE_NONE;
	if (hybrid_object_is_refused(mapping->object)) {
		row->code_at = 0;
		hybrid_object_leave_out(mapping->object,
					hybrid_file_refused(mapping->object->user));
		return &none;
	}
	if (!hybrid_object_is_current(mapping->object))
		row->code.kind = HYBRID_RULE_NONE;
	return &row->code;
}

/* The innermost frame of nearly every sample asks this. */
static bool found_return(const struct hybrid_mapping *mapping, u64 vaddr)
{
	struct hybrid_object *object = mapping->object;
	struct hybrid_found_return *found;
	struct hybrid_code code;
	bool is_return;

	found = &object->objects->found_returns[key(object, vaddr, HYBRID_FOUND_RETURNS_BITS)];
	if (found->id == object->id && found->vaddr == vaddr)
		return found->is_return;
	if (!hybrid_object_use(mapping))
		return true;
	is_return = arch_of(mapping, &code)->is_return(&code, vaddr);
	if (!hybrid_object_is_current(object))
		return true;
	*found = (struct hybrid_found_return) {
		.id		= object->id,
		.vaddr		= vaddr,
		.is_return	= is_return,
	};
	return is_return;
}

bool hybrid_object_is_return(const struct hybrid_mapping *mapping, u64 ret)
{
	u64 vaddr, offset = ret - mapping->start + mapping->pgoff;

	if (!mapping->object || !is_known(mapping))
		return true;
	return hybrid_object_vaddr(mapping->object, offset, &vaddr) && found_return(mapping, vaddr);
}

bool hybrid_object_calls_with_result(const struct hybrid_mapping *mapping, u64 ret)
{
	struct hybrid_code code;
	u64 vaddr;

	return mapping->object && hybrid_object_use(mapping) &&
	       hybrid_object_vaddr(mapping->object, ret - mapping->start + mapping->pgoff,
				   &vaddr) &&
	       arch_of(mapping, &code)->calls_with_result(&code, vaddr) &&
	       hybrid_object_is_current(mapping->object);
}

bool hybrid_object_is_uprobe(const struct hybrid_mapping *mapping, u64 ret, u64 *left)
{
	struct hybrid_code code;
	u64 vaddr;

	return mapping->object && hybrid_object_use(mapping) &&
	       hybrid_object_vaddr(mapping->object, ret - 1 - mapping->start + mapping->pgoff,
				   &vaddr) &&
	       arch_of(mapping, &code)->is_uprobe(&code, vaddr + 1, left) &&
	       hybrid_object_is_current(mapping->object);
}

/* What the code of files says does not change: one look serves all processes. */
static enum hybrid_reach found_leads(const struct hybrid_mapping *mapping, u64 ret, u64 callee)
{
	struct hybrid_object *object = mapping->object;
	struct hybrid_found_leads *found;
	enum hybrid_reach leads;
	struct hybrid_code code;

	found = &object->objects->found_leads[key(object, ret * 3 + callee,
						  HYBRID_FOUND_LEADS_BITS)];
	if (found->id == object->id && found->ret == ret && found->callee == callee)
		return found->leads;
	if (!hybrid_object_use(mapping))
		return HYBRID_REACH_MAYBE;
	leads = arch_of(mapping, &code)->leads(&code, ret, callee);
	if (!hybrid_object_is_current(object))
		return HYBRID_REACH_MAYBE;
	*found = (struct hybrid_found_leads) {
		.id	= object->id,
		.ret	= ret,
		.callee	= callee,
		.leads	= leads,
	};
	return leads;
}

enum hybrid_reach hybrid_object_leads(const struct hybrid_mapping *mapping, u64 ret,
				      const struct hybrid_mapping *callee_mapping, u64 callee)
{
	struct hybrid_object *object = mapping->object;
	u64 last, vaddr = 0;

	if (!is_known(mapping))
		return HYBRID_REACH_MAYBE;
	if (!hybrid_object_vaddr(object, ret - 1 - mapping->start + mapping->pgoff, &last))
		return HYBRID_REACH_NOT;
	if (callee_mapping && callee_mapping->object == object)
		hybrid_object_vaddr(object, callee - callee_mapping->start + callee_mapping->pgoff,
				    &vaddr);
	return found_leads(mapping, last + 1, vaddr);
}
