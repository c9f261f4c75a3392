/* A full disk for one program, by LD_PRELOAD: while the file FULL_WHILE exists, no regular file can grow. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <unistd.h>

static int no_room(int file, off_t end) {
    static const char *flag;
    struct stat found;
    int before = errno;
    if (!flag) flag = getenv("FULL_WHILE");
    int full = flag && access(flag, F_OK) == 0 && fstat(file, &found) == 0 && S_ISREG(found.st_mode) && end > found.st_size;
    errno = full ? ENOSPC : before;
    return full;
}

static off_t length(const struct iovec *parts, int count) {
    off_t sum = 0;
    while (count-- > 0) sum += (off_t)parts[count].iov_len;
    return sum;
}

#define REAL(name, type) static type real; if (!real) real = (type)dlsym(RTLD_NEXT, #name)

typedef ssize_t (*write_at)(int, const void *, size_t, off_t);
typedef ssize_t (*write_parts_at)(int, const struct iovec *, int, off_t);
typedef int (*reserve)(int, off_t, off_t);

#define WRITE_AT(name) \
    ssize_t name(int file, const void *bytes, size_t count, off_t at) { \
        REAL(name, write_at); \
        return no_room(file, at + (off_t)count) ? -1 : real(file, bytes, count, at); \
    }
#define WRITE_PARTS_AT(name) \
    ssize_t name(int file, const struct iovec *parts, int count, off_t at) { \
        REAL(name, write_parts_at); \
        return no_room(file, at + length(parts, count)) ? -1 : real(file, parts, count, at); \
    }
#define RESERVE(name) \
    int name(int file, off_t at, off_t count) { \
        REAL(name, reserve); \
        return no_room(file, at + count) ? ENOSPC : real(file, at, count); \
    }

/* Under both names that a 64-bit program may use. */
WRITE_AT(pwrite)
WRITE_AT(pwrite64)
WRITE_PARTS_AT(pwritev)
WRITE_PARTS_AT(pwritev64)
RESERVE(posix_fallocate)
RESERVE(posix_fallocate64)
