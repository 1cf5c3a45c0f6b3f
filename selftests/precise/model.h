/* SPDX-License-Identifier: GPL-2.0 */
#ifndef _MODEL_H
#define _MODEL_H

#include <linux/kernel.h>

/* Of what moments a sample's parts are. */
enum model_kind {
	MODEL_SAME,	/* all of one: cpu-clock */
	MODEL_SKID,	/* ip early, all else at the interrupt: IBS, PEBS before Ice Lake */
	MODEL_RETIRED,	/* registers behind the instruction at ip, stack at the interrupt */
	MODEL_KERNEL,	/* ip early, the interrupt in a system call: registers of the kernel */
};

/**
 * struct model - samples of one kind, in a file of their own
 * @name:	of the file
 * @kind:	enum model_kind
 * @later:	instructions between ip and the interrupt; RETIRED: from the one behind ip;
 *		KERNEL: at most
 * @precise:	the event's precise_ip
 * @cpuid:	of the processor, as a file's header has it
 */
struct model {
	const char	*name;
	enum model_kind	 kind;
	unsigned int	 later;
	unsigned int	 precise;
	const char	*cpuid;
};

#define MODEL_AMD	"AuthenticAMD,25,1,1"
#define MODEL_SKYLAKE	"GenuineIntel,6,85,4"
#define MODEL_ICELAKE	"GenuineIntel,6,106,6"

static const struct model models[] = {
	{ "same",	MODEL_SAME,	 0, 0, MODEL_AMD },
	{ "ibs-0",	MODEL_SKID,	 0, 2, MODEL_AMD },
	{ "ibs-1",	MODEL_SKID,	 1, 2, MODEL_AMD },
	{ "ibs-5",	MODEL_SKID,	 5, 2, MODEL_AMD },
	{ "pebs-20",	MODEL_SKID,	20, 3, MODEL_SKYLAKE },
	{ "ibs-50",	MODEL_SKID,	50, 2, MODEL_AMD },
	{ "adaptive-0",	MODEL_RETIRED,	 0, 3, MODEL_ICELAKE },
	{ "adaptive-2",	MODEL_RETIRED,	 2, 3, MODEL_ICELAKE },
	{ "adaptive-10", MODEL_RETIRED,	10, 3, MODEL_ICELAKE },
	{ "adaptive-50", MODEL_RETIRED,	50, 3, MODEL_ICELAKE },
	{ "kernel",	MODEL_KERNEL,	20, 2, MODEL_AMD },
};

#define MODELS	ARRAY_SIZE(models)

#endif
