// SPDX-License-Identifier: LGPL-2.1-or-later
#include "kernels/cuda/call.h"

#include "kernels/error.h"

namespace cudatensor::cuda {
namespace {

std::string version_text(int version) {
  return std::to_string(version / 1000) + "." + std::to_string(version % 1000 / 10);
}

/// A missing driver looks to the runtime like one of version 0.
std::string driver_advice() {
  int driver = 0;
  cudaDriverGetVersion(&driver);
  if (driver == 0) return "no NVIDIA driver is installed here; install one, or use the CPU backend";
  return "the driver knows CUDA " + version_text(driver) + ", this build needs " +
         version_text(CUDART_VERSION) + ": update the driver";
}

Error::Code code_of(cudaError_t error) {
  switch (error) {
    case cudaErrorMemoryAllocation: return Error::Code::out_of_memory;
    case cudaErrorInsufficientDriver:
    case cudaErrorNoDevice:
    case cudaErrorInvalidDevice:
    case cudaErrorInitializationError:
    case cudaErrorDevicesUnavailable:
    case cudaErrorSystemNotReady:
    case cudaErrorSystemDriverMismatch:
    case cudaErrorCompatNotSupportedOnDevice:
    case cudaErrorStubLibrary:
    case cudaErrorNoKernelImageForDevice:
    case cudaErrorUnsupportedPtxVersion: return Error::Code::not_found;
    default: return Error::Code::device;
  }
}

std::string advice_on(cudaError_t error) {
  switch (error) {
    case cudaErrorMemoryAllocation:
      return "free memory: smaller pictures, fewer buffers, or another device";
    case cudaErrorInsufficientDriver: return driver_advice();
    case cudaErrorNoDevice: return "no GPU is visible: see nvidia-smi and CUDA_VISIBLE_DEVICES";
    case cudaErrorInvalidDevice: return "choose another device";
    case cudaErrorDevicesUnavailable:
      return "the GPU is in exclusive use by another process, or forbids new ones";
    case cudaErrorStubLibrary:
    case cudaErrorInitializationError:
    case cudaErrorSystemNotReady:
    case cudaErrorSystemDriverMismatch:
    case cudaErrorCompatNotSupportedOnDevice:
      return "the driver does not work: see whether nvidia-smi does";
    case cudaErrorNoKernelImageForDevice:
    case cudaErrorUnsupportedPtxVersion:
      return "this build has no code for this GPU: build with its gpu_architectures";
    case cudaErrorLaunchTimeout:
      return "the display's watchdog ended a kernel: smaller pictures, or a GPU without a display";
    case cudaErrorECCUncorrectable: return "the GPU's memory is broken: reset or replace it";
    case cudaErrorContextIsDestroyed:
      return "the application destroyed the CUDA context while the pipeline used it";
    default: return "the CUDA context may be lost";
  }
}

}  // namespace

void fail(cudaError_t error, const char *call) {
  // Forget it, so that nobody else takes it for one of theirs.
  cudaGetLastError();
  throw Error(code_of(error), std::string(call) + ": " + cudaGetErrorName(error) + " (" +
                                  cudaGetErrorString(error) + "); " + advice_on(error));
}

}  // namespace cudatensor::cuda
