/* SPDX-License-Identifier: GPL-2.0 */
/* For kernels that have none; what is used of it is in ../../compat.h. */
