/* What reading and writing of zip archives share: fields of the records, and a member. */
#ifndef GANZ_DOCUMENT_ZIP_PARTS_H
#define GANZ_DOCUMENT_ZIP_PARTS_H

#include "document/zip.h"

enum { ZIP_STORED = 0, ZIP_DEFLATED = 8 };
enum { ZIP_FLAG_ENCRYPTED = 1, ZIP_FLAG_DESCRIPTOR = 8 };
enum { ZIP_LOCAL_BYTES = 30, ZIP_ENTRY_BYTES = 46, ZIP_END_BYTES = 22 };

/* Offsets of fields inside a local header, an entry of the directory, and the end. */
enum {
    LOCAL_FLAGS = 6,
    LOCAL_METHOD = 8,
    LOCAL_CRC = 14,
    LOCAL_PACKED = 18,
    LOCAL_SIZE = 22,
    LOCAL_NAME = 26,
    LOCAL_EXTRA = 28
};
enum {
    ENTRY_FLAGS = 8,
    ENTRY_METHOD = 10,
    ENTRY_CRC = 16,
    ENTRY_PACKED = 20,
    ENTRY_SIZE = 24,
    ENTRY_NAME = 28,
    ENTRY_EXTRA = 30,
    ENTRY_COMMENT = 32,
    ENTRY_DISK = 34,
    ENTRY_OFFSET = 42
};
enum {
    END_DISK = 4,
    END_START_DISK = 6,
    END_HERE = 8,
    END_TOTAL = 10,
    END_BYTES = 12,
    END_OFFSET = 16,
    END_COMMENT = 20
};

typedef struct zip_member {
    char *name;
    size_t name_bytes;
    unsigned flags, method;
    uint32_t crc;
    size_t packed, size;
    size_t entry, entry_bytes; /* in the directory */
    size_t record, data, end;  /* header, packed bytes, first byte after the record */
    unsigned char *fresh;      /* what replaces the packed bytes; NULL: nothing does */
    size_t fresh_packed, fresh_size;
    uint32_t fresh_crc;
} zip_member;

struct ganz_zip {
    const unsigned char *bytes;
    size_t total;
    ganz_zip_limits limits;
    size_t unpacked; /* so far, of all members claimed */
    size_t directory, directory_bytes, end;
    zip_member *members; /* (count) in the directory's order */
    int count;
    int *by_name, *by_place; /* (count) member numbers */
};

static inline unsigned zip_u16(const unsigned char *at) { return (unsigned)at[0] | (unsigned)at[1] << 8; }
static inline uint32_t zip_u32(const unsigned char *at)
{
    return (uint32_t)zip_u16(at) | (uint32_t)zip_u16(at + 2) << 16;
}

static inline void zip_put16(unsigned char *at, unsigned value)
{
    at[0] = (unsigned char)value;
    at[1] = (unsigned char)(value >> 8);
}

static inline void zip_put32(unsigned char *at, uint32_t value)
{
    zip_put16(at, value & 0xFFFF);
    zip_put16(at + 2, value >> 16);
}

#endif
