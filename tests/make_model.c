/* make_model PATH [SEED]: a small random model for the tests of the program. */
#include <stdio.h>
#include <stdlib.h>

#include "tiny.h"

int main(int argc, char **argv)
{
    if (argc < 2) return 2;
    return write_tiny(argv[1], argc > 2 ? strtoull(argv[2], NULL, 10) : 1) ? 0 : 1;
}
