// SPDX-License-Identifier: GPL-2.0
/*
 * The rules of code that no file has, for the BPF program.
 */
#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include "util/hybrid/bpf_skel/hybrid_walk.skel.h"
#include "bpf-private.h"

/* Where there is no room the kernel forgets what was not used for longest. */
int hybrid_bpf__put_code(void *store, const struct hybrid_walk_code_key *key,
			 const struct hybrid_walk_code *code)
{
	struct hybrid_bpf *bpf = store;

	if (code->proof.hash == HYBRID_WALK_FIBER)
		bpf->skel->bss->any_fibers = 1;
	return bpf_map__update_elem(bpf->skel->maps.codes, key, sizeof(*key), code, sizeof(*code),
				    BPF_ANY);
}

int hybrid_bpf__put_block(void *store, const struct hybrid_walk_code_key *key,
			  const struct hybrid_walk_block *block)
{
	struct hybrid_bpf *bpf = store;

	return bpf_map__update_elem(bpf->skel->maps.code_blocks, key, sizeof(*key), block,
				    sizeof(*block), BPF_ANY);
}

int hybrid_bpf__put_range(void *store, const struct hybrid_walk_code_key *key,
			  const struct hybrid_walk_range *range)
{
	struct hybrid_bpf *bpf = store;

	return bpf_map__update_elem(bpf->skel->maps.ranges, key, sizeof(*key), range,
				    sizeof(*range), BPF_ANY);
}

int hybrid_bpf__put_compiled(void *store, const struct hybrid_walk_compiled *compiled)
{
	struct hybrid_bpf *bpf = store;
	int err = bpf_map__update_elem(bpf->skel->maps.compiled, &compiled->space,
				       sizeof(compiled->space), compiled, sizeof(*compiled),
				       BPF_ANY);

	/* Each CPU's program looks it up again then. */
	if (!err)
		__atomic_add_fetch(&bpf->skel->bss->compiled_changes, 1, __ATOMIC_RELEASE);
	return err;
}
