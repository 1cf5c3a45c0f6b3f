# SPDX-License-Identifier: GPL-2.0

obj-y += unwind-user-code.o unwind-user-rules.o unwind-user-signal.o
obj-y += x86-frame.o x86-frame-decode.o x86-frame-step.o
obj-y += x86-frame-path.o x86-frame-scan.o x86-frame-cache.o
