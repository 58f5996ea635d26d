/* A model file as its metadata and tensors, so that any of it can be changed before they are joined.
 * Independent of the library's writer: what docs/FORMAT.md says, said a second time. */
#ifndef GANZ_TESTS_MODEL_PARTS_H
#define GANZ_TESTS_MODEL_PARTS_H

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "model/container.h"
#include "nn/net.h"

enum { PARTS_METADATA = 32 };

typedef struct part {
    char name[80], dtype[8];
    int rank;
    int64_t dims[GANZ_CONTAINER_RANK];
    size_t bytes;
    unsigned char *data;
} part;

typedef struct model_parts {
    struct {
        char key[48], value[160];
    } metadata[PARTS_METADATA];
    int metadata_count;
    part *list;
    int count;
} model_parts;

static inline void parts_free(model_parts *m)
{
    for (int i = 0; i < m->count; i++) free(m->list[i].data);
    free(m->list);
    *m = (model_parts){0};
}

/* A copy of its own. */
static inline void parts_copy(model_parts *to, const model_parts *from)
{
    const size_t room = ((size_t)from->count + 63) / 64 * 64;
    *to = *from;
    to->list = malloc(sizeof *to->list * (room ? room : 1));
    for (int i = 0; i < from->count; i++) {
        to->list[i] = from->list[i];
        to->list[i].data = malloc(from->list[i].bytes + 1);
        memcpy(to->list[i].data, from->list[i].data, from->list[i].bytes + 1);
    }
}

/* Sets, adds or (value NULL) removes. */
static inline void parts_set(model_parts *m, const char *key, const char *value)
{
    int at = 0;
    while (at < m->metadata_count && strcmp(m->metadata[at].key, key) != 0) at++;
    if (!value) {
        if (at < m->metadata_count) m->metadata[at] = m->metadata[--m->metadata_count];
        return;
    }
    if (at == PARTS_METADATA) return;
    if (at == m->metadata_count) snprintf(m->metadata[m->metadata_count++].key, sizeof m->metadata[at].key, "%s", key);
    snprintf(m->metadata[at].value, sizeof m->metadata[at].value, "%s", value);
}

static inline void parts_set_int(model_parts *m, const char *key, long long value)
{
    char text[32];
    snprintf(text, sizeof text, "%lld", value);
    parts_set(m, key, text);
}

/* Zeroed data. The result lives until the next part is added. */
static inline part *parts_add(model_parts *m, const char *name, const char *dtype, size_t element, int rank,
                              const int64_t *dims)
{
    if (m->count % 64 == 0) m->list = realloc(m->list, sizeof *m->list * (size_t)(m->count + 64));
    part *const p = &m->list[m->count++];
    *p = (part){.rank = rank, .bytes = element};
    snprintf(p->name, sizeof p->name, "%s", name);
    snprintf(p->dtype, sizeof p->dtype, "%s", dtype);
    for (int i = 0; i < rank; i++) {
        p->dims[i] = dims[i];
        p->bytes *= (size_t)dims[i];
    }
    p->data = calloc(p->bytes + 1, 1);
    return p;
}

static inline part *parts_find(const model_parts *m, const char *name)
{
    for (int i = 0; i < m->count; i++)
        if (strcmp(m->list[i].name, name) == 0) return &m->list[i];
    return NULL;
}

static inline void parts_drop(model_parts *m, part *p)
{
    free(p->data);
    memmove(p, p + 1, sizeof *p * (size_t)(m->list + m->count - p - 1));
    m->count--;
}

