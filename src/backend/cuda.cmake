# The CUDA backend, or the file that stands in for it.
if(GANZ_HAVE_CUDA)
  set(GANZ_CUDA_FILES ${GANZ_BACKEND_CUDA} ${GANZ_BACKEND_CUDA_EXACT} ${GANZ_BACKEND_CUDA_HOPPER})
  set_source_files_properties(${GANZ_BACKEND_CUDA_EXACT} PROPERTIES COMPILE_OPTIONS "--fmad=false")
  # A GPU takes the code that is made for it most closely: beside the usual one there is one for Hopper alone.
  set_source_files_properties(${GANZ_BACKEND_CUDA_HOPPER} PROPERTIES
    COMPILE_OPTIONS "--fmad=false;--generate-code=arch=compute_90a,code=[sm_90a]")
  set(CMAKE_CUDA_STANDARD 17)
  set(CMAKE_CUDA_STANDARD_REQUIRED ON)
  set(CMAKE_CUDA_VISIBILITY_PRESET hidden)
  # The library stays one of C: nothing from libstdc++.
  add_compile_options("$<$<COMPILE_LANGUAGE:CUDA>:-Xcompiler=-Wall,-Wextra,-Wshadow,-fno-exceptions,-fno-rtti,-fno-threadsafe-statics;-Werror=all-warnings>")
  set(GANZ_CUDA_LINK CUDA::cudart_static ${CMAKE_DL_LIBS}) # cuBLASLt is loaded when a GPU is opened
else()
  set(GANZ_CUDA_FILES ${GANZ_BACKEND_NO_CUDA})
endif()
