// SPDX-License-Identifier: GPL-2.0
/*
 * Random code, run with random registers on a random stack: in 64-bit and 32-bit mode, and in
 * segments of a local descriptor table. A victim sets all its registers by sigreturn, and a
 * signal gets it back: of a fault, of a trap, or of a timer if its code loops.
 *
 * The victim is nobody, and may make no system call but sigreturn.
 */
#define _GNU_SOURCE
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <ucontext.h>
#include <unistd.h>
#include <asm/ldt.h>
#include <asm/unistd.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <linux/userfaultfd.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/wait.h>

#include "fuzz.h"

/* Below 4 GiB, so that 32-bit code reaches them; the hole after each stays unmapped. */
#define CODE		0x20000000UL
#define CODE_SIZE	(4 * PAGE)
#define STACK		0x30000000UL
#define STACK_SIZE	(8 * PAGE)
#define MISSING		0x38000000UL
#define MISSING_SIZE	(2 * PAGE)
/* The last page that a process can have. */
#define TOP		0x7fffffffe000UL
#define TOP_SIZE	PAGE
#define NOBODY		65534
#define AT_TRAMPOLINES	64

/* sigcontext_32, from the start of sigframe_ia32 and of rt_sigframe_ia32 */
#define SC_32		8
#define SC_RT_32	164
#define SC_32_BP	24
#define SC_32_SP	28
#define SC_32_IP	56
#define SC_32_CS	60

/* Descriptors of the LDT, in the order of set_ldt(). */
enum { LDT_CODE, LDT_CODE_BASE, LDT_DATA, LDT_DATA_BASE, LDT_CODE_16, LDT_DATA_16, NR_LDT };
#define SELECTOR(n)	((n) << 3 | 7)

static struct rng *rng;
static unsigned char *code;		/* writable, the same memory as at CODE */
static const unsigned char *text;	/* of this program: code as compilers write it */
static size_t text_size;
static ucontext_t frame;
static char signal_stack[16384] __attribute__((aligned(16)));
static void *back[5];
static unsigned long *progress;

static unsigned long code_address(void)
{
	switch (rng_below(rng, 6)) {
	case 0: return CODE + AT_TRAMPOLINES;
	case 1: return CODE + AT_TRAMPOLINES + 16;
	case 2: return CODE + AT_TRAMPOLINES + 32;
	case 3: return CODE + CODE_SIZE - 16 + rng_below(rng, 32);
	default: return CODE + rng_below(rng, CODE_SIZE);
	}
}

static unsigned long stack_address(void)
{
	switch (rng_below(rng, 10)) {
	case 0: return STACK + rng_below(rng, STACK_SIZE);
	case 1: return STACK + STACK_SIZE - 64 + rng_below(rng, 128);
	case 2: return MISSING + rng_below(rng, MISSING_SIZE) / 8 * 8;
	case 3: return TOP + rng_below(rng, TOP_SIZE + 32) / 8 * 8;
	default: return STACK + rng_below(rng, STACK_SIZE) / 8 * 8;
	}
}

/* What stacks and registers have, right or wrong. */
static unsigned long word(void)
{
	static const unsigned long limits[] = {
		0, 1, ~0UL, ~7UL, 0x7ffffffff000UL, 0x7fffffffeff8UL, 0x800000000000UL,
		0xffff800000000000UL, 0xffffffff81000000UL, 0xffff888000000000UL,
		0xffffffffff600000UL, 0xfffff000, 0xfffffff8, 0x100000000UL, 0x8000000000000000UL,
	};

	switch (rng_below(rng, 16)) {
	case 0: return rng_next(rng);
	case 1: return (uint32_t)rng_next(rng);
	case 2: return rng_below(rng, 256);
	case 3: return limits[rng_below(rng, ARRAY_SIZE(limits))];
	case 4: return 0x23;
	case 5: case 6: case 7: case 8: case 9: return code_address();
	default: return stack_address();
	}
}

/*
 * QEMU's TCG reads the stack of far returns, of iret and of far calls as if the kernel did,
 * so that a fault there is the kernel's: none is in the code, at whatever byte it begins.
 */
