// SPDX-License-Identifier: GPL-2.0
/*
 * Where a process begins: the code at the ELF header's entry has no caller, and in
 * the dynamic linker no CFI that would say so.
 */
#include <gelf.h>
#include <string.h>
#include <unistd.h>
#include <linux/kernel.h>
#include <asm/insn.h>
#include "../rules/elf-bounds.h"
#include "../rules/object.h"
#include "entry.h"

/* Of code at the entry; what is longer does more than to begin. */
#define MAX_ENTRY	64

struct entry_code {
	u8		bytes[MAX_ENTRY + MAX_INSN_SIZE];
	unsigned int	nr;
	bool		is_64;
};

/*
 * It finds the stack as the kernel made it, and begins by looking at that, or by
 * clearing the frame pointer. (Of a library, which has none, the field may say
 * anything.)
 */
static bool is_entry(const struct entry_code *code)
{
	static const u8 endbr[] = { 0xf3, 0x0f, 0x1e }, from_sp[] = { 0x48, 0x89, 0xe7 };
	static const u8 clear_64[] = { 0x48, 0x31, 0xed }, clear[] = { 0x31, 0xed };
	static const u8 from_sp_32[] = { 0x89, 0xe0 };
	const u8 *at = code->bytes;

	if (code->nr < 8)
		return false;
	if (!memcmp(at, endbr, sizeof(endbr)))
		at += 4;
	if (!memcmp(at, clear, sizeof(clear)))
		return true;
	if (!code->is_64)
		return !memcmp(at, from_sp_32, sizeof(from_sp_32));
	return !memcmp(at, from_sp, sizeof(from_sp)) || !memcmp(at, clear_64, sizeof(clear_64));
}

/* jmp, ret, hlt, ud2; a system call, as what ends the process is one. */
static bool never_goes_on(const struct insn *insn)
{
	u8 op = insn->opcode.bytes[0], second = insn->opcode.bytes[1];

	switch (op) {
	case 0xc2: case 0xc3: case 0xcc: case 0xcd: case 0xe9: case 0xeb: case 0xf4:
		return true;
	case 0xff:
		return X86_MODRM_REG(insn->modrm.value) == 4;
	case 0x0f:
		return second == 0x05 || second == 0x0b || second == 0x34;
	default:
		return false;
	}
}

static bool is_call(const struct insn *insn)
{
	return insn->opcode.bytes[0] == 0xe8 ||
	       (insn->opcode.bytes[0] == 0xff && X86_MODRM_REG(insn->modrm.value) == 2);
}

/* Copies eax or rax to another register: what was called before has returned. */
static bool takes_result(const struct insn *insn)
{
	return insn->opcode.bytes[0] == 0x89 && X86_MODRM_MOD(insn->modrm.value) == 3 &&
	       X86_MODRM_REG(insn->modrm.value) == 0 && !X86_REX_R(insn->rex_prefix.value);
}

/*
 * Up to where the code does not go on, or to the first call's return: behind a call
 * that never returns another function may stand. But where the code takes what the
 * call returned, it is the entry's still.
 */
static unsigned int straight_size(const struct entry_code *code)
{
	unsigned int at = 0, left;
	bool called = false;
	struct insn insn;

	while (at < MAX_ENTRY && at < code->nr) {
		left = min(code->nr - at, (unsigned int)MAX_INSN_SIZE);
		if (insn_decode(&insn, code->bytes + at, left,
				code->is_64 ? INSN_MODE_64 : INSN_MODE_32))
			break;
		if (called && !takes_result(&insn))
			break;
		called = is_call(&insn);
		at += insn.length;
		if (never_goes_on(&insn))
			break;
	}
	return at;
}

/* Up to the next symbol, where the file still has any. */
static u64 before_symbols(struct hybrid_object *object, u64 entry, u64 size)
{
	Elf_Scn *scn = NULL;
	Elf_Data *data;
	GElf_Shdr shdr;
	GElf_Sym sym;
	size_t i;

	while ((scn = elf_nextscn(object->elf, scn))) {
		if (!gelf_getshdr(scn, &shdr) ||
		    (shdr.sh_type != SHT_SYMTAB && shdr.sh_type != SHT_DYNSYM) || !shdr.sh_entsize)
			continue;
		data = hybrid_object_section(object, elf_ndxscn(scn));
		for (i = 0; data && i < data->d_size / shdr.sh_entsize; i++) {
			if (gelf_getsym(data, i, &sym) && sym.st_shndx != SHN_UNDEF &&
			    GELF_ST_TYPE(sym.st_info) == STT_FUNC && sym.st_value > entry &&
			    sym.st_value - entry < size)
				size = sym.st_value - entry;
		}
	}
	return size;
}

u64 hybrid_entry_size(struct hybrid_object *object)
{
	struct entry_code code = { .is_64 = object->cfi.abi->word == 8 };
	ssize_t got;
	u64 offset;

	if (object->entry_tried)
		return object->entry_size;
	object->entry_tried = true;
	object->entry_size = 0;
	if (!hybrid_object_offset(object, object->entry, &offset))
		return 0;
	got = hybrid_object_read(object, code.bytes, sizeof(code.bytes), offset);
	code.nr = got > 0 ? got : 0;
	if (is_entry(&code))
		object->entry_size = before_symbols(object, object->entry, straight_size(&code));
	return object->entry_size;
}
