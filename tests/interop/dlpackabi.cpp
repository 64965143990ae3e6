// SPDX-License-Identifier: LGPL-2.1-or-later
// Checks that gst/library/dlpack.h declares DLPack's binary interface: that of the installed
// header, and the published layout. The compiler checks everything here.
#include <cstddef>
#include <cstdint>
#include <type_traits>

#include "gst/library/dlpack.h"

#if __has_include(<dlpack/dlpack.h>)
namespace theirs {
#include <dlpack/dlpack.h>
}
#define HAS_HEADER 1
#else
#define HAS_HEADER 0
#endif

// -------------------------------------------------------------- as published, where pointers have 64 bits
#if UINTPTR_MAX == UINT64_MAX
static_assert(sizeof(DLDevice) == 8 && sizeof(DLDataType) == 4);
static_assert(sizeof(DLTensor) == 48);
static_assert(offsetof(DLTensor, device) == 8 && offsetof(DLTensor, ndim) == 16);
static_assert(offsetof(DLTensor, dtype) == 20 && offsetof(DLTensor, shape) == 24);
static_assert(offsetof(DLTensor, strides) == 32 && offsetof(DLTensor, byte_offset) == 40);
static_assert(sizeof(DLManagedTensor) == 64);
static_assert(offsetof(DLManagedTensor, manager_ctx) == 48);
static_assert(offsetof(DLManagedTensor, deleter) == 56);
static_assert(sizeof(DLManagedTensorVersioned) == 80);
static_assert(offsetof(DLManagedTensorVersioned, manager_ctx) == 8);
static_assert(offsetof(DLManagedTensorVersioned, deleter) == 16);
static_assert(offsetof(DLManagedTensorVersioned, flags) == 24);
static_assert(offsetof(DLManagedTensorVersioned, dl_tensor) == 32);
#endif
static_assert(kDLCPU == 1 && kDLCUDA == 2);
static_assert(kDLInt == 0 && kDLUInt == 1 && kDLFloat == 2 && kDLBfloat == 4);
static_assert(kDLReadOnly == 1);

// ----------------------------------------------------------------------------- as in the header
#if HAS_HEADER
#define SAME_FIELD(type, field)                                           \
  static_assert(offsetof(type, field) == offsetof(theirs::type, field) && \
                sizeof(type::field) == sizeof(theirs::type::field))

#define SAME_NUMBER(name) static_assert(int{name} == int{theirs::name})

SAME_NUMBER(kDLCPU);
SAME_NUMBER(kDLCUDA);
SAME_NUMBER(kDLInt);
SAME_NUMBER(kDLUInt);
SAME_NUMBER(kDLFloat);
SAME_NUMBER(kDLBfloat);
SAME_FIELD(DLDevice, device_type);
SAME_FIELD(DLDevice, device_id);
SAME_FIELD(DLDataType, code);
SAME_FIELD(DLDataType, bits);
SAME_FIELD(DLDataType, lanes);
SAME_FIELD(DLTensor, data);
SAME_FIELD(DLTensor, device);
SAME_FIELD(DLTensor, ndim);
SAME_FIELD(DLTensor, dtype);
SAME_FIELD(DLTensor, shape);
SAME_FIELD(DLTensor, strides);
SAME_FIELD(DLTensor, byte_offset);
SAME_FIELD(DLManagedTensor, dl_tensor);
SAME_FIELD(DLManagedTensor, manager_ctx);
SAME_FIELD(DLManagedTensor, deleter);
static_assert(sizeof(DLManagedTensor) == sizeof(theirs::DLManagedTensor));
#ifdef DLPACK_MAJOR_VERSION
static_assert(DLPACK_MAJOR_VERSION == 1);
SAME_FIELD(DLPackVersion, major);
SAME_FIELD(DLPackVersion, minor);
SAME_FIELD(DLManagedTensorVersioned, version);
SAME_FIELD(DLManagedTensorVersioned, manager_ctx);
SAME_FIELD(DLManagedTensorVersioned, deleter);
SAME_FIELD(DLManagedTensorVersioned, flags);
SAME_FIELD(DLManagedTensorVersioned, dl_tensor);
static_assert(sizeof(DLManagedTensorVersioned) == sizeof(theirs::DLManagedTensorVersioned));
static_assert(kDLReadOnly == DLPACK_FLAG_BITMASK_READ_ONLY);
#endif
#endif

/// The exit status 77 tells Meson that no header is installed to compare with.
int main() { return HAS_HEADER ? 0 : 77; }
