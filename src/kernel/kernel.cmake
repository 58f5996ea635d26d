# Flags of the kernel room: each instruction set has files of its own.
set(GANZ_KERNEL ${GANZ_KERNEL_COMMON})

if(CMAKE_SYSTEM_PROCESSOR MATCHES "x86_64|AMD64")
  list(APPEND GANZ_KERNEL ${GANZ_KERNEL_X86})
  set(vnni512 -mavx2 -mavx512f -mavx512bw -mavx512vl -mavx512vnni)
  set_source_files_properties(kernel/i8_avx2.c kernel/rows_avx2.c PROPERTIES COMPILE_OPTIONS "-mavx2")
  set_source_files_properties(kernel/i8_avx_vnni.c PROPERTIES COMPILE_OPTIONS "-mavx2;-mavxvnni")
  set_source_files_properties(kernel/i8_avx512_vnni.c kernel/rows_avx512.c PROPERTIES COMPILE_OPTIONS "${vnni512}")
  set_source_files_properties(kernel/i8_amx.c PROPERTIES COMPILE_OPTIONS "${vnni512};-mamx-tile;-mamx-int8")
  set_source_files_properties(kernel/bf16_amx.c PROPERTIES COMPILE_OPTIONS "${vnni512};-mavx512bf16;-mamx-tile;-mamx-bf16")
  if(GANZ_FUZZ) # clang takes minutes for a file of intrinsics under sanitizers; test_kernel covers them, with gcc's
    set_property(SOURCE ${GANZ_KERNEL_X86} APPEND PROPERTY COMPILE_OPTIONS -fno-sanitize=all)
  endif()
elseif(CMAKE_SYSTEM_PROCESSOR MATCHES "aarch64|arm64")
  list(APPEND GANZ_KERNEL ${GANZ_KERNEL_NEON})
  set_source_files_properties(kernel/i8_dot_neon.c PROPERTIES COMPILE_OPTIONS "-march=armv8.2-a+dotprod")
  set_source_files_properties(kernel/i8_i8mm_neon.c PROPERTIES COMPILE_OPTIONS "-march=armv8.2-a+dotprod+i8mm")
endif()
