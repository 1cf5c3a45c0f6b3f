// SPDX-License-Identifier: GPL-2.0
/* Does the call in a caller lead to what runs inside of it? */
#include <string.h>

#include "code.h"
#include "verdict.h"

/* A function that jumps to another file's, that jumps on, and so on. */
#define MAX_JUMPS	4

/* Of the code at an entry without a table: what is longer does more than to begin. */
#define ENTRY_SIZE	64

static enum verdict leads(struct object *object, u64 from, const struct frame *callee,
			  u64 addr, int left);

/* An entry of a procedure linkage table; where it jumps to, the name's other files say. */
static enum verdict leads_to_entry(struct object *object, u64 entry,
				   const struct frame *callee, u64 addr)
{
	if (object == callee->object && code_reaches(object, code_reach(object, entry), addr))
		return SHOWN;
	return REFUTED;
}

/* Of all definitions of a name in one file. */
static enum verdict leads_by(struct object *object, const char *name,
			     const struct frame *callee, u64 addr, int left)
{
	const struct export *export = object_export(object, name);
	const struct export *end = object->exports + object->nr_exports;
	enum verdict found = REFUTED, one;

	for (; export < end && !strcmp(export->name, name); export++) {
		if (export->entry)
			one = leads_to_entry(object, export->value, callee, addr);
		else if (export->chosen)
			one = UNKNOWN;
		else
			one = leads(object, export->value, callee, addr, left - 1);
		if (one < found)
			found = one;
	}
	return found;
}

/* The loader takes the first file that has the name; which, is not known here. */
static enum verdict leads_by_name(const char *name, const struct frame *callee, u64 addr,
				  int left)
{
	enum verdict found = REFUTED, one;
	const struct export *export;
	struct object *object;
	bool defined = false;

	/* It may be the first call: then the loader looks for the name. */
	if (!left || callee->object->is_loader)
		return UNKNOWN;
	for (object = object_first(); object; object = object->next) {
		export = object->readable ? object_export(object, name) : NULL;
		if (!export)
			continue;
		if (!export->entry)
			defined = true;
		one = leads_by(object, name, callee, addr, left);
		if (one < found)
			found = one;
	}
	return defined || found == SHOWN ? found : UNKNOWN;
}

/* Landing pads stand in functions of their own, and no jump leads there. */
static bool may_land(const struct object *object)
{
	return object->has_landing;
}

static enum verdict leads(struct object *object, u64 from, const struct frame *callee,
			  u64 addr, int left)
{
	const struct reach *reach = code_reach(object, from);
	enum verdict found = reach->open ? UNKNOWN : REFUTED, one;
	size_t i;

	if (object == callee->object && code_reaches(object, reach, addr))
		return SHOWN;
	if (object == callee->object && may_land(object) && strstr(callee->symbol, ".cold"))
		found = UNKNOWN;
	for (i = 0; i < reach->nr_names && found != SHOWN; i++) {
		one = leads_by_name(reach->names[i], callee, addr, left);
		if (one < found)
			found = one;
	}
	return found;
}

/*
 * Go's linker begins functions at multiples of 32, with int3 between them. goexit() is
 * nop; call; nop: goroutines return to the call, which nothing else would make of it.
 */
static bool is_goexit(const struct frame *frame)
{
	const u8 *code;

	if (!strncmp(frame->symbol, "runtime.goexit", 14))
		return true;
	if (!frame->mapped || !frame->object->readable || frame->addr % 32)
		return false;
	code = object_bytes(frame->object, frame->addr, 8);
	return code && code[0] == 0x90 && code[1] == 0xe8 && code[6] == 0x90 && code[7] == 0xcc;
}

/* And without symbols these are all that tells where one begins. */
static bool is_go_begin(const struct frame *frame)
{
	const u8 *code = object_bytes(frame->object, frame->addr, 1);

	return code && code[0] == 0xcc && (frame->addr + 1) % 32 == 0;
}

/*
 * What called asmcgocall() is cgocallback()'s caller by an address that the runtime has put
 * there for it: eight bytes into systemstack_switch(), from Go 1.20 on. That begins with
 * push %rbp; mov %rsp,%rbp; ud2, from Go 1.26 on with a nop of four bytes before the last.
 */