static void take_out_far(unsigned char *bytes, size_t size)
{
	size_t i;

	for (i = 0; i < size; i++) {
		switch (bytes[i]) {
		case 0x9a: case 0xea: case 0xca: case 0xcb: case 0xcf:
			bytes[i] = 0xc3;
			break;
		case 0xff:
			/* An operand of far calls and jumps: /3 and /5. */
			if (i + 1 == size || ((bytes[i + 1] >> 3 & 7) | 6) == 7)
				bytes[i] = 0xc3;
			break;
		}
	}
}

static void random_bytes(unsigned char *to, size_t size)
{
	size_t i;

	for (i = 0; i < size; i++)
		to[i] = rng_next(rng) >> 17;
}

/* Instructions that frames are made and taken down by, with what follows them. */
static void like_functions(unsigned char *to, size_t size)
{
	static const struct { unsigned char len, random, bytes[8]; } insns[] = {
		{ 1, 0, { 0x55 } }, { 3, 0, { 0x48, 0x89, 0xe5 } }, { 1, 0, { 0x5d } },
		{ 1, 0, { 0xc9 } }, { 1, 0, { 0xc3 } }, { 3, 2, { 0xc2 } },
		{ 4, 1, { 0x48, 0x83, 0xec } }, { 4, 1, { 0x48, 0x83, 0xc4 } },
		{ 7, 4, { 0x48, 0x81, 0xec } }, { 5, 1, { 0x48, 0x8d, 0x64, 0x24 } },
		{ 5, 1, { 0x48, 0x8d, 0x6c, 0x24 } }, { 4, 1, { 0x48, 0x83, 0xe4 } },
		{ 2, 0, { 0x41, 0x57 } }, { 2, 0, { 0x41, 0x5f } }, { 1, 0, { 0x53 } },
		{ 2, 1, { 0x75 } }, { 2, 1, { 0xeb } }, { 6, 2, { 0x0f, 0x84 } },
		{ 5, 2, { 0xe9 } }, { 5, 2, { 0xe8 } }, { 2, 0, { 0xff, 0xe0 } },
		{ 2, 0, { 0xff, 0xd0 } }, { 4, 0, { 0xf3, 0x0f, 0x1e, 0xfa } },
		{ 7, 4, { 0xff, 0x24, 0xc5 } }, { 3, 0, { 0x3e, 0xff, 0xe0 } },
		{ 3, 1, { 0x83, 0xf8 } }, { 2, 1, { 0x77 } }, { 2, 0, { 0x0f, 0x0b } },
		{ 5, 4, { 0x68 } }, { 3, 0, { 0x4c, 0x89, 0xd4 } }, { 1, 0, { 0xcc } },
		{ 5, 0, { 0x0f, 0x1f, 0x44, 0x00, 0x00 } }, { 3, 0, { 0x48, 0x89, 0xec } },
		{ 4, 0, { 0x49, 0x8d, 0x62, 0xf8 } }, { 2, 0, { 0x0f, 0x05 } },
	};
	size_t at = 0, i, len;

	while (at + 8 < size) {
		i = rng_below(rng, ARRAY_SIZE(insns));
		len = insns[i].len;
		memcpy(to + at, insns[i].bytes, 8);
		random_bytes(to + at + len - insns[i].random, insns[i].random);
		at += len;
	}
}

static void like_this_program(unsigned char *to, size_t size)
{
	size_t i;

	memcpy(to, text + rng_below(rng, text_size - size), size);
	for (i = rng_below(rng, 64); i; i--)
		to[rng_below(rng, size)] = rng_next(rng);
}

/* Where sigreturn is called, for frames of the three kinds. */
static void put_trampolines(void)
{
	memcpy(code + AT_TRAMPOLINES, "\x48\xc7\xc0\x0f\x00\x00\x00\x0f\x05", 9);
	memcpy(code + AT_TRAMPOLINES + 16, "\x58\xb8\x77\x00\x00\x00\xcd\x80", 8);
	memcpy(code + AT_TRAMPOLINES + 32, "\xb8\xad\x00\x00\x00\xcd\x80", 7);
	if (one_in(rng, 4))
		memcpy(code + CODE_SIZE - 1 - rng_below(rng, 9), "\x48", 1);
}

