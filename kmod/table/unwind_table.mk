# SPDX-License-Identifier: GPL-2.0

obj-$(CONFIG_PERF_UNWIND_RULES) += perf_unwind_rules.o
perf_unwind_rules-y := device.o limit.o objects.o rows.o rules.o table.o
