# Kernels: a plain program, so that it also runs where cmocka does not (see kernel_check.h).
set(GANZ_KERNEL_TEST test_kernel.c kernel_rows.c kernel_gemm.c kernel_bf16.c kernel_facts.c)
add_executable(test_kernel ${GANZ_KERNEL_TEST})
target_include_directories(test_kernel PRIVATE ${PROJECT_SOURCE_DIR}/src)
target_link_libraries(test_kernel PRIVATE ganz_static m)
add_test(NAME test_kernel COMMAND test_kernel)

# VNNI and AMX on processors without them: the same files over SIMDe's plain code and ours.
find_path(SIMDE_INCLUDE simde/x86/avx512.h)
if(SIMDE_INCLUDE AND CMAKE_SYSTEM_PROCESSOR MATCHES "x86_64|AMD64")
  set(kernel ${GANZ_KERNEL_COMMON} ${GANZ_KERNEL_X86} base/alloc.c base/error.c base/surroundings.c)
  list(TRANSFORM kernel PREPEND ${PROJECT_SOURCE_DIR}/src/)
  add_executable(test_kernel_simde ${GANZ_KERNEL_TEST} ${kernel})
  target_include_directories(test_kernel_simde PRIVATE ${PROJECT_SOURCE_DIR}/include ${PROJECT_SOURCE_DIR}/src)
  target_include_directories(test_kernel_simde SYSTEM PRIVATE ${SIMDE_INCLUDE})
  # SIMDe 0.8 defines __mmask64 anew, as another type than clang's, unless it is a macro: so it is one, for itself.
  target_compile_definitions(test_kernel_simde PRIVATE GANZ_SIMDE SIMDE_ENABLE_NATIVE_ALIASES __mmask64=__mmask64)
  target_compile_options(test_kernel_simde PRIVATE -mavx2 -Wno-psabi)
  target_link_libraries(test_kernel_simde PRIVATE m)
  add_test(NAME test_kernel_simde COMMAND test_kernel_simde avxvnni avx512vnni amx)
  set_source_files_properties(${PROJECT_SOURCE_DIR}/src/kernel/bf16_amx.c ${PROJECT_SOURCE_DIR}/src/kernel/i8_amx.c
    PROPERTIES COMPILE_OPTIONS "-include;${CMAKE_CURRENT_SOURCE_DIR}/amx_emulated.h;-include;${CMAKE_CURRENT_SOURCE_DIR}/avx512_missing.h")
  set_source_files_properties(${PROJECT_SOURCE_DIR}/src/kernel/rows_avx512.c PROPERTIES COMPILE_OPTIONS
    "-include;${CMAKE_CURRENT_SOURCE_DIR}/avx512_missing.h")
endif()

# NEON on processors without it: cross-compiled and run by qemu. -cpu max has sdot and smmla, cortex-a53 has neither.
find_program(AARCH64_CC aarch64-linux-gnu-gcc)
find_program(QEMU_AARCH64 NAMES qemu-aarch64 qemu-aarch64-static)
if(AARCH64_CC AND QEMU_AARCH64 AND CMAKE_SYSTEM_PROCESSOR MATCHES "x86_64|AMD64")
  file(GLOB sources CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/src/kernel/*.[ch] ${CMAKE_CURRENT_SOURCE_DIR}/*kernel*.[ch])
  add_custom_command(OUTPUT test_kernel_neon
    COMMAND ${CMAKE_CURRENT_SOURCE_DIR}/kernel_neon.sh ${AARCH64_CC} ${CMAKE_CURRENT_BINARY_DIR}/test_kernel_neon
      ${GANZ_KERNEL_COMMON} ${GANZ_KERNEL_NEON}
    DEPENDS ${sources} kernel_neon.sh VERBATIM)
  add_custom_target(kernel_neon ALL DEPENDS test_kernel_neon)
  add_test(NAME test_kernel_neon COMMAND ${QEMU_AARCH64} -cpu max test_kernel_neon scalar neon neondot i8mm)
  # The engine itself: what it says natively to real sentences, it says under NEON, scores included.
  add_executable(engine_dump engine/dump.c)
  target_include_directories(engine_dump PRIVATE ${PROJECT_SOURCE_DIR}/src)
  target_link_libraries(engine_dump PRIVATE ganz_static)
  set(src ${PROJECT_SOURCE_DIR}/src) # braces are nothing to file(GLOB)
  file(GLOB sources CONFIGURE_DEPENDS ${src}/base/*.[ch] ${src}/kernel/*.[ch] ${src}/backend/*.[ch] ${src}/nn/*.[ch]
    ${src}/translate/*.[ch] ${CMAKE_CURRENT_SOURCE_DIR}/engine/*)
  set(engine ${GANZ_BACKEND})
  list(REMOVE_ITEM engine backend/device.c) # opens CUDA
  add_custom_command(OUTPUT engine_neon
    COMMAND ${CMAKE_CURRENT_SOURCE_DIR}/engine/neon.sh ${AARCH64_CC} ${CMAKE_CURRENT_BINARY_DIR}/engine_neon
      ${GANZ_KERNEL_COMMON} ${GANZ_KERNEL_NEON} ${engine} ${GANZ_BACKEND_FLOAT} ${GANZ_NN}
    DEPENDS ${sources} VERBATIM)
  add_custom_target(engine_for_neon ALL DEPENDS engine_neon)
  add_test(NAME engine_neon COMMAND ${CMAKE_CURRENT_SOURCE_DIR}/engine/compare.sh $<TARGET_FILE:engine_dump> 40
    ${QEMU_AARCH64} -cpu max ${CMAKE_CURRENT_BINARY_DIR}/engine_neon -- neon neondot i8mm)
  set_tests_properties(engine_neon PROPERTIES COST 100) # the longest: begins first, beside the others
  add_test(NAME test_kernel_neon_old COMMAND ${QEMU_AARCH64} -cpu cortex-a53 test_kernel_neon)
endif()
