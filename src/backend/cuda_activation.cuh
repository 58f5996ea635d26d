/* Smooth activations and their derivatives on the GPU, in single precision and within a few roundings of the CPU's. */
#ifndef GANZ_BACKEND_CUDA_ACTIVATION_CUH
#define GANZ_BACKEND_CUDA_ACTIVATION_CUH

#include "backend/cuda_common.cuh"

/* x * sigmoid(slope x): the slope of swish and of the gelu that is made of a sigmoid. */
static __device__ inline float sigmoid_slope(ganz_activation a) { return a == GANZ_ACTIVATION_SWISH ? 1.0f : 1.702f; }

static __device__ inline float normal_below(float x) { return 0.5f * erfcf(x * -0.707106781f); }

static __device__ inline float activate1(ganz_activation a, float x)
{
    if (a == GANZ_ACTIVATION_GELU) return x * normal_below(x);
    return x / (1.0f + expf(-sigmoid_slope(a) * x));
}

/* The derivative at x. */
static __device__ inline float slope1(ganz_activation a, float x)
{
    if (a == GANZ_ACTIVATION_GELU) return normal_below(x) + x * (0.398942280f * expf(-0.5f * x * x));
    const float slope = sigmoid_slope(a), s = 1.0f / (1.0f + expf(-slope * x));
    return s + slope * x * s * (1.0f - s);
}

static __device__ inline float4 activate4(ganz_activation a, float4 v)
{
    return make_float4(activate1(a, v.x), activate1(a, v.y), activate1(a, v.z), activate1(a, v.w));
}

static __device__ inline float4 slope4(ganz_activation a, float4 v)
{
    return make_float4(slope1(a, v.x), slope1(a, v.y), slope1(a, v.z), slope1(a, v.w));
}

#endif
