/* SPDX-License-Identifier: GPL-2.0 */
/*
 * User memory for tests of walks: pieces with exact ends, and a read that fails on demand.
 * With the end of a piece at the end of an allocation, ASan sees a walk that reads beyond it.
 */
#ifndef _USER_MEMORY_H
#define _USER_MEMORY_H

#define USER_PIECES	3

static struct {
	struct user_piece {
		unsigned long	start;
		unsigned int	size;
		u8		*bytes;
	} piece[USER_PIECES];
	unsigned int	reads;		/* so far */
	unsigned int	fail_at;	/* this read fails; 0: none */
	unsigned int	fail_from;	/* this one and all later ones fail; 0: none */
	unsigned long	failing;	/* reads of this byte fail; 0: none */
} user;

int walk_read(void *dst, unsigned long addr, unsigned int len)
{
	unsigned int i;

	/* Of no address above, whatever the program says: not even speculatively. */
	if (addr > TASK_SIZE_MAX)
		abort();
	user.reads++;
	if (user.reads == user.fail_at || (user.fail_from && user.reads >= user.fail_from) ||
	    (user.failing >= addr && user.failing < addr + len))
		return -EFAULT;
	for (i = 0; i < USER_PIECES; i++) {
		const struct user_piece *piece = &user.piece[i];
		u64 off = addr - piece->start;

		if (off < piece->size && piece->size - off >= len) {
			memcpy(dst, piece->bytes + off, len);
			return 0;
		}
	}
	return -EFAULT;
}

/* Makes piece @nr anew, filled with @byte. */
static inline u8 *user_map(unsigned int nr, unsigned long start, unsigned int size, u8 byte)
{
	struct user_piece *piece = &user.piece[nr];

	free(piece->bytes);
	*piece = (struct user_piece) { .start = start, .size = size, .bytes = malloc(size) };
	if (!piece->bytes)
		abort();
	memset(piece->bytes, byte, size);
	return piece->bytes;
}

static inline void user_unmap(unsigned int nr)
{
	free(user.piece[nr].bytes);
	user.piece[nr] = (struct user_piece) { 0 };
}

/* Writes bytes at a user address, which have to be in one piece. */
static inline void user_put(unsigned long addr, const void *bytes, unsigned int len)
{
	unsigned int i;

	for (i = 0; i < USER_PIECES; i++) {
		const struct user_piece *piece = &user.piece[i];

		if (addr - piece->start < piece->size) {
			memcpy(piece->bytes + (addr - piece->start), bytes, len);
			return;
		}
	}
	abort();
}

static inline void user_put_word(unsigned long addr, u64 word, unsigned int ws)
{
	user_put(addr, &word, ws);
}

/* No read fails from now on, and none was made. */
static inline void user_reset(void)
{
	user.reads = 0;
	user.fail_at = 0;
	user.fail_from = 0;
	user.failing = 0;
}

#endif /* _USER_MEMORY_H */
