// SPDX-License-Identifier: GPL-2.0
/*
 * A program is single-stepped, with a shadow stack beside it: the calls that it is in.
 */
#define _GNU_SOURCE
#include <elf.h>
#include <signal.h>
#include <stdio.h>
#include <sys/ptrace.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <unistd.h>

#include <asm/insn.h>

#include "shadow.h"

int shadow_read(void *ctx, unsigned long addr, void *dst, unsigned int len)
{
	struct shadow *s = ctx;
	struct iovec to = { dst, len }, from = { (void *)addr, len };

	return process_vm_readv(s->pid, &to, 1, &from, 1, 0) != (ssize_t)len;
}

unsigned long shadow_word(struct shadow *s, unsigned long addr)
{
	unsigned long word = 0;

	return shadow_read(s, addr, &word, s->word) ? 0 : word;
}

static void drop_returned(struct shadow *s, unsigned long sp)
{
	while (s->depth && s->calls[s->depth - 1].slot < sp)
		s->depth--;
}

static void push_call(struct shadow *s, unsigned long ra, const struct user_regs_struct *regs)
{
	if (s->depth < SHADOW_MAX)
		s->calls[s->depth++] = (struct shadow_call) { ra, regs->rsp, regs->rip };
}

static void look(struct shadow *s, unsigned long ip, struct shadow_insn *found)
{
	unsigned char code[MAX_INSN_SIZE];
	unsigned int len = MAX_INSN_SIZE;
	struct insn insn;

	if (shadow_read(s, ip, code, len)) {
		len = 4096 - (ip & 4095);
		if (len > MAX_INSN_SIZE || shadow_read(s, ip, code, len))
			return;
	}
	if (insn_decode(&insn, code, len, s->mem.is_64bit ? INSN_MODE_64 : INSN_MODE_32))
		return;
	if (insn.opcode.bytes[0] == 0xe8 ||
	    (insn.opcode.bytes[0] == 0xff &&
	     X86_MODRM_REG(insn.modrm.value) == 2))
		found->call_length = insn.length;
	found->is_linkage = insn.opcode.bytes[0] == 0xff &&
		X86_MODRM_REG(insn.modrm.value) == 4 &&
		!X86_MODRM_MOD(insn.modrm.value) && X86_MODRM_RM(insn.modrm.value) == 5;
}

/* As it was when it first ran: code that is written anew is none of ours. */
static struct shadow_insn *insn_at(struct shadow *s, unsigned long ip)
{
	struct shadow_insn *insn = &s->insns[ip % SHADOW_INSNS];

	if (insn->ip != ip) {
		*insn = (struct shadow_insn) { .ip = ip };
		look(s, ip, insn);
	}
	return insn;
}

bool shadow_step(struct shadow *s, struct user_regs_struct *regs, int *sig)
{
	unsigned long ip = regs->rip, sp = regs->rsp;
	const struct shadow_insn *insn = insn_at(s, ip);
	int status, sent = *sig;

	if (ptrace(PTRACE_SINGLESTEP, s->pid, 0, sent) ||
	    waitpid(s->pid, &status, 0) < 0 || !WIFSTOPPED(status))
		return false;
	*sig = WSTOPSIG(status) == SIGTRAP ? 0 : WSTOPSIG(status);
	if (ptrace(PTRACE_GETREGS, s->pid, 0, regs))
		return false;
	drop_returned(s, regs->rsp);
	if (sent && regs->rip != ip)
		push_call(s, shadow_word(s, regs->rsp), regs);
	else if (insn->call_length && regs->rsp == sp - s->word)
		push_call(s, ip + insn->call_length, regs);
	else if (insn->is_linkage && s->depth)
		s->calls[s->depth - 1].entry = regs->rip;
	return true;
}

bool shadow_start(struct shadow *s, char **argv, struct user_regs_struct *regs)
{
	int status;

	s->depth = 0;
	s->pid = fork();
	if (!s->pid) {
		ptrace(PTRACE_TRACEME, 0, 0, 0);
		if (!freopen("/dev/null", "w", stdout))
			_exit(127);
		execvp(argv[0], argv);
		_exit(127);
	}
	if (s->pid < 0 || waitpid(s->pid, &status, 0) < 0 || !WIFSTOPPED(status) ||
	    ptrace(PTRACE_SETOPTIONS, s->pid, 0, PTRACE_O_EXITKILL) ||
	    ptrace(PTRACE_GETREGS, s->pid, 0, regs))
		return false;
	s->mem.read = shadow_read;
	s->mem.ctx = s;
	s->mem.is_64bit = regs->cs != SHADOW_USER32_CS;
	s->word = s->mem.is_64bit ? 8 : 4;
	return true;
}

static unsigned long entry_of(pid_t pid)
{
	unsigned long pair[2], entry = 0;
	char path[32];
	FILE *f;

	snprintf(path, sizeof(path), "/proc/%d/auxv", pid);
	f = fopen(path, "r");
	while (f && !entry && fread(pair, sizeof(pair), 1, f) == 1) {
		if (pair[0] == AT_ENTRY)
			entry = pair[1];
	}
	if (f)
		fclose(f);
	return entry;
}

bool shadow_to_entry(struct shadow *s, struct user_regs_struct *regs)
{
	unsigned long entry = entry_of(s->pid), word = shadow_word(s, entry);
	int status;

	if (!entry || ptrace(PTRACE_POKETEXT, s->pid, entry, (word & ~0xffUL) | 0xcc) ||
	    ptrace(PTRACE_CONT, s->pid, 0, 0) || waitpid(s->pid, &status, 0) < 0 ||
	    !WIFSTOPPED(status) || WSTOPSIG(status) != SIGTRAP ||
	    ptrace(PTRACE_POKETEXT, s->pid, entry, word) ||
	    ptrace(PTRACE_GETREGS, s->pid, 0, regs))
		return false;
	regs->rip = entry;
	return !ptrace(PTRACE_SETREGS, s->pid, 0, regs);
}
