// SPDX-License-Identifier: GPL-2.0
/*
 * The lookups of a walk by user-supplied rules in an address space: mappings, files, vDSOs.
 * Prints TAP.
 */
#include "rules-state.h"

/* Mappings whose code may be other than the file's or the vDSO's. */
static void check_mappings(void)
{
	static const unsigned long flags[] = { 0, VM_EXEC, VM_WRITE, VM_EXEC | VM_WRITE };
	struct vm_area_struct other = {
		.vm_start = CODE + 0x10, .vm_end = CODE + 0x20, .vm_file = &file,
	};
	unsigned long ip;
	unsigned int i;
	bool ok = true;

	for (i = 0; i < ARRAY_SIZE(flags); i++) {
		make_frames();
		vmas[0].vm_flags = flags[i] | 1;
		ok &= (walk_now(MAX_STACK) == PERF_UNWIND_END_OUTERMOST) == (flags[i] == VM_EXEC);
		ok &= walk.start == CODE && walk.end == CODE + CODE_SIZE;
		ok &= walk.offset == CODE_OFFSET && !walk.rows == (flags[i] != VM_EXEC);
	}
	make_frames();
	vmas[0].anon_vma = &vmas;
	ok &= walk_now(MAX_STACK) == PERF_UNWIND_END_NO_RULE;
	make_frames();
	vmas[0].vm_file = NULL;
	ok &= walk_now(MAX_STACK) == PERF_UNWIND_END_NO_RULE && !walk.rows;
	report(ok, "mappings: executable, and never written to");

	make_frames();
	ok = walk_now(MAX_STACK) == PERF_UNWIND_END_OUTERMOST && vma_checks == 1;
	/* Changed after it was looked up: the file may be another by now, or none. */
	make_frames();
	file.f_inode = NULL;
	vma_changes_at = 1;
	ok &= walk_now(MAX_STACK) == PERF_UNWIND_END_NO_RULE && !walk.rows;
	file.f_inode = &inode;
	report(ok, "mappings: none that changed meanwhile");

	make_frames();
	regs.ip = CODE + CODE_SIZE;
	ok = walk_now(MAX_STACK) == PERF_UNWIND_END_NO_RULE && !walk.start && !walk.end;
	regs.ip = CODE - 1;
	ok &= walk_now(MAX_STACK) == PERF_UNWIND_END_NO_RULE && !walk.start && !walk.end;
	report(ok, "mappings: none there");

	/* The memory of a mapping is used for another while it is read. */
	make_frames();
	walk.mm = NULL;
	vmas[0].vm_end = CODE + 0x10;
	ok = perf_unwind_find_mapping(&walk, CODE) && perf_unwind_find_mapping(&walk, CODE + 15) &&
	     !perf_unwind_find_mapping(&walk, CODE + 16);
	ok &= !walk.rows && !walk.start && !walk.end;
	report(ok, "mappings: their bounds");

	make_frames();
	walk.mm = NULL;
	vma_becomes = &other;
	for (ip = CODE; ip < CODE + 0x30; ip++)
		ok &= perf_unwind_find_mapping(&walk, ip) ==
		      (ip >= other.vm_start && ip < other.vm_end);
	vma_becomes = NULL;
	report(ok, "mappings: another one while it is read");
}

/* Files are told apart by each part of their key, and by their last change. */
static void check_files(void)
{
	const struct inode kept = inode;
	struct inode other, twin = inode;
	unsigned int i;
	bool ok = true;

	for (i = 0; i < 6; i++) {
		make_frames();
		inode = kept;
		inode.i_ino += i == 0;
		inode.i_generation += i == 1;
		disk.s_dev += i == 2;
		inode.ctime += i == 3;
		inode.ctime_nsec += i == 4;
		other = (struct inode) { .mapped_writable = i == 5 };
		inode.i_mapping = &other;
		ok &= walk_now(MAX_STACK) == PERF_UNWIND_END_NO_RULE && !walk.rows;
		disk.s_dev -= i == 2;
	}
	inode = kept;
	ok &= walk_now(MAX_STACK) == PERF_UNWIND_END_OUTERMOST;
	report(ok, "files: the one that was loaded, unchanged");
	/* Two subvolumes can have files that differ in nothing else. Both have the same hash. */
	make_frames();
	file.f_inode = &twin;
	hash_del(&object.node);
	hash_add(table.objects, &object.node, (unsigned long)&twin);
	ok = walk_now(MAX_STACK) == PERF_UNWIND_END_NO_RULE && !walk.rows;
	hash_del(&object.node);
	hash_add(table.objects, &object.node, perf_unwind_hash_key(&object.key));
	file.f_inode = &inode;
	report(ok, "files: not the one of another subvolume");

	make_frames();
	jiffies = 100;
	object.used = 100;
	walk_now(MAX_STACK);
	ok = object.used == 100;
	jiffies = 101;
	walk_now(MAX_STACK);
	ok &= object.used == 101;
	/* Never back. */
	jiffies = 50;
	walk_now(MAX_STACK);
	ok &= object.used == 101;
	report(ok, "files: the time of their last use");
}

