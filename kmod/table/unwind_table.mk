# SPDX-License-Identifier: GPL-2.0

obj-$(CONFIG_PERF_UNWIND_RULES) += perf_unwind_rules.o
perf_unwind_rules-y := table.o device.o limit.o rows.o rules.o
