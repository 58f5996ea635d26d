/* make_model PATH [SEED [SOURCE TARGET]]: a small random model for the tests of the program. */
#include <stdio.h>
#include <stdlib.h>

#include "tiny.h"

int main(int argc, char **argv)
{
    if (argc < 2) return 2;
    const uint64_t seed = argc > 2 ? strtoull(argv[2], NULL, 10) : 1;
    return write_tiny_pair(argv[1], seed, argc > 4 ? argv[3] : "en", argc > 4 ? argv[4] : "de") ? 0 : 1;
}
