/* What the library of faults is told by its environment, and the raw calls its parts share. */
#ifndef GANZ_TESTS_FAULTS_H
#define GANZ_TESTS_FAULTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#define SEEN __attribute__((visibility("default"))) /* by the program and its libraries */

typedef enum {
    FAULT_MEMORY,
    FAULT_OPEN,
    FAULT_READ,
    FAULT_WRITE,
    FAULT_SYNC,
    FAULT_NAME,
    FAULT_MAP,
    FAULT_KINDS
} fault_kind;

extern long syscall(long number, ...);

/* True when this call is the one that fails; a process that is to be killed does not return. */
bool fault_now(fault_kind kind);

/* ---- recording; all of it does nothing without a record ------------------------------------------ */

void record_open(int fd, const char *path, bool fresh);
void record_write(int fd, const void *data, size_t bytes, uint64_t offset);
void record_size(int fd, const char *path, uint64_t bytes);
void record_sync(int fd);
void record_link(int fd, const char *path);
void record_names(const char *what, const char *from, const char *to);

/* Where the next write to the file goes. */
uint64_t record_offset(int fd);
bool record_is_on(void);

#endif
