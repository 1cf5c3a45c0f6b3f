// SPDX-License-Identifier: GPL-2.0
#include <errno.h>
#include <string.h>
#include "identify.h"

/* A library may be gone, and another one where it was, when its samples are read. */
static int find_file(struct hybrid_mapping *mapping, struct hybrid_file_id *file)
{
	struct hybrid_objects *objects = mapping->object->objects;
	int err = objects->identify(mapping, file);

	if (err || mapping->is_moved ||
	    !hybrid_object_is_other(objects, hybrid_mapping_ident(mapping), file))
		return err;
	mapping->is_moved = true;
	return objects->identify(mapping, file);
}

static struct hybrid_object *find_object(struct hybrid_mapping *mapping)
{
	const struct hybrid_ident *ident = hybrid_mapping_ident(mapping);
	struct hybrid_objects *objects = mapping->object->objects;
	struct hybrid_object *object;
	struct hybrid_file_id file;

	/* It could not be opened as what it was taken for. */
	if (mapping->record && mapping->object->state == HYBRID_OBJECT_FAILED)
		mapping->is_moved = !mapping->is_moved;
	mapping->is_met = false;
	if (!find_file(mapping, &file)) {
		mapping->file = file;
		return hybrid_object_of_file(objects, ident, &file);
	}
	memset(&mapping->file, 0, sizeof(mapping->file));
	object = hybrid_object_new(objects, ident);
	if (!object)
		return NULL;
	/* No other mapping finds it, and nothing more is to be known of it. */
	object->refs = 1;
	object->is_old = true;
	object->is_settled = true;
	return object;
}

static void set_object(struct hybrid_mapping *mapping, struct hybrid_object *object)
{
	struct hybrid_object *old = mapping->object;

	mapping->object = object;
	if (mapping->record)
		hybrid_object_put(old);
	else
		mapping->record = old;
}

/* What stands beside the file was not compared. */
static bool has_debug_file(const struct hybrid_object *object)
{
	return object->debug_elf && object->has_debug_file;
}

/* One that holds the same may be open already. */
static void start_comparison(struct hybrid_object *object)
{
	const struct hybrid_compare_ops *compare = object->objects->compare;
	struct hybrid_object *other = NULL;

	if (compare && object->ident.build_id_size && !has_debug_file(object))
		other = hybrid_object_namesake(object);
	if (!other || has_debug_file(other)) {
		object->is_settled = true;
	} else {
		object->comparison = compare->start(object, other);
		if (object->comparison) {
			object->is_late = false;
			object->same = other;
			return;
		}
	}
	if (other)
		hybrid_object_put(other);
}

/* Nobody else can change, or could, what the object's rows are made of. */
static bool may_share(const struct hybrid_object *object)
{
	return object->is_copy || hybrid_file_is_guarded(object->fd);
}

/* One of the two if it may be, else one of a copy. */
static struct hybrid_object *shared_of(struct hybrid_object *object)
{
	const struct hybrid_compare_ops *compare = object->objects->compare;
	struct hybrid_object *copy = may_share(object->same) ? object->same : object;
	struct hybrid_pinned_file hold = {};
	u64 size = 0;
	int fd;

	if (may_share(copy)) {
		hybrid_object_share(copy);
		copy->refs++;
		return copy;
	}
	fd = compare->copy(object->comparison, &hold, &size);
	copy = fd < 0 ? NULL : hybrid_object_of_copy(object, fd, &hold, size);
	if (!copy)
		hybrid_unpin_file(&hold);
	return copy;
}

static void use_shared(struct hybrid_object *object, struct hybrid_object *shared)
{
	if (object == shared || object->same || object->is_old)
		return;
	shared->refs++;
	object->same = shared;
	object->is_settled = false;
	hybrid_object_forget_copy(object);
}

static void end_comparison(struct hybrid_object *object)
{
	int result = object->objects->compare->result(object->comparison);
	struct hybrid_object *other = object->same, *shared = NULL;

	if (result == -EINPROGRESS)
		return;
	if (result && !has_debug_file(object) && !has_debug_file(other))
		shared = shared_of(object);
	other->refs++;
	hybrid_object_part(object);
	object->is_settled = true;
	if (shared) {
		use_shared(object, shared);
		use_shared(other, shared);
		hybrid_object_put(shared);
	}
	hybrid_object_put(other);
}

/* Finds out whether @object serves its mappings itself, or another one does. */
static void settle(struct hybrid_object *object)
{
	if (object->same && !object->comparison && object->same->is_old)
		hybrid_object_part(object);
	else if (object->state == HYBRID_OBJECT_FAILED && !object->comparison)
		object->is_settled = true;
	else if (object->state == HYBRID_OBJECT_READY && !object->same)
		start_comparison(object);
	if (object->comparison)
		end_comparison(object);
}

bool hybrid_identify(struct hybrid_mapping *mapping)
{
	struct hybrid_object *before = mapping->object, *object;
	bool was_identified = mapping->record;

	if (!before->objects->identify || before->ident.path[0] == '[') {
		mapping->record = before;
		return false;
	}
	if (!was_identified || (before->is_old && !before->is_settled)) {
		object = find_object(mapping);
		if (!object)
			return false;
		set_object(mapping, object);
	}
	settle(mapping->object);
	object = mapping->object;
	if (object->same && !object->comparison) {
		object->same->refs++;
		set_object(mapping, object->same);
	}
	return was_identified && mapping->object != before;
}
