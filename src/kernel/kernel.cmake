# The kernel layer: one file for each ISA, compiled with its own flags.
set(GANZ_KERNEL
  kernel/i8_gemm.c kernel/i8_pack.c kernel/i8_scalar.c kernel/kernel.c kernel/rows_scalar.c)
