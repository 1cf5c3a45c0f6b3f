// SPDX-License-Identifier: GPL-2.0
/* What the judge asks of a file: its code, functions, dynamic symbols, and GOT. */
#include <stdlib.h>
#include <string.h>

#include "object.h"

static struct object *objects;

static void *grown(void *array, size_t nr, size_t size)
{
	if (nr & (nr - 1))
		return array;
	array = realloc(array, (nr ? nr * 2 : 1) * size);
	if (!array)
		abort();
	return array;
}

static int by_start(const void *a, const void *b)
{
	const struct function *f = a, *g = b;

	return (f->start > g->start) - (f->start < g->start);
}

static void sort_functions(struct object *object)
{
	if (object->nr_functions)
		qsort(object->functions, object->nr_functions, sizeof(*object->functions),
		      by_start);
}

static void add_function(void *ctx, u64 start, u64 end)
{
	struct object *object = ctx;

	if (end <= start)
		return;
	object->functions = grown(object->functions, object->nr_functions,
				  sizeof(*object->functions));
	object->functions[object->nr_functions++] = (struct function) { start, end };
}

static void add_export(struct object *object, const GElf_Sym *sym, const char *name)
{
	int type = GELF_ST_TYPE(sym->st_info);
	/*
	 * Code that is linked to fixed addresses has its own linkage table's entry as the
	 * address of a function elsewhere, and so has every other file (psABI 5.2,
	 * "Function Addresses").
	 */
	bool entry = sym->st_shndx == SHN_UNDEF && sym->st_value && type == STT_FUNC;

	if ((sym->st_shndx == SHN_UNDEF && !entry) || !name ||
	    (type != STT_FUNC && type != STT_GNU_IFUNC && type != STT_NOTYPE))
		return;
	object->exports = grown(object->exports, object->nr_exports, sizeof(*object->exports));
	object->exports[object->nr_exports++] = (struct export) {
		.name	= name,
		.value	= sym->st_value,
		.chosen	= type == STT_GNU_IFUNC,
		.entry	= entry,
	};
}

static void add_exports(struct object *object, Elf_Scn *scn, const GElf_Shdr *shdr)
{
	Elf_Data *data = elf_getdata(scn, NULL);
	size_t i, nr = data && shdr->sh_entsize ? shdr->sh_size / shdr->sh_entsize : 0;
	GElf_Sym sym;

	for (i = 0; i < nr && gelf_getsym(data, i, &sym); i++)
		add_export(object, &sym,
			   elf_strptr(object->image.elf, shdr->sh_link, sym.st_name));
}

/* Functions that have a symbol and no unwind table; the tables are sorted by now. */
static void add_symbols(struct object *object, Elf_Scn *scn, const GElf_Shdr *shdr)
{
	Elf_Data *data = elf_getdata(scn, NULL);
	size_t i, nr = data && shdr->sh_entsize ? shdr->sh_size / shdr->sh_entsize : 0;
	size_t tables = object->nr_functions, after;
	GElf_Sym sym;

	for (i = 0; i < nr && gelf_getsym(data, i, &sym); i++) {
		if (GELF_ST_TYPE(sym.st_info) != STT_FUNC || sym.st_shndx == SHN_UNDEF)
			continue;
		after = object->nr_functions;
		object->nr_functions = tables;
		if (!object_function(object, sym.st_value)) {
			object->nr_functions = after;
			add_function(object, sym.st_value, sym.st_value + sym.st_size);
			after = object->nr_functions;
		}
		object->nr_functions = after;
	}
}

static void add_slot(struct object *object, const GElf_Rela *rela, Elf_Data *symbols,
		     const GElf_Shdr *symbols_shdr)
{
	struct slot slot = { .at = rela->r_offset };
	GElf_Sym sym;

	switch (GELF_R_TYPE(rela->r_info)) {
	case R_X86_64_JUMP_SLOT:
	case R_X86_64_GLOB_DAT:
		if (!symbols || !gelf_getsym(symbols, GELF_R_SYM(rela->r_info), &sym))
			return;
		slot.name = elf_strptr(object->image.elf, symbols_shdr->sh_link, sym.st_name);
		break;
	case R_X86_64_RELATIVE:
		slot.value = rela->r_addend;
		break;
	default:
		return;
	}
	object->slots = grown(object->slots, object->nr_slots, sizeof(*object->slots));
	object->slots[object->nr_slots++] = slot;
}

static void add_slots(struct object *object, Elf_Scn *scn, const GElf_Shdr *shdr)
{
	Elf_Scn *symbols_scn = elf_getscn(object->image.elf, shdr->sh_link);
	Elf_Data *data = elf_getdata(scn, NULL), *symbols = NULL;
	size_t i, nr = data && shdr->sh_entsize ? shdr->sh_size / shdr->sh_entsize : 0;
	GElf_Shdr symbols_shdr = {};
	GElf_Rela rela;

	if (symbols_scn && shdr->sh_link && gelf_getshdr(symbols_scn, &symbols_shdr))
		symbols = elf_getdata(symbols_scn, NULL);
	for (i = 0; i < nr && gelf_getrela(data, i, &rela); i++)
		add_slot(object, &rela, symbols, &symbols_shdr);
}

static int by_name(const void *a, const void *b)
{
	return strcmp(((const struct export *)a)->name, ((const struct export *)b)->name);
}

static int by_place(const void *a, const void *b)
{
	const struct slot *s = a, *t = b;

	return (s->at > t->at) - (s->at < t->at);
}