static bool is_systemstack_switch(const struct frame *frame)
{
	static const u8 begin[] = { 0x55, 0x48, 0x89, 0xe5, 0x0f, 0x0b };
	static const u8 aligned[] = { 0x55, 0x48, 0x89, 0xe5, 0x0f, 0x1f, 0x40, 0x00, 0x0f, 0x0b };
	const u8 *code;

	if (!strncmp(frame->symbol, "runtime.systemstack_switch", 26))
		return true;
	if (!frame->mapped || !frame->object->readable || (frame->addr - 7) % 32)
		return false;
	code = object_bytes(frame->object, frame->addr - 7, sizeof(aligned));
	return code && (!memcmp(code, begin, sizeof(begin)) ||
			!memcmp(code, aligned, sizeof(aligned)));
}

/*
 * Addresses that were put where a return address stands, to begin with: no call is
 * in front of a function. Go's binaries have no tables for the function.
 */
static bool is_begin(const struct frame *frame)
{
	const struct function *function = object_function(frame->object, frame->addr + 1);

	if (is_systemstack_switch(frame))
		return true;
	if (function)
		return frame->addr - function->start + 1 <= 2 || is_goexit(frame);
	return is_goexit(frame) || is_go_begin(frame);
}

/* By its CFI it stands for the function whose stack it replaces. */
static bool stands_for_another(const struct frame *frame)
{
	return !strcmp(frame->symbol, "__morestack");
}

/* perf's entries for callers are one less than the return address; others' are it. */
static bool find_call(const struct frame *caller, struct call *call)
{
	return code_call(caller->object, caller->addr + 1, call) ||
	       code_call(caller->object, caller->addr, call);
}

/* Of a function of a runtime: the file that perf has made for them has no code. */
static bool has_names_alone(const struct frame *frame)
{
	return frame->mapped && strstr(frame->object->path, "/.debug/runtimes/");
}

enum verdict verdict_of(const struct frame *callee, const struct frame *caller, bool exact,
			const char **why)
{
	u64 addr = exact ? callee->addr : callee->addr - 1;
	enum verdict verdict = UNKNOWN;
	struct call call;

	*why = NULL;
	if (!caller->mapped) {
		*why = "no code is mapped there";
		return REFUTED;
	}
	if (!strcmp(caller->object->path, "[heap]")) {
		*why = "that is data";
		return REFUTED;
	}
	if (!caller->object->readable || has_names_alone(caller) || has_names_alone(callee))
		return UNKNOWN;
	if (!object_is_code(caller->object, caller->addr)) {
		*why = "that is data";
		return REFUTED;
	}
	if (!find_call(caller, &call)) {
		if (is_begin(caller))
			return UNKNOWN;
		*why = "no call is in front of it";
		return REFUTED;
	}
	if (!callee->mapped || !callee->object->readable || !call.known ||
	    stands_for_another(callee) || (!exact && is_begin(callee)))
		return UNKNOWN;
	/* The address may be the return address itself, behind the function's end. */
	if (!exact && object_function(callee->object, callee->addr))
		addr = callee->addr;
	/* Or one less than what Go's asyncPreempt() interrupted, at a function's begin. */
	if (exact && !object_function(callee->object, addr) &&
	    object_function(callee->object, addr + 1))
		addr++;
	verdict = call.name ? leads_by_name(call.name, callee, addr, MAX_JUMPS) :
		leads(caller->object, call.target, callee, addr, MAX_JUMPS);
	if (verdict == REFUTED)
		*why = "its call goes elsewhere";
	return verdict;
}

/*
 * In asyncPreempt()? It begins with push %rbp; mov %rsp,%rbp; pushf, and has less than
 * 512 bytes. A signal can stop a thread anywhere in it, as in any other function.
 */
static bool is_preempt(const struct frame *frame)
{
	static const u8 begin[] = { 0x55, 0x48, 0x89, 0xe5, 0x9c };
	u64 last = frame->addr & ~31ULL, addr;
	const u8 *code;

	/* From one possible beginning to the one before, until there is one: int3 is in front. */
	for (addr = last; addr && last - addr < 512; addr -= 32) {
		code = object_bytes(frame->object, addr, sizeof(begin));
		if (code && !memcmp(code, begin, sizeof(begin)))
			return true;
		code = object_bytes(frame->object, addr - 1, 1);
		if (!code || *code == 0xcc)
			return false;
	}
	return false;
}

