// SPDX-License-Identifier: LGPL-2.1-or-later
#include "kernels/cuda/call.h"

#include "kernels/error.h"

namespace cudatensor::cuda {
namespace {

std::string version_text(int version) {
  return std::to_string(version / 1000) + "." + std::to_string(version % 1000 / 10);
}

/// Returns advice for a driver that is missing or too old. The runtime reports version 0 if no
/// driver is installed.
std::string driver_advice() {
  int driver = 0;
  cudaDriverGetVersion(&driver);
  if (driver == 0) return "no NVIDIA driver is installed: install one or use the CPU backend";
  return "the driver supports CUDA " + version_text(driver) + ", but this build requires " +
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
      return "reduce the picture size or the number of buffers, or use another device";
    case cudaErrorInsufficientDriver: return driver_advice();
    case cudaErrorNoDevice: return "no GPU is visible: check nvidia-smi and CUDA_VISIBLE_DEVICES";
    case cudaErrorInvalidDevice: return "use another device";
    case cudaErrorDevicesUnavailable:
      return "another process uses the GPU exclusively, or the GPU's compute mode prohibits new "
             "contexts";
    case cudaErrorStubLibrary:
    case cudaErrorInitializationError:
    case cudaErrorSystemNotReady:
    case cudaErrorSystemDriverMismatch:
    case cudaErrorCompatNotSupportedOnDevice: return "the driver does not work: check nvidia-smi";
    case cudaErrorNoKernelImageForDevice:
    case cudaErrorUnsupportedPtxVersion:
      return "this build has no code for this GPU: rebuild with its compute capability in "
             "gpu_architectures";
    case cudaErrorLaunchTimeout:
      return "the display watchdog stopped a kernel: reduce the picture size or use a GPU without "
             "a display";
    case cudaErrorECCUncorrectable:
      return "the GPU's memory has an uncorrectable error: reset or replace the GPU";
    case cudaErrorContextIsDestroyed:
      return "the application destroyed the CUDA context while the pipeline was using it";
    default: return "the CUDA context may be lost";
  }
}

}  // namespace

void fail(cudaError_t error, const char *call) {
  // Clears the runtime's last error, so that no other code mistakes it for its own.
  cudaGetLastError();
  throw Error(code_of(error), std::string(call) + ": " + cudaGetErrorName(error) + " (" +
                                  cudaGetErrorString(error) + "); " + advice_on(error));
}

}  // namespace cudatensor::cuda
