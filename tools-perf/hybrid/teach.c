// SPDX-License-Identifier: GPL-2.0
/*
 * Who is taught: the kernel's store, or the table of the BPF program. perf record and perf
 * top have the same.
 */
#include <unistd.h>
#include "../debug.h"
#include "bpf.h"
#include "events.h"
#include "store/compiler.h"
#include "store/store.h"
#include "teach.h"

void hybrid_teaching__attach(struct hybrid_teaching *teaching, struct evlist *evlist)
{
	teaching->bpf = hybrid_bpf__attach(evlist);
	teaching->store = hybrid_record__kernel_asked() && !teaching->bpf ?
		hybrid_store__open(evlist) : -1;
	teaching->compiler = NULL;
}

void hybrid_teaching__start(struct hybrid_teaching *teaching, struct hybrid_objects *objects)
{
	if (teaching->bpf)
		teaching->compiler = hybrid_compiler_new(objects, hybrid_bpf__ops(),
							 teaching->bpf);
	else if (teaching->store >= 0)
		teaching->compiler = hybrid_compiler_new(objects, &hybrid_store_ops,
							 &teaching->store);
	else
		return;
	if (teaching->compiler && !hybrid_compiler_start(teaching->compiler))
		return;
	pr_debug("hybrid: the kernel is taught nothing: no thread to do it\n");
	hybrid_compiler_delete(teaching->compiler);
	teaching->compiler = NULL;
}

void hybrid_teaching__exit(struct hybrid_teaching *teaching)
{
	hybrid_compiler_delete(teaching->compiler);
	hybrid_bpf__delete(teaching->bpf);
	if (teaching->store >= 0)
		close(teaching->store);
}