bool frame_is_trampoline(const struct frame *frame)
{
	/* mov $15, %rax; syscall */
	static const u8 gas[] = { 0x48, 0xc7, 0xc0, 0x0f, 0, 0, 0, 0x0f, 0x05 };
	static const u8 go[] = { 0xb8, 0x0f, 0, 0, 0, 0x0f, 0x05 };
	/* At it and behind the system call that ends it; perf's entries may be one less. */
	static const int at[] = {
		0, 1, -(int)sizeof(gas), 1 - (int)sizeof(gas),
		-(int)sizeof(go), 1 - (int)sizeof(go),
	};
	const u8 *code;
	size_t i;

	if (strstr(frame->symbol, "restore_rt") || strstr(frame->symbol, "sigreturn"))
		return true;
	/* A signal handler of Go's makes any instruction look as if it had called this. */
	if (!strncmp(frame->symbol, "runtime.asyncPreempt", strlen("runtime.asyncPreempt")))
		return true;
	if (!frame->mapped || !frame->object->readable)
		return false;
	if (is_preempt(frame))
		return true;
	for (i = 0; i < sizeof(at) / sizeof(*at); i++) {
		code = object_bytes(frame->object, frame->addr + at[i], sizeof(gas));
		if (code && (!memcmp(code, gas, sizeof(gas)) || !memcmp(code, go, sizeof(go))))
			return true;
	}
	return false;
}

bool frame_is_unwinding(const struct frame *frame)
{
	static const char * const names[] = {
		"_Unwind_Resume", "_Unwind_RaiseException", "_Unwind_ForcedUnwind",
		"_Unwind_Resume_or_Rethrow", "__longjmp",
	};
	size_t i;

	for (i = 0; i < sizeof(names) / sizeof(*names); i++) {
		if (!strcmp(frame->symbol, names[i]))
			return true;
	}
	return false;
}

/*
 * Go's runtime: where a program, a thread and a goroutine begin, and what a goroutine that has
 * stopped calls on its thread's stack.
 */
static bool is_go_root(const struct frame *frame)
{
	static const char * const names[] = {
		"_rt0_amd64", "runtime.rt0_go", "runtime.mstart", "runtime.mcall",
	};
	size_t i;

	for (i = 0; i < sizeof(names) / sizeof(*names); i++) {
		if (!strncmp(frame->symbol, names[i], strlen(names[i])))
			return true;
	}
	return is_goexit(frame);
}

/*
 * Does clone() of musl call a thread's function here? xor %ebp,%ebp; pop %rdi; call *%r9, and the
 * thread ends with the result: mov %eax,%edi; xor %eax,%eax; mov $60,%al; syscall. perf's address
 * may be one less than the return address.
 */
static bool starts_thread(const struct frame *frame)
{
	static const u8 code[] = { 0x31, 0xed, 0x5f, 0x41, 0xff, 0xd1,
				   0x89, 0xc7, 0x31, 0xc0, 0xb0, 0x3c, 0x0f, 0x05 };
	const u8 *bytes;
	int at;

	for (at = 0; at < 2; at++) {
		bytes = object_bytes(frame->object, frame->addr + at - 6, sizeof(code));
		if (bytes && !memcmp(bytes, code, sizeof(code)))
			return true;
	}
	return false;
}

/* In the code at the file's entry, which may be known by no table and no symbol? */
static bool is_entry(const struct frame *frame)
{
	const struct object *object = frame->object;
	const struct function *function = object_function(object, object->entry);
	u64 end = function ? function->end : object->entry + ENTRY_SIZE;

	return object->entry && frame->addr >= object->entry && frame->addr < end;
}

bool frame_is_root(const struct frame *frame)
{
	if (!strcmp(frame->symbol, "_start") || strstr(frame->symbol, "clone") ||
	    !strcmp(frame->symbol, "__start_context") || is_go_root(frame))
		return true;
	if (!frame->mapped || !frame->object->readable)
		return false;
	return is_entry(frame) || starts_thread(frame) ||
	       object_is_outermost(frame->object, frame->addr);
}

bool frame_may_be_root(const struct frame *frame)
{
	if (!frame->mapped)
		return false;
	return !frame->object->readable || has_names_alone(frame) || frame_is_root(frame) ||
	       (frame->object->is_go && frame->symbol[0] == '[') ||
	       code_may_begin_stack(frame->object, frame->addr);
}

bool frame_is_mark(const struct frame *frame)
{
	/* An unpatched perf shows the mapping alone. */
	return !strcmp(frame->object->path, "[cut off]") ||
	       !strcmp(frame->object->path, "[guessed]");
}