/* A sample compares 16 objects with the same hash, whoever made them. */
static void check_probes(void)
{
	static struct perf_unwind_object others[PERF_UNWIND_MAX_PROBES];
	unsigned int i;
	bool ok = true;

	for (i = 0; i < ARRAY_SIZE(others); i++) {
		make_frames();
		ok &= walk_now(MAX_STACK) == PERF_UNWIND_END_OUTERMOST;
		/* Each is before the others. */
		others[i].key = object.key;
		others[i].key.generation += 1 + i;
		hash_add(table.objects, &others[i].node, perf_unwind_hash_key(&object.key));
	}
	ok &= walk_now(MAX_STACK) == PERF_UNWIND_END_NO_RULE;
	for (i = 0; i < ARRAY_SIZE(others); i++)
		hash_del(&others[i].node);
	report(ok, "files: 16 of one hash are compared");
}

static void check_vdso(void)
{
	static struct mm_struct vdso_mm;
	struct perf_unwind_object vdso = { .rows = object.rows };
	bool ok;

	ok = arch_perf_unwind_vdso(PERF_UNWIND_VDSO_64) == &vdso64_image;
	ok &= arch_perf_unwind_vdso(PERF_UNWIND_VDSO_32) == &vdso32_image;
	ok &= !arch_perf_unwind_vdso(0) && !arch_perf_unwind_vdso(3) && !arch_perf_unwind_vdso(4);
	ok &= arch_perf_unwind_regs() == (1 << 6 | 1 << 7 | 1 << 8);
	ok &= arch_perf_unwind_can_step(&(struct perf_unwind_rule) {});
	ok &= !arch_perf_unwind_can_step(&(struct perf_unwind_rule) {
						.ra = PERF_UNWIND_RA_IN_REGISTER });
	begin(8);
	vdso_mm.context.vdso = (void *)CODE;
	vdso_mm.context.vdso_image = &vdso64_image;
	vmas[0].vm_file = NULL;
	ok &= !arch_perf_unwind_vdso_at(&vdso_mm, &vmas[0]);
	vmas[0].vm_private_data = &vdso_mapping;
	ok &= arch_perf_unwind_vdso_at(&vdso_mm, &vmas[0]) == &vdso64_image;
	report(ok, "vDSO: where it is mapped");

	walk = (struct perf_unwind_walk) { .table = &table, .mm = &vdso_mm, .seq = 77 };
	ok = perf_unwind_find_mapping(&walk, CODE + 5) && !walk.rows;
	vdso.key = perf_unwind_vdso_key(&vdso64_image);
	hash_add(table.objects, &vdso.node, perf_unwind_hash_key(&vdso.key));
	ok &= perf_unwind_find_mapping(&walk, CODE + 5) && walk.rows == object.rows;
	ok &= walk.offset == CODE_OFFSET;
	vmas[0].anon_vma = &vmas;
	ok &= perf_unwind_find_mapping(&walk, CODE + 5) && !walk.rows;
	vmas[0].anon_vma = NULL;
	vmas[0].vm_flags |= VM_WRITE;
	ok &= perf_unwind_find_mapping(&walk, CODE + 5) && !walk.rows;
	vmas[0].vm_flags &= ~VM_WRITE;
	/* Other memory at the same address. */
	vmas[0].vm_private_data = NULL;
	ok &= perf_unwind_find_mapping(&walk, CODE + 5) && !walk.rows;
	/* An object of no image is not that of mappings that are no vDSO. */
	hash_del(&vdso.node);
	vdso.key = perf_unwind_vdso_key(NULL);
	hash_add(table.objects, &vdso.node, perf_unwind_hash_key(&vdso.key));
	ok &= perf_unwind_find_mapping(&walk, CODE + 5) && !walk.rows;
	hash_del(&vdso.node);
	report(ok, "vDSO: rows of its image");
}

int main(void)
{
	setvbuf(stdout, NULL, _IONBF, 0);
	make_table();
	check_mappings();
	check_files();
	check_probes();
	check_vdso();
	free(object.rows);
	printf("1..%d\n", nr_tests);
	return !!nr_failed;
}
