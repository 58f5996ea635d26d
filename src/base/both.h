/* Functions of one definition that are compiled for the CPU and, by nvcc, for the GPU too. */
#ifndef GANZ_BASE_BOTH_H
#define GANZ_BASE_BOTH_H

#ifdef __CUDACC__
#define GANZ_HD __host__ __device__ static inline
#else
#define GANZ_HD static inline
#endif

#endif