/* What the code begins with: a fault, a loop, or nothing. */
static void put_start(unsigned char *at)
{
	switch (rng_below(rng, 8)) {
	case 0:
		break;
	case 1:
		memcpy(at, "\xeb\xfe", 2);		/* jmp . */
		break;
	case 2:
		memcpy(at, "\x0f\x0b", 2);		/* ud2 */
		break;
	default:
		memcpy(at, "\x8b\x07", 2);		/* mov (%rdi),%eax */
		break;
	}
}

/* New code now and then: what the last code left in caches counts. */
static void new_code(unsigned long ip)
{
	size_t size = CODE_SIZE - 1, from = 0;

	if (!one_in(rng, 32)) {
		from = rng_below(rng, CODE_SIZE - 256);
		size = 255;
	}
	switch (rng_below(rng, 3)) {
	case 0:
		random_bytes(code + from, size);
		break;
	case 1:
		like_functions(code + from, size);
		break;
	case 2:
		like_this_program(code + from, size);
		break;
	}
	put_trampolines();
	if (ip >= CODE && ip + 2 < CODE + CODE_SIZE)
		put_start(code + (ip - CODE));
	take_out_far(code, CODE_SIZE);
}

/* A frame as the kernel puts one there, as far as walks read it. */
static void signal_frame(unsigned long at)
{
	unsigned char *frame = (void *)at;
	greg_t *regs = ((ucontext_t *)(frame + 8))->uc_mcontext.gregs;
	unsigned int sc = one_in(rng, 2) ? SC_32 : SC_RT_32;

	if (one_in(rng, 2)) {
		*(unsigned long *)frame = CODE + AT_TRAMPOLINES;
		regs[REG_RIP] = word();
		regs[REG_RSP] = word();
		regs[REG_RBP] = word();
		regs[REG_CSGSFS] = one_in(rng, 4) ? word() : 0x2b000000000033UL;
		return;
	}
	*(uint32_t *)frame = CODE + AT_TRAMPOLINES + (sc == SC_32 ? 16 : 32);
	*(uint32_t *)(frame + sc + SC_32_IP) = word();
	*(uint32_t *)(frame + sc + SC_32_SP) = word();
	*(uint32_t *)(frame + sc + SC_32_BP) = word();
	*(uint32_t *)(frame + sc + SC_32_CS) = one_in(rng, 4) ? word() : 0x23;
}

static void new_stack(void)
{
	unsigned long *words = (void *)STACK;
	unsigned long end = STACK_SIZE / 2 / sizeof(*words), i;

	/* A part of it; what the rest has is of before. */
	for (i = rng_below(rng, end); i < end; i += 1 + rng_below(rng, 3))
		words[i] = word();
	for (i = rng_below(rng, 4); i; i--)
		signal_frame(STACK + rng_below(rng, STACK_SIZE / 2 - 1024) / 8 * 8);
	words = (void *)TOP;
	words[rng_below(rng, TOP_SIZE / 8)] = word();
}

static unsigned int code_selector(void)
{
	static const unsigned int of_ldt[] = { LDT_CODE, LDT_CODE_BASE, LDT_CODE_16 };

	switch (rng_below(rng, 16)) {
	case 0: return rng_next(rng) & 0xffff;
	case 1: case 2: return SELECTOR(of_ldt[rng_below(rng, ARRAY_SIZE(of_ldt))]);
	case 3: case 4: case 5: case 6: case 7: return 0x23;
	default: return 0x33;
	}
}

static unsigned int stack_selector(void)
{
	static const unsigned int of_ldt[] = { LDT_DATA, LDT_DATA_BASE, LDT_DATA_16 };

	switch (rng_below(rng, 16)) {
	case 0: return rng_next(rng) & 0xffff;
	case 1: case 2: return SELECTOR(of_ldt[rng_below(rng, ARRAY_SIZE(of_ldt))]);
	default: return 0x2b;
	}
}

