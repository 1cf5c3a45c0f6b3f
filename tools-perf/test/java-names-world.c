// SPDX-License-Identifier: GPL-2.0
#include <string.h>
#include <unistd.h>
#include "java-names-world.h"
#include "tap.h"

#define COMPILED	0x1000
#define FILE_NAME	"org/example/Main.java"
#define CODE_SIZE	64

struct named_world named;

static const struct hybrid_name_line lines[] = { { 0, 10 }, { 3, 11 }, { 9, 300 } };

/* The same lines as HotSpot packs them: two short entries, a long one, and what follows the end. */
static const u8 new_lines[] = { 0xff, 1, 21, 3 << 3 | 1, 0xff, 13, 0xc3, 7, 0, 1 << 3 | 2 };
static const u8 old_lines[] = { 0xff, 0, 20, 3 << 3 | 1, 0xff, 12, 0xc2, 6, 0, 1 << 3 | 2 };

/* They end with a long entry whose number has a byte that no number has. */
static const u8 bad_lines[] = { 0xff, 1, 21, 3 << 3 | 1, 0xff, 13, 0xc3, 7, 0xff, 0, 1 << 3 | 2 };

static void add_fields(void)
{
	java_add_field("Method", "_constMethod", "ConstMethod*", offsetof(struct named_method, m));
	java_add_field("ConstMethod", "_constants", "ConstantPool*",
		       offsetof(struct named_const_method, pool));
	java_add_field("ConstMethod", named.version < 20 ? "_flags" : "_flags._flags", "u4",
		       offsetof(struct named_const_method, flags));
	java_add_field("ConstMethod", "_code_size", "u2",
		       offsetof(struct named_const_method, code_size));
	java_add_field("ConstMethod", "_name_index", "u2",
		       offsetof(struct named_const_method, name));
	java_add_field("ConstMethod", "_constMethod_size", "int",
		       offsetof(struct named_const_method, size));
	java_add_field("ConstantPool", "_pool_holder", "InstanceKlass*",
		       offsetof(struct named_pool, holder));
	java_add_field("ConstantPool", "_length", "int", offsetof(struct named_pool, length));
	java_add_field("ConstantPool", "_source_file_name_index", "u2",
		       offsetof(struct named_pool, source));
	java_add_field("Klass", "_name", "Symbol*", offsetof(struct named_klass, name));
	java_add_field("Symbol", "_length", "u2", offsetof(struct named_symbol, length));
	java_add_field("Symbol", "_body", NULL, offsetof(struct named_symbol, body));
	java_add_field("PcDesc", "_pc_offset", "int", offsetof(struct named_desc, pc));
	java_add_field("PcDesc", "_scope_decode_offset", "int", offsetof(struct named_desc, scope));
	java_add_static("Abstract_VM_Version", "_vm_major_version", &named.version);
	java_add_type("ConstMethod", sizeof(struct named_const_method));
	java_add_type("ConstantPool", offsetof(struct named_pool, entries));
	java_add_type("PcDesc", sizeof(struct named_desc));
	java_add_int("ConstMethod::_has_linenumber_table", 1);
}

#define TAIL(field)	(sizeof(struct java_test_blob) + CODE_SIZE + \
			 offsetof(struct named_tail, field))

static void add_layout(void)
{
	java_add_field("nmethod", "_scopes_pcs_offset", "int", TAIL(pcs));
	if (named.version < 20) {
		java_add_field("CompiledMethod", "_scopes_data_begin", "address",
			       TAIL(scopes_data));
		java_add_field("nmethod", "_dependencies_offset", "int", TAIL(dependencies));
		java_add_field("nmethod", "_metadata_offset", "int", TAIL(metadata));
		return;
	}
	java_add_field("nmethod", "_scopes_data_offset", "int", TAIL(data));
	java_add_field("nmethod", "_immutable_data", "address", TAIL(immutable));
	java_add_field("nmethod", "_immutable_data_size", "int", TAIL(immutable_size));
	java_add_field("CodeBlob", "_mutable_data", "address", TAIL(mutable));
	java_add_field("CodeBlob", "_mutable_data_size", "int", TAIL(mutable_size));
	java_add_field("CodeBlob", "_relocation_size", "int", TAIL(relocation_size));
}

static struct named_symbol *symbol(unsigned int i, const char *text)
{
	named.symbols[i].length = strlen(text);
	memcpy(named.symbols[i].body, text, strlen(text));
	return &named.symbols[i];
}

/* org.example.Main.zero(), one() and two(), whose code is @size bytes each. */
static void add_methods(u16 size)
{
	const u8 *table = named.version < 20 ? old_lines : new_lines;
	unsigned int i;

	named.klass.name = symbol(0, "org/example/Main");
	named.pool = (struct named_pool) {
		.holder = &named.klass, .length = 8, .source = 4,
		.entries = { NULL, symbol(1, "zero"), symbol(2, "one"), symbol(3, "two"),
			     symbol(4, "Main.java") },
	};
	for (i = 0; i < 3; i++) {
		named.bodies[i].m = (struct named_const_method) {
			.pool = &named.pool, .size = sizeof(named.bodies[i]) / 8, .flags = 1,
			.code_size = size, .name = i + 1,
		};
		memcpy(named.bodies[i].bytes + size, table, sizeof(new_lines));
		named.methods[i].m = &named.bodies[i];
	}
	if (named.version >= 20)
		memcpy(named.bodies[2].bytes + size, bad_lines, sizeof(bad_lines));
}

