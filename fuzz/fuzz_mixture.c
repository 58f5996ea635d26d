/* A list of pairs of files that nobody vouches for. What is refused is told in one line; what is taken has two names, a
 * weight and shares in their ranges, and names that lie within the list. */
#include <stdlib.h>
#include <string.h>

#include "fuzz.h"
#include "mixture.h"

static void expect_input(const cli_mixture *m, size_t bytes, const ganz_corpus_input *input)
{
    FUZZ_EXPECT(input->source >= m->list && input->source < m->list + bytes && input->source[0]);
    FUZZ_EXPECT(input->target > input->source && input->target < m->list + bytes && input->target[0]);
    FUZZ_EXPECT(input->weight > 0 && input->weight <= 1000);
    FUZZ_EXPECT(!input->tag || (input->tag > input->target && input->tag < m->list + bytes && input->tag[0]));
    FUZZ_EXPECT(input->formality >= 0 && input->formality <= 1);
    for (int kind = 0; kind < GANZ_COPY_KINDS; kind++)
        FUZZ_EXPECT(input->copies[kind] >= 0 && input->copies[kind] <= 1);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes)
{
    const ganz_corpus_input usual = {.weight = 1};
    ganz_error err = {0};
    cli_mixture m = {.list = malloc(bytes + 1)};
    if (!m.list) return 0;
    if (bytes > 0) memcpy(m.list, data, bytes);
    m.list[bytes] = '\0';
    if (cli_mixture_parse(&m, "fuzz", &usual, &err) != GANZ_OK)
        FUZZ_EXPECT(err.status == GANZ_EFORMAT && err.message[0] && !strchr(err.message, '\n'));
    for (int i = 0; i < m.count; i++) expect_input(&m, bytes, &m.inputs[i]);
    cli_mixture_free(&m);
    return 0;
}