static void new_registers(void)
{
	greg_t *regs = frame.uc_mcontext.gregs;
	int i;

	for (i = REG_R8; i <= REG_RIP; i++)
		regs[i] = word();
	regs[REG_RSP] = one_in(rng, 8) ? word() : stack_address();
	regs[REG_RBP] = one_in(rng, 4) ? word() : stack_address();
	regs[REG_RIP] = one_in(rng, 32) ? word() : code_address();
	regs[REG_EFL] = 0x202 | (rng_next(rng) & 0x40cd5) | (one_in(rng, 8) ? 0x100 : 0);
	regs[REG_CSGSFS] = code_selector() | (unsigned long)stack_selector() << 48;
	/* So that a load by it faults, most of the time. */
	if (!one_in(rng, 4))
		regs[REG_RDI] = 16;
	frame.uc_flags = 6;	/* UC_SIGCONTEXT_SS, UC_STRICT_RESTORE_SS */
	frame.uc_stack = (stack_t) { .ss_sp = signal_stack, .ss_size = sizeof(signal_stack) };
	frame.uc_mcontext.fpregs = NULL;
}

/* Nothing of libc here: random code may have changed what that keeps in %fs. */
static void __attribute__((noreturn)) attempt(void)
{
	__atomic_fetch_add(progress, 1, __ATOMIC_RELAXED);
	count(ATTEMPTS, 1);
	new_registers();
	if (!one_in(rng, 4))
		new_stack();
	if (!one_in(rng, 8))
		new_code(frame.uc_mcontext.gregs[REG_RIP]);
	asm volatile("mov %0, %%rsp\n\tmov %1, %%eax\n\tsyscall\n\tud2"
		     : : "r" (&frame), "i" (__NR_rt_sigreturn) : "rax", "memory");
	__builtin_unreachable();
}

static void on_signal(int sig)
{
	(void)sig;
	/* AC of the code that was interrupted is still set. */
	asm volatile("push $0x202\n\tpopf" : : : "memory", "cc");
	__builtin_longjmp(back, 1);
}

static void handle_signals(void)
{
	static const int signals[] = {
		SIGSEGV, SIGBUS, SIGILL, SIGFPE, SIGTRAP, SIGALRM, SIGSYS, SIGSTKFLT,
	};
	const stack_t stack = { .ss_sp = signal_stack, .ss_size = sizeof(signal_stack) };
	const struct sigaction action = {
		.sa_handler = on_signal, .sa_flags = SA_NODEFER | SA_ONSTACK,
	};
	size_t i;

	sigaltstack(&stack, NULL);
	for (i = 0; i < ARRAY_SIZE(signals); i++)
		sigaction(signals[i], &action, NULL);
}

static void set_ldt(void)
{
	static const struct user_desc descs[NR_LDT] = {
		{ .entry_number = LDT_CODE, .limit = 0xfffff, .limit_in_pages = 1,
		  .seg_32bit = 1, .contents = MODIFY_LDT_CONTENTS_CODE },
		{ .entry_number = LDT_CODE_BASE, .base_addr = 0x100, .limit = 0xfffff,
		  .limit_in_pages = 1, .seg_32bit = 1, .contents = MODIFY_LDT_CONTENTS_CODE },
		{ .entry_number = LDT_DATA, .limit = 0xfffff, .limit_in_pages = 1,
		  .seg_32bit = 1 },
		{ .entry_number = LDT_DATA_BASE, .base_addr = 0x1008, .limit = 0xfffff,
		  .limit_in_pages = 1, .seg_32bit = 1 },
		{ .entry_number = LDT_CODE_16, .base_addr = CODE, .limit = 0xffff,
		  .contents = MODIFY_LDT_CONTENTS_CODE },
		{ .entry_number = LDT_DATA_16, .base_addr = STACK, .limit = 0xffff },
	};
	unsigned int i;

	for (i = 0; i < NR_LDT; i++)
		syscall(SYS_modify_ldt, 1, &descs[i], sizeof(descs[i]));
}

/* Its faults wait for a handler that never comes: until the next signal. */
static void register_missing(void)
{
	int fd = syscall(SYS_userfaultfd, O_CLOEXEC);
	struct uffdio_api api = { .api = UFFD_API };
	struct uffdio_register range = {
		.range = { .start = MISSING, .len = MISSING_SIZE },
		.mode = UFFDIO_REGISTER_MODE_MISSING,
	};

	if (fd < 0 || ioctl(fd, UFFDIO_API, &api) || ioctl(fd, UFFDIO_REGISTER, &range))
		die("userfaultfd");
}