/* The scopes' numbers begin one higher since JDK 20, so that no byte is 0. */
static void add_scopes(void)
{
	/* The first byte is no scope. One: around it nothing, method 1, bytecode 2. */
	static const u8 scopes[] = {
		0,
		0, 1, 2 + 1,		/* at 1: zero(), place 2 */
		1, 2, 3 + 1,		/* at 4: one(), place 3, in that */
		4, 3, 0,		/* at 7: two(), where it begins, in that */
		10, 1, 1,		/* at 10: zero(), in itself */
		0, 9, 1,		/* at 13: a method that there is not */
	};
	unsigned int i;

	for (i = 1; i < sizeof(scopes); i++)
		named.data->scopes[i] = scopes[i] + (named.version >= 20);
	memcpy(named.data->pcs, (struct named_desc[5]) {
		{ -1, 0, 0, 0 }, { 10, 1, 0, 0 }, { 20, 7, 0, 0 }, { 30, 10, 0, 0 },
		{ 40, 13, 0, 0 },
	}, sizeof(named.data->pcs));
	for (i = 0; i < 3; i++)
		named.data->metadata[i] = &named.methods[i];
}

static void add_compiled(void)
{
	u8 code[CODE_SIZE + sizeof(struct named_tail) + sizeof(struct named_data)];
	u64 blob = JAVA_CODE + COMPILED + 8;
	struct java_test_blob *added;

	memset(code, 0x90, sizeof(code));
	added = java_add(COMPILED, "nmethod", code, sizeof(code));
	added->method = (u64)&named.methods[0];
	added->complete = 4;
	named.tail = (void *)added->code + CODE_SIZE;
	named.data = named.version < 20 ? (void *)(named.tail + 1) : &named.outside;
	memset(named.data, 0, sizeof(*named.data));
	*named.tail = (struct named_tail) {
		.scopes_data = (u64)named.data->scopes,
		.immutable = (u64)named.data->pcs, .mutable = (u64)named.data,
		.data = sizeof(named.data->pcs),
		.immutable_size = sizeof(named.data->pcs) + sizeof(named.data->scopes),
		.mutable_size = offsetof(struct named_data, pcs),
		.relocation_size = sizeof(named.data->relocation),
	};
	if (named.version < 20) {
		/* There the scopes come first. */
		named.tail->scopes_data = (u64)named.data->pcs;
		named.tail->metadata = (u64)named.data->metadata - blob;
		named.tail->pcs = (u64)named.data->scopes - blob;
		named.tail->dependencies = named.tail->pcs + sizeof(named.data->pcs);
	}
	add_scopes();
}

/* In JDK 17 and 21 the descriptions stand behind the scopes. */
static void swap_parts(void)
{
	u8 scopes[64];
	struct named_desc pcs[5];

	if (named.version >= 20)
		return;
	memcpy(scopes, named.data->scopes, sizeof(scopes));
	memcpy(pcs, named.data->pcs, sizeof(pcs));
	memcpy(named.data->pcs, scopes, sizeof(scopes));
	memcpy((u8 *)named.data->pcs + sizeof(scopes), pcs, sizeof(pcs));
	named.tail->pcs = (u64)named.data->pcs + sizeof(scopes) - (JAVA_CODE + COMPILED + 8);
	named.tail->dependencies = named.tail->pcs + sizeof(pcs);
}

void named_begin(u32 jdk)
{
	named.version = jdk;
	java_begin();
	add_fields();
	add_layout();
	add_methods(12);
	add_compiled();
	swap_parts();
	java_add_interpreter(NAMED_INTERPRETER);
	memset(&named.quota, 0, sizeof(named.quota));
	named.names = hybrid_names__new(HYBRID_LANGUAGE_JAVA);
}

void named_end(void)
{
	hybrid_names__delete(named.names);
	java_end();
}

unsigned int named_frame(u64 ip, u64 method, u64 position, u64 *out)
{
	const struct hybrid_frame frame = {
		.ip = ip, .ret = ip, .function = method, .position = position,
	};
	struct hybrid_namer *namer;

	java_pass();
	java_unwind(ip);
	namer = hybrid_runtime_namer(java.unwinder.runtimes, getpid(), 0, java.u.space, false);
	return check(namer) ? namer->name(namer, named.names, &frame, ip, out,
					  HYBRID_NAMES_OF_FRAME) : 0;
}

u64 named_function(const char *method, u32 bci)
{
	const struct hybrid_function f = {
		.name = method, .file = FILE_NAME, .size = 12, .lines = lines, .nr_lines = 3,
	};

	return hybrid_names_ip(hybrid_names__function(named.names, &named.quota, &f), f.size, bci);
}

u64 named_compiled(unsigned int at)
{
	return java_code_at(COMPILED) + at;
}
