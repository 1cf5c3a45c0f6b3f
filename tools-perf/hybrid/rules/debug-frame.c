// SPDX-License-Identifier: GPL-2.0
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <elfutils/libdwfl.h>
#include "debug-frame.h"
#include "object.h"

static char *debuginfo_path;

static bool has_debug_frame(int fd)
{
	Elf *elf = elf_begin(fd, ELF_C_READ, NULL);
	Elf_Scn *scn = NULL;
	bool found = false;
	size_t names;

	if (elf && !elf_getshdrstrndx(elf, &names)) {
		while (!found && (scn = elf_nextscn(elf, scn)) != NULL) {
			GElf_Shdr shdr;
			const char *name;

			if (!gelf_getshdr(scn, &shdr))
				break;
			name = elf_strptr(elf, names, shdr.sh_name);
			found = name && (!strcmp(name, ".debug_frame") ||
					 !strcmp(name, ".zdebug_frame"));
		}
	}
	elf_end(elf);
	return found;
}

/*
 * Debug files are large, most hold no .debug_frame, and libdw would unpack all
 * their sections: look before it does.
 */
static int find_debuginfo(Dwfl_Module *mod, void **userdata, const char *modname,
			  GElf_Addr base, const char *file, const char *link,
			  GElf_Word crc, char **name)
{
	int fd = dwfl_standard_find_debuginfo(mod, userdata, modname, base,
					      file, link, crc, name);

	if (fd >= 0 && !has_debug_frame(fd)) {
		close(fd);
		fd = -1;
	}
	return fd;
}

static const Dwfl_Callbacks callbacks = {
	.find_debuginfo		= find_debuginfo,
	.section_address	= dwfl_offline_section_address,
	.debuginfo_path		= &debuginfo_path,
};

/* Of a file that is elsewhere none is looked for beside it: that might block. */
static int find_none(Dwfl_Module *mod, void **userdata, const char *modname, GElf_Addr base,
		     const char *file, const char *link, GElf_Word crc, char **name)
{
	(void)mod, (void)userdata, (void)modname, (void)base;
	(void)file, (void)link, (void)crc, (void)name;
	return -1;
}

static const Dwfl_Callbacks callbacks_alone = {
	.find_debuginfo		= find_none,
	.section_address	= dwfl_offline_section_address,
};

void hybrid_debug_frame_open(struct hybrid_object *object)
{
	GElf_Addr bias, main_bias;
	Dwarf_CFI *cfi = NULL;
	Dwfl_Module *mod;
	Dwarf *dwarf;
	Dwfl *dwfl;
	int fd;

	object->debug_tried = true;
	dwfl = dwfl_begin(object->is_copy ? &callbacks_alone : &callbacks);
	if (!dwfl)
		return;
	fd = dup(object->fd);
	mod = fd < 0 ? NULL : dwfl_report_elf(dwfl, "object", object->ident.path, fd, 0, false);
	if (!mod && fd >= 0)
		close(fd);
	if (mod && !dwfl_report_end(dwfl, NULL, NULL) && dwfl_module_getelf(mod, &main_bias))
		cfi = dwfl_module_dwarf_cfi(mod, &bias);
	if (!cfi) {
		dwfl_end(dwfl);
		return;
	}
	object->cfi.debug = cfi;
	object->has_debug = true;
	object->cfi.debug_bias = bias - main_bias;
	object->dwfl = dwfl;
	dwarf = dwfl_module_getdwarf(mod, &bias);
	object->debug_elf = dwarf ? dwarf_getelf(dwarf) : NULL;
}

void hybrid_debug_frame_close(struct hybrid_object *object)
{
	object->cfi.debug = NULL;
	object->debug_elf = NULL;
	if (object->dwfl)
		dwfl_end(object->dwfl);
	object->dwfl = NULL;
}
