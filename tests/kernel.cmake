# Kernels: a plain program, so that it also runs where cmocka does not (see kernel_check.h).
set(GANZ_KERNEL_TEST test_kernel.c kernel_rows.c kernel_gemm.c kernel_facts.c)
add_executable(test_kernel ${GANZ_KERNEL_TEST})
target_include_directories(test_kernel PRIVATE ${PROJECT_SOURCE_DIR}/src)
target_link_libraries(test_kernel PRIVATE ganz_static m)
add_test(NAME test_kernel COMMAND test_kernel)