/* What a file has of one parameter, first all that is float, then all codes. */
static inline void parts_add_param(model_parts *m, const ganz_param *p, bool integers, bool codes)
{
    const bool product = p->kind == GANZ_WEIGHT || p->kind == GANZ_EMBEDDING || p->kind == GANZ_BIAS;
    const bool coded = integers && product && p->site >= 0 && strcmp(p->name, "logits.bias") != 0;
    const bool matrix = ganz_param_is_matrix(p), scale = p->kind == GANZ_SCALE;
    const int64_t dims[2] = {matrix ? p->rows : p->cols, p->cols}, one = 1;
    char name[80];
    if (scale && !integers) return;
    snprintf(name, sizeof name, "%.*s.step", (int)strlen(p->name) - (scale ? 2 : 0),
             p->name); /* scales end in .z there */
    if (codes && coded) parts_add(m, p->name, "I8", 1, matrix ? 2 : 1, dims);
    if (!codes && (coded || scale)) parts_add(m, name, "F32", 4, 1, &one);
    if (!codes && !coded && !scale) parts_add(m, p->name, "F32", 4, matrix ? 2 : 1, dims);
}

/* The kind of the network, as far as a test says it. */
static inline void parts_set_kind(model_parts *m, const ganz_config *c)
{
    static const char *const activations[] = {NULL, NULL, "swish", "gelu", "gelu-sigmoid"};
    char biases[9] = "";
    if (c->q_bias) strcat(biases, "q ");
    if (c->k_bias) strcat(biases, "k ");
    if (c->v_bias) strcat(biases, "v ");
    if (c->o_bias) strcat(biases, "o ");
    if (c->norm == GANZ_NORM_POST) parts_set(m, "norm", "post");
    if (activations[c->activation]) parts_set(m, "activation", activations[c->activation]);
    if (biases[0]) parts_set(m, "attention_bias", biases);
    if (c->timing == GANZ_TIMING_HALF) parts_set(m, "positions", "half");
    if (c->first_position) parts_set_int(m, "first_position", c->first_position);
    if (c->source_vocab) parts_set_int(m, "source_vocab_size", c->source_vocab);
    if (c->own_output) parts_set(m, "output", "own");
    if (c->logits_bias) parts_set(m, "logits_bias", "true");
    if (c->start_vector) parts_set(m, "start", "vector");
    if (c->no_target_space) parts_set(m, "target_space", "none");
}

/* Everything of a model of this configuration, numbers zero: wide elements first. bits 0: float, else codes. */
static inline void parts_make(model_parts *m, const ganz_config *c, int bits, const char *vocabulary)
{
    ganz_net net;
    *m = (model_parts){0};
    if (ganz_net_open(&net, c, NULL) != GANZ_OK) return;
    const struct {
        const char *key;
        int value;
    } numbers[] = {{"version", 1},
                   {"width", c->width},
                   {"ffn", c->ffn},
                   {"heads", c->heads},
                   {"encoder_layers", c->encoder_layers},
                   {"decoder_layers", c->decoder_layers},
                   {"vocab_size", c->vocab},
                   {"max_positions", c->max_positions}};
    parts_set(m, "format", "ganz");
    parts_set(m, "weights", bits ? "codes" : "float");
    if (bits) parts_set_int(m, "bits", bits);
    parts_set_kind(m, c);
    for (size_t i = 0; i < GANZ_COUNT(numbers); i++) parts_set_int(m, numbers[i].key, numbers[i].value);
    for (int codes = 0; codes < 2; codes++)
        for (int i = 0; i < net.params.count; i++) parts_add_param(m, &net.params.list[i], bits > 0, codes == 1);
    part *const words = parts_add(m, "vocabulary", "U8", 1, 1, (const int64_t[]){(int64_t)strlen(vocabulary)});
    memcpy(words->data, vocabulary, words->bytes);
    ganz_net_close(&net);
}

/* Numbers that vary and mean nothing; scales and gains of norms positive. */
static inline void parts_fill(model_parts *m, int bits)
{
    unsigned state = 1;
    for (int i = 0; i < m->count; i++) {
        part *const p = &m->list[i];
        if (strcmp(p->dtype, "U8") == 0) continue;
        const bool is_float = strcmp(p->dtype, "F32") == 0,
                   scale = strstr(p->name, ".step") || strstr(p->name, "scale");
        for (size_t k = 0; k < p->bytes / (is_float ? 4 : 1); k++) {
            state = state * 1664525u + 1013904223u;
            const int code = (int)(state >> 16) % (1 << (bits ? bits - 1 : 7));
            const float value = scale ? (float)(1 + (state >> 20) % 7) / 64 : (float)code / 64;
            if (is_float) memcpy(p->data + 4 * k, &value, 4);
            else p->data[k] = (unsigned char)(int8_t)(state & 1 << 30 ? code : -code);
        }
    }
}

