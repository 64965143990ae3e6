// SPDX-License-Identifier: LGPL-2.1-or-later
#include "gst/library/datatype.h"

#include "gst/library/dlpack.h"

namespace cudatensor {
namespace {

constexpr DataType kDataTypes[] = {{GST_CUDA_TENSOR_DATA_TYPE_FLOAT32, "float32", kDLFloat, 32},
                                   {GST_CUDA_TENSOR_DATA_TYPE_FLOAT16, "float16", kDLFloat, 16},
                                   {GST_CUDA_TENSOR_DATA_TYPE_UINT8, "uint8", kDLUInt, 8},
                                   {GST_CUDA_TENSOR_DATA_TYPE_INT8, "int8", kDLInt, 8},
                                   {GST_CUDA_TENSOR_DATA_TYPE_FLOAT64, "float64", kDLFloat, 64},
                                   {GST_CUDA_TENSOR_DATA_TYPE_INT16, "int16", kDLInt, 16},
                                   {GST_CUDA_TENSOR_DATA_TYPE_UINT16, "uint16", kDLUInt, 16},
                                   {GST_CUDA_TENSOR_DATA_TYPE_INT32, "int32", kDLInt, 32},
                                   {GST_CUDA_TENSOR_DATA_TYPE_UINT32, "uint32", kDLUInt, 32},
                                   {GST_CUDA_TENSOR_DATA_TYPE_INT64, "int64", kDLInt, 64},
                                   {GST_CUDA_TENSOR_DATA_TYPE_UINT64, "uint64", kDLUInt, 64},
                                   {GST_CUDA_TENSOR_DATA_TYPE_BFLOAT16, "bfloat16", kDLBfloat, 16}};

}  // namespace

const DataType *find_data_type(GstCudaTensorDataType type) {
  for (const DataType &each : kDataTypes)
    if (each.type == type) return &each;
  return nullptr;
}

const DataType *find_data_type(const char *name) {
  for (const DataType &each : kDataTypes)
    if (g_strcmp0(each.name, name) == 0) return &each;
  return nullptr;
}

}  // namespace cudatensor

gsize gst_cuda_tensor_data_type_get_size(GstCudaTensorDataType type) {
  const auto *found = cudatensor::find_data_type(type);
  g_return_val_if_fail(found != nullptr, 0);
  return found->bits / 8;
}

const gchar *gst_cuda_tensor_data_type_get_name(GstCudaTensorDataType type) {
  const auto *found = cudatensor::find_data_type(type);
  g_return_val_if_fail(found != nullptr, nullptr);
  return found->name;
}
