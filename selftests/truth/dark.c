// SPDX-License-Identifier: GPL-2.0
/*
 * Callers that nobody can know. Each kind spins in a function dark_KIND, whose return address is
 * not on the stack or can't be read, or whose CFI is wrong. A chain from there must have a mark.
 * usage: dark [SECONDS]
 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>

#define PAGE	4096

/* Addresses that the assembler reads. */
char dark_area[16 * PAGE] __attribute__((aligned(PAGE)));
char *dark_stack;

/*
 * enter_KIND() does BEFORE, jumps to dark_KIND() to spin, and does AFTER. CFI says for both
 * that the caller's frame is at rsp + 8, or nothing.
 */
#define KIND(name, cfi, before, after)					\
	void enter_ ## name(void);					\
	asm(".text\n"							\
	    "enter_" #name ":\n" cfi("startproc")			\
	    before "\n\t"						\
	    "mov $60000, %ecx\n\t"					\
	    "lea 2f(%rip), %r11\n\t"					\
	    "jmp dark_" #name "\n"					\
	    "2:\t" after "\n\t"						\
	    "ret\n" cfi("endproc")					\
	    ".type dark_" #name ", @function\n"				\
	    "dark_" #name ":\n" cfi("startproc")			\
	    "1:\tdec %rcx\n\tjnz 1b\n\tjmp *%r11\n" cfi("endproc")	\
	    ".size dark_" #name ", . - dark_" #name "\n")

#define CFI(what)	"\t.cfi_" what "\n"
#define NO_CFI(what)	""

/* The return address is in a register only, and encrypted. */
KIND(jumped, NO_CFI,
     "pop %rdx\n\tmovabs $0x5a5a123456789abc, %rax\n\txor %rax, %rdx",
     "xor %rax, %rdx\n\tpush %rdx");
/* The same without a frame pointer. */
KIND(jumped_far, NO_CFI,
     "pop %rdx\n\tmovabs $0x5a5a123456789abc, %rax\n\txor %rax, %rdx\n\t"
     "mov %rbp, %r8\n\tmov %rax, %rbp",
     "mov %r8, %rbp\n\txor %rax, %rdx\n\tpush %rdx");
/* The stack pointer points to memory that was never a stack, with CFI and without. */
KIND(elsewhere, NO_CFI,
     "mov %rsp, %r10\n\tlea dark_area(%rip), %rsp\n\tmov %rbp, %r8\n\txor %ebp, %ebp",
     "mov %r8, %rbp\n\tmov %r10, %rsp");
KIND(elsewhere_cfi, CFI,
     "mov %rsp, %r10\n\tlea dark_area(%rip), %rsp", "mov %r10, %rsp");
/* It points to no memory at all. */
KIND(nowhere, CFI,
     "mov %rsp, %r10\n\tmov $4096, %esp", "mov %r10, %rsp");
/* The return address was overwritten. */
KIND(zero, CFI, "mov (%rsp), %rdx\n\tmovq $0, (%rsp)", "mov %rdx, (%rsp)");
KIND(data, CFI,
     "mov (%rsp), %rdx\n\tlea dark_area(%rip), %rax\n\tmov %rax, (%rsp)", "mov %rdx, (%rsp)");
KIND(kernel, CFI,
     "mov (%rsp), %rdx\n\tmovq $-4096, (%rsp)", "mov %rdx, (%rsp)");
/* CFI that does not know of a push. */
KIND(lying, CFI, "push $0x14bb1", "add $8, %rsp");

/* A function with a frame over two pages, of which the upper one can't be read meanwhile. */
void enter_gone(void);
asm(".text\n"
    "enter_gone:\n\t.cfi_startproc\n\t"
    "push %rbx\n\t.cfi_adjust_cfa_offset 8\n\t.cfi_offset rbx, -16\n\t"
    "mov %rsp, %rbx\n\t.cfi_def_cfa_register rbx\n\t"
    "mov dark_stack(%rip), %rsp\n\t"
    "call wide_gone\n\t"
    "mov %rbx, %rsp\n\t.cfi_def_cfa_register rsp\n\t"
    "pop %rbx\n\t.cfi_adjust_cfa_offset -8\n\t"
    "ret\n\t.cfi_endproc\n"
    "wide_gone:\n\t.cfi_startproc\n\t"
    "sub $6000, %rsp\n\t.cfi_adjust_cfa_offset 6000\n\t"
    "xor %edx, %edx\n\tcall protect_gone\n\t"
    "mov $60000, %ecx\n\tcall dark_gone\n\t"
    "mov $3, %edx\n\tcall protect_gone\n\t"
    "add $6000, %rsp\n\t.cfi_adjust_cfa_offset -6000\n\t"
    "ret\n\t.cfi_endproc\n"
    /* mprotect(the upper page, 4096, rdx) */
    "protect_gone:\n\t.cfi_startproc\n\t"
    "mov dark_stack(%rip), %rdi\n\tsub $4096, %rdi\n\tmov $4096, %esi\n\tmov $10, %eax\n\t"
    "syscall\n\tret\n\t.cfi_endproc\n"
    ".type dark_gone, @function\n"
    "dark_gone:\n\t.cfi_startproc\n"
    "1:\tdec %rcx\n\tjnz 1b\n\tret\n\t.cfi_endproc\n"
    ".size dark_gone, . - dark_gone\n");

/*
 * Deeper than any copy of the stack, by one of two functions in each frame: without a walk by
 * BPF, nothing shows which. dark_deep() is last.
 */
#define DEPTH	500

static uint64_t way;
static unsigned int deep(unsigned int depth);

__attribute__((noipa, noinline)) static unsigned int dark_deep(unsigned int n)
{
	asm volatile("1:\tsub $1, %0\n\tjnz 1b" : "+r" (n) : : "cc");
	return n;
}

#define DEEP(name)								\
	__attribute__((noipa, noinline)) static unsigned int name(unsigned int depth)	\
	{									\
		volatile char room[200];					\
										\
		room[depth % sizeof(room)] = depth;				\
		return deep(depth - 1) + room[depth % sizeof(room)];		\
	}

DEEP(deep_left)
DEEP(deep_right)

__attribute__((noipa, noinline)) static unsigned int deep(unsigned int depth)
{
	way = way * 6364136223846793005ULL + 1442695040888963407ULL;
	if (!depth)
		return dark_deep(300000);
	return (way >> 63 ? deep_left(depth) : deep_right(depth)) + 1;
}

static void enter_deep(void)
{
	deep(DEPTH);
}

static double now(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return ts.tv_sec + ts.tv_nsec / 1e9;
}

int main(int argc, char **argv)
{
	static void (*const kinds[])(void) = {
		enter_jumped, enter_jumped_far, enter_elsewhere, enter_elsewhere_cfi, enter_nowhere,
		enter_zero, enter_data, enter_kernel, enter_lying, enter_gone, enter_deep,
	};
	double end = now() + (argc > 1 ? strtod(argv[1], NULL) : 2);
	unsigned int i;

	dark_stack = mmap(NULL, 2 * PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS,
			  -1, 0);
	if (dark_stack == MAP_FAILED)
		return 1;
	dark_stack += 2 * PAGE;
	while (now() < end)
		for (i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++)
			kinds[i]();
	return 0;
}
