# SPDX-License-Identifier: GPL-2.0

obj-y += unwind-user-code.o unwind-user-signal.o
obj-y += x86-frame.o x86-frame-look.o x86-frame-scan.o x86-frame-step.o x86-frame-cache.o
