# The CUDA backend, or the file that stands in for it.
if(GANZ_HAVE_CUDA)
  set(GANZ_CUDA_FILES
    backend/cuda_attention.cu backend/cuda_attention_plain.cu backend/cuda_attention_tensor.cu
    backend/cuda_attention_tensor_grad.cu
    backend/cuda_backend.cu backend/cuda_finish.cu backend/cuda_linear.cu backend/cuda_loss.cu backend/cuda_optim.cu backend/cuda_quantize.cu
    backend/cuda_rows.cu)
  set(CMAKE_CUDA_STANDARD 17)
  set(CMAKE_CUDA_STANDARD_REQUIRED ON)
  set(CMAKE_CUDA_VISIBILITY_PRESET hidden)
  # The library stays one of C: nothing from libstdc++.
  add_compile_options("$<$<COMPILE_LANGUAGE:CUDA>:-Xcompiler=-Wall,-Wextra,-Wshadow,-fno-exceptions,-fno-rtti,-fno-threadsafe-statics;-Werror=all-warnings>")
  set(GANZ_CUDA_LINK CUDA::cudart_static ${CMAKE_DL_LIBS}) # cuBLASLt is loaded when a GPU is opened
else()
  set(GANZ_CUDA_FILES backend/cuda_none.c)
endif()
