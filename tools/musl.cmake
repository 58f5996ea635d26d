# A program of one file, with musl and Debian's archives (cmake --preset static). musl-gcc sees the headers of musl alone:
# those of the libraries and of the kernel are linked into a folder of their own. The archives were made for glibc, with
# checks of its own in calls of the C library, which cli/musl.c provides.
set(headers ${PROJECT_BINARY_DIR}/headers)
file(MAKE_DIRECTORY ${headers})
set(multiarch /usr/include/${CMAKE_SYSTEM_PROCESSOR}-linux-gnu)
foreach(name zlib.h zconf.h lzma.h lzma zstd.h zstd_errors.h xxhash.h utf8proc.h yaml.h linux asm-generic asm)
  foreach(folder /usr/include ${multiarch})
    if(EXISTS ${folder}/${name})
      file(CREATE_LINK ${folder}/${name} ${headers}/${name} SYMBOLIC)
    endif()
  endforeach()
endforeach()

# musl_library(TARGET FILE): an archive as the target that the rest of the build knows
function(musl_library target file)
  find_library(GANZ_MUSL_${file} NAMES lib${file}.a PATHS /usr/lib/${CMAKE_SYSTEM_PROCESSOR}-linux-gnu REQUIRED)
  add_library(${target} STATIC IMPORTED GLOBAL)
  set_target_properties(${target} PROPERTIES IMPORTED_LOCATION ${GANZ_MUSL_${file}}
    INTERFACE_SYSTEM_INCLUDE_DIRECTORIES ${headers} INTERFACE_INCLUDE_DIRECTORIES ${headers})
endfunction()
musl_library(ZLIB::ZLIB z)
musl_library(LibLZMA::LibLZMA lzma)
musl_library(PkgConfig::ZSTD zstd)
musl_library(PkgConfig::XXHASH xxhash)
musl_library(utf8proc_whole utf8proc)
musl_library(PkgConfig::YAML yaml)
# What ganz calls of utf8proc, with tables of that alone.
add_executable(small_unicode ${PROJECT_SOURCE_DIR}/tools/small_unicode.c)
target_link_libraries(small_unicode PRIVATE utf8proc_whole)
add_custom_command(OUTPUT ${PROJECT_BINARY_DIR}/small_utf8proc.c DEPENDS small_unicode
  COMMAND small_unicode ${PROJECT_BINARY_DIR}/small_utf8proc.c)
add_library(small_utf8proc STATIC ${PROJECT_BINARY_DIR}/small_utf8proc.c)
target_include_directories(small_utf8proc SYSTEM PUBLIC ${headers})
add_library(PkgConfig::UTF8PROC ALIAS small_utf8proc)
find_path(GANZ_BLAS_INCLUDE cblas.h PATHS ${multiarch} PATH_SUFFIXES openblas-pthread openblas-openmp openblas-serial
  REQUIRED)
set(GANZ_BLAS_NAME libopenblas.so.0) # looked for by those who multiply floats, in vain: nothing can be loaded
set(GANZ_BLAS_LIBRARY ${GANZ_BLAS_NAME})
# Small: what nothing calls goes, nothing is ever unwound, and only what computes is made for speed (src/, server/, cli/).
add_compile_options(-ffunction-sections -fdata-sections -fno-asynchronous-unwind-tables -fno-unwind-tables
  -fcf-protection=none)
add_compile_definitions(GANZ_GZIP_ALONE)
file(WRITE ${PROJECT_BINARY_DIR}/small.ld "SECTIONS { /DISCARD/ : { *(.eh_frame .eh_frame_hdr) } } INSERT BEFORE .init;\n")
add_link_options(-static -Wl,--gc-sections -Wl,--build-id=none -Wl,-T,${PROJECT_BINARY_DIR}/small.ld -s)
