/* SPDX-License-Identifier: (GPL-2.0-only OR BSD-2-Clause) */
#ifndef __HYBRID_FILE_BPF_H
#define __HYBRID_FILE_BPF_H

/*
 * What a file is known by. Whatever file system it is of, the walk and perf see the same:
 * both read it of a mapping. (On overlayfs that is of the file below.)
 */
#include "kernel.bpf.h"
#include "hybrid_walk.h"

static __noinline void file_changed_at(struct inode___h *inode, struct hybrid_walk_key *key)
{
	struct inode___6_10 *inode_6_10 = (void *)inode;
	struct inode___6_5 *inode_6_5 = (void *)inode;

	if (bpf_core_field_exists(inode->i_ctime_sec)) {
		key->ctime_sec = BPF_CORE_READ(inode, i_ctime_sec);
		key->ctime_nsec = BPF_CORE_READ(inode, i_ctime_nsec) & CTIME_NSEC;
	} else if (bpf_core_field_exists(inode_6_10->__i_ctime)) {
		key->ctime_sec = BPF_CORE_READ(inode_6_10, __i_ctime.tv_sec);
		key->ctime_nsec = BPF_CORE_READ(inode_6_10, __i_ctime.tv_nsec);
	} else {
		key->ctime_sec = BPF_CORE_READ(inode_6_5, i_ctime.tv_sec);
		key->ctime_nsec = BPF_CORE_READ(inode_6_5, i_ctime.tv_nsec);
	}
}

static __always_inline void key_of_file(struct file___h *file, struct hybrid_walk_key *key)
{
	struct inode___h *inode = BPF_CORE_READ(file, f_inode);

	key->inode = (__u64)inode;
	file_changed_at(inode, key);
}

struct vm_area_struct;

static long key_of_mapping(struct task_struct *task, struct vm_area_struct *vma, void *arg)
{
	struct file___h *file = BPF_CORE_READ((struct vm_area_struct___h *)vma, vm_file);

	if (file)
		key_of_file(file, arg);
	return 0;
}

/* Run by perf, for a mapping that it has made of a file. */
SEC("syscall")
int hybrid_file(struct hybrid_walk_file *asked)
{
	struct hybrid_walk_key key = {};
	long err;

	err = bpf_find_vma(bpf_get_current_task_btf(), asked->addr, key_of_mapping, &key, 0);
	asked->key = key;
	return err;
}

#endif /* __HYBRID_FILE_BPF_H */
