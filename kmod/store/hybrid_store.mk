# SPDX-License-Identifier: GPL-2.0

obj-$(CONFIG_PERF_HYBRID) += perf_hybrid.o
perf_hybrid-y := store.o store-device.o store-limit.o store-rows.o store-rules.o
