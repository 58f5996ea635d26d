/* All of AMX's eight tile registers at their full size, which integers and bfloat16 use alike. */
#ifndef GANZ_KERNEL_TILES_AMX_H
#define GANZ_KERNEL_TILES_AMX_H

#include <stdint.h>

/* Palette 1: bytes a row and rows of each tile register. */
typedef struct tile_shapes {
    uint8_t palette, start_row, reserved[14];
    uint16_t bytes[16];
    uint8_t rows[16];
} tile_shapes;

/* In memory for good: gcc's intrinsic does not say that it reads all of this, so a local one would never be written. */
static const tile_shapes shapes = {
    .palette = 1,
    .bytes = {64, 64, 64, 64, 64, 64, 64, 64},
    .rows = {16, 16, 16, 16, 16, 16, 16, 16},
};

#endif
