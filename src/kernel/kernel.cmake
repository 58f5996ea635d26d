# The kernel layer: one file for each ISA, compiled with its own flags.
set(GANZ_KERNEL
  kernel/i8_gemm.c kernel/i8_pack.c kernel/i8_scalar.c kernel/kernel.c kernel/rows_scalar.c)

if(CMAKE_SYSTEM_PROCESSOR MATCHES "x86_64|AMD64")
  list(APPEND GANZ_KERNEL kernel/i8_avx2.c kernel/rows_avx2.c)
  set_source_files_properties(kernel/i8_avx2.c kernel/rows_avx2.c PROPERTIES COMPILE_OPTIONS "-mavx2")
endif()
