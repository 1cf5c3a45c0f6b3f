/* SPDX-License-Identifier: GPL-2.0 */
#ifndef SELFTESTS_FRAMES_ASM_H
#define SELFTESTS_FRAMES_ASM_H

void asm_plain(void);
void asm_push(void);
void asm_sub(void);
void asm_expression(void);

#endif