static void *map_at(unsigned long at, size_t size, int prot, int flags, int fd)
{
	void *got = mmap((void *)at, size, prot, flags | (at ? MAP_FIXED_NOREPLACE : 0), fd, 0);

	if (got == MAP_FAILED)
		die("mmap");
	return got;
}

static void map_all(void)
{
	int fd = memfd_create("fuzz", MFD_CLOEXEC);

	if (fd < 0 || ftruncate(fd, CODE_SIZE))
		die("memfd_create");
	code = map_at(0, CODE_SIZE, PROT_READ | PROT_WRITE, MAP_SHARED, fd);
	map_at(CODE, CODE_SIZE, PROT_EXEC | (one_in(rng, 4) ? 0 : PROT_READ),
	       one_in(rng, 2) ? MAP_SHARED : MAP_PRIVATE, fd);
	map_at(STACK, STACK_SIZE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1);
	mprotect((void *)(STACK + 5 * PAGE), PAGE, PROT_NONE);
	map_at(MISSING, MISSING_SIZE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1);
	map_at(TOP, TOP_SIZE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1);
	text = __executable_start + PAGE;
	text_size = __etext - text;
}

/* Sigreturn alone, of both kinds of system calls; all others fail. */
static void no_system_calls(void)
{
	static struct sock_filter filter[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, arch)),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, AUDIT_ARCH_I386, 3, 0),
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, __NR_rt_sigreturn, 4, 0),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | 38),
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, 119, 1, 0),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, 173, 0, 1),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | 38),
	};
	const struct sock_fprog program = { .len = ARRAY_SIZE(filter), .filter = filter };

	if (setresgid(NOBODY, NOBODY, NOBODY) || setresuid(NOBODY, NOBODY, NOBODY) ||
	    prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) ||
	    prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program))
		die("seccomp");
}

static void __attribute__((noreturn)) victim(int start)
{
	const struct itimerval timer = { .it_interval.tv_usec = 4000, .it_value.tv_usec = 4000 };
	sigset_t alarm;
	char byte;

	map_all();
	handle_signals();
	set_ldt();
	register_missing();
	if (read(start, &byte, 1) != 1)
		_exit(1);
	/* Until the first sigreturn. */
	sigemptyset(&alarm);
	sigaddset(&alarm, SIGALRM);
	sigprocmask(SIG_BLOCK, &alarm, NULL);
	setitimer(ITIMER_REAL, &timer, NULL);
	no_system_calls();
	__builtin_setjmp(back);
	attempt();
}

/* Until it ends, makes no progress, or its time is over. */
static void sample_victim(pid_t pid, struct events *events, double end)
{
	unsigned long before = ~0UL;
	unsigned int idle = 0;

	while ((now() < end || !*progress) && waitpid(pid, NULL, WNOHANG) == 0) {
		usleep(20000);
		events_read(events);
		idle = before == *progress ? idle + 1 : 0;
		before = *progress;
		/* Its signal handler can't be reached any more: another one does. */
		if (idle == 20)
			break;
	}
	kill(pid, SIGKILL);
	/* It may have ended before, and is no child any more then. */
	waitpid(pid, NULL, 0);
}

void job_registers(struct rng *job_rng)
{
	const struct watched watched = {
		.code = { CODE + AT_TRAMPOLINES, CODE + 256 },
		.data = { STACK + rng_below(job_rng, STACK_SIZE / 2) / 8 * 8, TOP + PAGE - 16 },
	};
	unsigned long before = counts[ATTEMPTS];
	double end = now() + JOB_SECONDS;
	struct events events;
	int start[2];
	pid_t pid;

	rng = job_rng;
	progress = mmap(NULL, PAGE, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (progress == MAP_FAILED)
		die("mmap");
	while (!is_over(end, ATTEMPTS, before)) {
		if (pipe(start))
			die("pipe");
		*progress = 0;
		/* The victim goes on from other numbers than the next one. */
		rng_next(rng);
		pid = fork();
		if (pid < 0)
			die("fork");
		if (!pid)
			victim(start[0]);
		events_open(&events, rng, pid, &watched);
		if (write(start[1], "", 1) != 1)
			die("write");
		sample_victim(pid, &events, end);
		events_close(&events, rng);
		close(start[0]);
		close(start[1]);
	}
}
