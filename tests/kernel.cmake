# Kernels: a plain program, so that it also runs where cmocka does not (see kernel_check.h).
set(GANZ_KERNEL_TEST test_kernel.c kernel_rows.c kernel_gemm.c kernel_facts.c)
add_executable(test_kernel ${GANZ_KERNEL_TEST})
target_include_directories(test_kernel PRIVATE ${PROJECT_SOURCE_DIR}/src)
target_link_libraries(test_kernel PRIVATE ganz_static m)
add_test(NAME test_kernel COMMAND test_kernel)

# VNNI on processors without it: the same files over SIMDe's plain code.
find_path(SIMDE_INCLUDE simde/x86/avx512.h)
if(SIMDE_INCLUDE AND CMAKE_SYSTEM_PROCESSOR MATCHES "x86_64|AMD64")
  set(kernel ${PROJECT_SOURCE_DIR}/src/kernel)
  add_executable(test_kernel_simde ${GANZ_KERNEL_TEST} ${PROJECT_SOURCE_DIR}/src/base/alloc.c
    ${PROJECT_SOURCE_DIR}/src/base/error.c ${kernel}/i8_avx2.c ${kernel}/i8_avx_vnni.c ${kernel}/i8_avx512_vnni.c
    ${kernel}/i8_gemm.c ${kernel}/i8_pack.c ${kernel}/i8_scalar.c ${kernel}/kernel.c ${kernel}/rows_avx2.c
    ${kernel}/rows_scalar.c)
  target_include_directories(test_kernel_simde PRIVATE ${PROJECT_SOURCE_DIR}/include ${PROJECT_SOURCE_DIR}/src)
  target_include_directories(test_kernel_simde SYSTEM PRIVATE ${SIMDE_INCLUDE})
  target_compile_definitions(test_kernel_simde PRIVATE GANZ_SIMDE SIMDE_ENABLE_NATIVE_ALIASES)
  target_compile_options(test_kernel_simde PRIVATE -mavx2 -Wno-psabi)
  target_link_libraries(test_kernel_simde PRIVATE m)
  add_test(NAME test_kernel_simde COMMAND test_kernel_simde avxvnni avx512vnni)
endif()
