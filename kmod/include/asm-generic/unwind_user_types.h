/* SPDX-License-Identifier: GPL-2.0 */
#ifndef _ASM_GENERIC_UNWIND_USER_TYPES_H
#define _ASM_GENERIC_UNWIND_USER_TYPES_H

/* Nothing that only this architecture's steps need. */
struct arch_unwind_user_state {};

#endif /* _ASM_GENERIC_UNWIND_USER_TYPES_H */