/* Text as JSON: quotes, backslashes and control characters escaped. */
static inline size_t parts_quote(char *to, const char *text)
{
    size_t n = 0;
    to[n++] = '"';
    for (const unsigned char *c = (const unsigned char *)text; *c; c++) {
        if (*c == '"' || *c == '\\') to[n++] = '\\';
        if (*c < 0x20) n += (size_t)sprintf(to + n, "\\u%04x", *c);
        else to[n++] = (char)*c;
    }
    to[n++] = '"';
    return n;
}

/* Digits of a number, perhaps after a sign; fuzz targets make many headers, and printf takes longer than all the rest.
 */
static inline size_t parts_number(char *to, int64_t value)
{
    char digits[24];
    size_t n = 0, count = 0;
    uint64_t left = value < 0 ? 0 - (uint64_t)value : (uint64_t)value;
    if (value < 0) to[n++] = '-';
    do digits[count++] = (char)('0' + left % 10);
    while (left /= 10);
    while (count > 0) to[n++] = digits[--count];
    return n;
}

static inline size_t parts_plain(char *to, const char *text)
{
    const size_t bytes = strlen(text);
    memcpy(to, text, bytes);
    return bytes;
}

/* What a header says of one tensor, whose data begin at `at`. */
static inline size_t parts_describe(char *to, const part *p, size_t at)
{
    size_t n = parts_quote(to, p->name);
    n += parts_plain(to + n, ":{\"dtype\":\"");
    n += parts_plain(to + n, p->dtype);
    n += parts_plain(to + n, "\",\"shape\":[");
    for (int d = 0; d < p->rank; d++) {
        if (d) to[n++] = ',';
        n += parts_number(to + n, p->dims[d]);
    }
    n += parts_plain(to + n, "],\"data_offsets\":[");
    n += parts_number(to + n, (int64_t)at);
    to[n++] = ',';
    n += parts_number(to + n, (int64_t)(at + p->bytes));
    return n + parts_plain(to + n, "]}");
}

/* The file, on the heap and aligned; its header as the parts say, true or not. *header: bytes of the header. */
static inline unsigned char *parts_join(const model_parts *m, size_t *bytes, size_t *header)
{
    size_t data = 0;
    for (int i = 0; i < m->count; i++) data += m->list[i].bytes;
    const size_t room = 64 + (size_t)m->metadata_count * 1280 + (size_t)m->count * 1024;
    unsigned char *const file = aligned_alloc(64, (8 + room + 64 + data + 63) / 64 * 64);
    char *const text = (char *)file + 8;
    size_t n = parts_plain(text, "{\"__metadata__\":{"), at = 0;
    for (int i = 0; i < m->metadata_count; i++) {
        if (i) text[n++] = ',';
        n += parts_quote(text + n, m->metadata[i].key);
        text[n++] = ':';
        n += parts_quote(text + n, m->metadata[i].value);
    }
    text[n++] = '}';
    for (int i = 0; i < m->count; at += m->list[i++].bytes) {
        text[n++] = ',';
        n += parts_describe(text + n, &m->list[i], at);
    }
    text[n++] = '}';
    while ((8 + n) % 64 != 0) text[n++] = ' ';
    for (int i = 0; i < 8; i++) file[i] = (unsigned char)((uint64_t)n >> 8 * i);
    at = 8 + n;
    for (int i = 0; i < m->count; at += m->list[i++].bytes) memcpy(file + at, m->list[i].data, m->list[i].bytes);
    *bytes = at;
    *header = n;
    return file;
}

#endif
