/* SPDX-License-Identifier: (GPL-2.0-only OR BSD-2-Clause) */
#ifndef __HYBRID_SIGNAL_FRAME_H
#define __HYBRID_SIGNAL_FRAME_H

/*
 * Where a signal frame of 64 bit has what it interrupted: offsets in bytes from its struct
 * ucontext, at which sp is when the handler has returned. struct sigcontext_64 in
 * arch/x86/include/uapi/asm/sigcontext.h; include/uapi/asm-generic/ucontext.h.
 */
#define HYBRID_UCONTEXT_LINK	8
#define HYBRID_UCONTEXT_BP	120
#define HYBRID_UCONTEXT_SP	160
#define HYBRID_UCONTEXT_IP	168
#define HYBRID_UCONTEXT_CS	184

/* Its first word, uc_flags, is less: see arch/x86/include/uapi/asm/ucontext.h. */
#define HYBRID_UCONTEXT_FLAGS	8

/* __USER_CS, the code segment of 64-bit programs: arch/x86/include/asm/segment.h. */
#define HYBRID_USER_CS		0x33

#endif /* __HYBRID_SIGNAL_FRAME_H */