/* A relative relocation elsewhere is a variable's, which the program may change. */
static void keep_got(struct object *object, const struct function *gots, int nr_gots)
{
	size_t i, kept = 0;
	int g;

	for (i = 0; i < object->nr_slots; i++) {
		for (g = 0; g < nr_gots; g++) {
			if (object->slots[i].at >= gots[g].start &&
			    object->slots[i].at < gots[g].end)
				break;
		}
		if (g < nr_gots || object->slots[i].name)
			object->slots[kept++] = object->slots[i];
	}
	object->nr_slots = kept;
}

static void read_sections(struct object *object)
{
	struct function gots[4];
	Elf_Scn *scn = NULL;
	GElf_Shdr shdr;
	size_t names;
	int nr = 0;

	if (elf_getshdrstrndx(object->image.elf, &names))
		return;
	while ((scn = elf_nextscn(object->image.elf, scn))) {
		const char *name;

		if (!gelf_getshdr(scn, &shdr))
			continue;
		name = elf_strptr(object->image.elf, names, shdr.sh_name);
		if (shdr.sh_type == SHT_SYMTAB)
			add_symbols(object, scn, &shdr);
		if (shdr.sh_type == SHT_DYNSYM)
			add_exports(object, scn, &shdr);
		else if (shdr.sh_type == SHT_RELA && shdr.sh_flags & SHF_ALLOC)
			add_slots(object, scn, &shdr);
		else if (name && !strncmp(name, ".got", 4) && nr < 4)
			gots[nr++] = (struct function) { shdr.sh_addr,
							 shdr.sh_addr + shdr.sh_size };
		else if (name && !strcmp(name, ".gcc_except_table"))
			object->has_landing = true;
		/* A PIE that gcc links, and that is stripped, has no section for the table. */
		else if (name && (strstr(name, "gopclntab") || !strcmp(name, ".go.buildinfo")))
			object->is_go = true;
	}
	keep_got(object, gots, nr);
}

static void open_object(struct object *object)
{
	const char *name = strrchr(object->path, '/');
	GElf_Ehdr ehdr;

	if (!name || elf_image_open(&object->image, object->path))
		return;
	object->readable = true;
	object->is_loader = !strncmp(name, "/ld-", 4);
	if (gelf_getehdr(object->image.elf, &ehdr))
		object->entry = ehdr.e_entry;
	cfi_rows_walk(&object->rows, &object->image, add_function, object);
	sort_functions(object);
	read_sections(object);
	sort_functions(object);
	if (object->nr_exports)
		qsort(object->exports, object->nr_exports, sizeof(*object->exports), by_name);
	if (object->nr_slots)
		qsort(object->slots, object->nr_slots, sizeof(*object->slots), by_place);
}

struct object *object_find(const char *path)
{
	struct object *object;

	for (object = objects; object; object = object->next) {
		if (!strcmp(object->path, path))
			return object;
	}
	object = calloc(1, sizeof(*object));
	if (!object)
		abort();
	object->path = strdup(path);
	object->next = objects;
	objects = object;
	open_object(object);
	return object;
}

struct object *object_first(void)
{
	return objects;
}

bool object_is_code(const struct object *object, u64 addr)
{
	GElf_Phdr phdr;
	size_t i, nr;

	if (elf_getphdrnum(object->image.elf, &nr))
		return false;
	for (i = 0; i < nr; i++) {
		if (gelf_getphdr(object->image.elf, i, &phdr) && phdr.p_type == PT_LOAD &&
		    phdr.p_flags & PF_X && addr >= phdr.p_vaddr &&
		    addr - phdr.p_vaddr < phdr.p_memsz)
			return true;
	}
	return false;
}

const u8 *object_bytes(const struct object *object, u64 addr, u64 size)
{
	u64 off = addr - object->image.base;

	if (off >= object->image.size || object->image.size - off < size)
		return NULL;
	return object->image.bytes + off;
}

/* Index of the first function that begins behind an address. */
static size_t behind(const struct object *object, u64 addr)
{
	size_t low = 0, high = object->nr_functions;

	while (low < high) {
		size_t mid = low + (high - low) / 2;

		if (object->functions[mid].start <= addr)
			low = mid + 1;
		else
			high = mid;
	}
	return low;
}

const struct function *object_function(const struct object *object, u64 addr)
{
	size_t i = behind(object, addr);

	return i && addr < object->functions[i - 1].end ? &object->functions[i - 1] : NULL;
}

bool object_is_outermost(struct object *object, u64 addr)
{
	struct truth row = {};

	return object->rows.cfi && truth_at(&object->rows, addr, &row) && row.kind == TRUTH_NONE;
}

const struct function *object_function_behind(const struct object *object, u64 addr)
{
	size_t i = behind(object, addr);

	return i < object->nr_functions ? &object->functions[i] : NULL;
}

const struct export *object_export(const struct object *object, const char *name)
{
	struct export key = { .name = name }, *found;

	if (!object->nr_exports)
		return NULL;
	found = bsearch(&key, object->exports, object->nr_exports, sizeof(key), by_name);
	while (found && found > object->exports && !strcmp(found[-1].name, name))
		found--;
	return found;
}

const struct slot *object_slot(const struct object *object, u64 at)
{
	struct slot key = { .at = at };

	if (!object->nr_slots)
		return NULL;
	return bsearch(&key, object->slots, object->nr_slots, sizeof(key), by_place);
}
