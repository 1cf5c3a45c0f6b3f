# SPDX-License-Identifier: GPL-2.0

obj-y += unwind_user_code.o unwind_user_rules.o unwind_user_signal.o unwind_user_vdso.o
obj-y += x86_frame.o x86_frame_decode.o x86_frame_step.o
obj-y += x86_frame_path.o x86_frame_scan.o x86_frame_cache.o
obj-$(CONFIG_X86_UNWIND_USER_CODE_KUNIT_TEST) += x86_frame_test.o
