/* SPDX-License-Identifier: (GPL-2.0-only OR BSD-2-Clause) */
#ifndef __HYBRID_PERL_OBJECT_H
#define __HYBRID_PERL_OBJECT_H

/*
 * Values, subs and statements of Perl, as 5.36 to 5.42 have them on x86-64: what BPF and perf read
 * of them, in bytes.
 */

/* sv.h: of any value its flags, 32 bits. */
#define PERL_SV_FLAGS		12

/* cv.h: in the body of a sub; its flags are 32 bits: that it has a name of its own. */
#define PERL_CV_STASH		32
#define PERL_CV_START		40
#define PERL_CV_ROOT		48
#define PERL_CV_NAMED		56
#define PERL_CV_FILE		64
#define PERL_CV_FLAGS		92
#define PERL_CV_IS_NAMED	0x8000

/* gv.h: in the body of what has a name: that, and its package. */
#define PERL_GV_NAME		32
#define PERL_GV_STASH		40

/* hv.h: of a package: that it has a name, or several; in its body; in a name. */
#define PERL_HV_HAS_NAME	0x02000000
#define PERL_HV_NAME		32
#define PERL_HV_NR_NAMES	60
#define PERL_NAME_LENGTH	4
#define PERL_NAME_TEXT		8

/* op.h and cop.h: below an operation; in a statement: its line, and its file. */
#define PERL_OP_FIRST		40
#define PERL_COP_LINE		36
#define PERL_COP_FILE		48

#endif /* __HYBRID_PERL_OBJECT_H */
