// SPDX-License-Identifier: GPL-2.0
#include <string.h>
#include <unistd.h>
#include "elf-file.h"
#include "own-memory.h"
#include "tap.h"

struct own_memory own;

void own_begin(void)
{
	pid_t pid = getpid();

	/* Whatever was there before. */
	memset(&own.ps, 0xa5, sizeof(own.ps));
	hybrid_processes_init(&own.ps, elf_file_open);
	elf_file_map(&own.ps, pid, "jvm.so", 0x40000000);
	own.memory = hybrid_memory_new();
	own.pm = (struct hybrid_process_memory) {
		.memory = own.memory, .objects = &own.ps.objects, .pid = pid,
		.space = hybrid_thread_find(&own.ps, pid, pid)->process->space,
	};
	check(!hybrid_process_memory_map(&own.pm));
}

void own_end(void)
{
	hybrid_process_memory_exit(&own.pm);
	hybrid_memory_delete(own.memory);
	hybrid_processes_exit(&own.ps);
}
