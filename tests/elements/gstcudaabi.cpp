// SPDX-License-Identifier: LGPL-2.1-or-later
// Checks that gst/cuda/gstcudalibrary.h declares the same as the headers of libgstcuda that this
// file is compiled with. The compiler checks everything here.
#define GST_USE_UNSTABLE_API
#include <gst/cuda/gstcudabufferpool.h>
#include <gst/cuda/gstcudacontext.h>
#include <gst/cuda/gstcudaloader.h>
#include <gst/cuda/gstcudamemory.h>
#include <gst/cuda/gstcudautils.h>
#if __has_include(<gst/cuda/gstcudastream.h>)
#include <gst/cuda/gstcudastream.h>
#define HAS_STREAMS 1
#else
#define HAS_STREAMS 0
#endif
#include <gtest/gtest.h>

#include <cstddef>
#include <type_traits>

#include "gst/cuda/gstcudalibrary.h"

namespace cudatensor::gstcuda {
namespace {

/// Maps a type of their headers to ours.
template <class T>
struct Ours {
  using type = T;
};
template <class T>
using OursOf = typename Ours<T>::type;
template <class T>
struct Ours<T *> {
  using type = OursOf<T> *;
};
template <>
struct Ours<GstCudaContext> {
  using type = Context;
};
template <>
struct Ours<GstCudaMemory> {
  using type = Memory;
};
template <>
struct Ours<GstCudaAllocator> {
  using type = GstAllocator;
};
template <>
struct Ours<CUctx_st> {  // a CUcontext points to one
  using type = void;
};
#if HAS_STREAMS
template <>
struct Ours<GstCudaStream> {
  using type = Stream;
};
template <>
struct Ours<CUstream_st> {
  using type = void;
};
#endif
template <class Result, class... Args>
struct Ours<Result(Args...)> {
  using type = OursOf<Result>(OursOf<Args>...);
};

/// True if a function of their headers has the type that a member of Library points to.
template <class Member, class Function>
constexpr bool is_same(Member Library::*, Function *) {
  return std::is_same_v<Member, OursOf<Function> *>;
}

static_assert(is_same(&Library::load_library, gst_cuda_load_library));
static_assert(is_same(&Library::memory_init_once, gst_cuda_memory_init_once));
static_assert(is_same(&Library::context_new, gst_cuda_context_new));
static_assert(is_same(&Library::context_new_wrapped, gst_cuda_context_new_wrapped));
static_assert(is_same(&Library::context_get_handle, gst_cuda_context_get_handle));
static_assert(is_same(&Library::context_new_cuda_context, gst_context_new_cuda_context));
static_assert(is_same(&Library::ensure_element_context, gst_cuda_ensure_element_context));
static_assert(is_same(&Library::handle_set_context, gst_cuda_handle_set_context));
static_assert(is_same(&Library::handle_context_query, gst_cuda_handle_context_query));
static_assert(is_same(&Library::is_cuda_memory, gst_is_cuda_memory));
static_assert(is_same(&Library::buffer_pool_get_type, gst_cuda_buffer_pool_get_type));
static_assert(is_same(&Library::buffer_pool_new, gst_cuda_buffer_pool_new));
#if HAS_STREAMS
static_assert(is_same(&Library::allocator_alloc_wrapped, gst_cuda_allocator_alloc_wrapped));
static_assert(is_same(&Library::stream_new, gst_cuda_stream_new));
static_assert(is_same(&Library::stream_get_handle, gst_cuda_stream_get_handle));
static_assert(is_same(&Library::memory_get_stream, gst_cuda_memory_get_stream));
static_assert(is_same(&Library::buffer_pool_config_set_cuda_stream,
                      gst_buffer_pool_config_set_cuda_stream));
#else
static_assert(is_same(&Library::allocator_alloc, gst_cuda_allocator_alloc));
#endif

static_assert(std::is_same_v<CUdeviceptr, unsigned long long>);
static_assert(offsetof(Memory, mem) == offsetof(GstCudaMemory, mem));
static_assert(offsetof(Memory, context) == offsetof(GstCudaMemory, context));
static_assert(offsetof(Memory, info) == offsetof(GstCudaMemory, info));
static_assert(offsetof(BufferPool, context) == offsetof(GstCudaBufferPool, context));

TEST(GstCudaAbi, HasTheNamesOfTheHeaders) {
  EXPECT_STREQ(kContextType, GST_CUDA_CONTEXT_TYPE);
  EXPECT_STREQ(kMemoryType, GST_CUDA_MEMORY_TYPE_NAME);
  EXPECT_STREQ(kMemoryFeature, GST_CAPS_FEATURE_MEMORY_CUDA_MEMORY);
  EXPECT_EQ(static_cast<int>(kMapCuda), static_cast<int>(GST_MAP_CUDA));
}

}  // namespace
}  // namespace cudatensor::gstcuda
