// SPDX-License-Identifier: LGPL-2.1-or-later
#include "reference.h"

namespace cudatensor {
namespace {

Backend &backend() {
  static const std::unique_ptr<Backend> cpu = open_cpu_backend(1);
  return *cpu;
}

/// Memory of a tensor, aligned for its elements.
class Buffer {
 public:
  explicit Buffer(const TensorDesc &desc) : desc_(desc), words_(desc.bytes() / 4 + 1) {}
  Buffer(const TensorDesc &desc, const Bytes &bytes) : Buffer(desc) {
    std::memcpy(words_.data(), bytes.data(), bytes.size());
  }

  Tensor tensor() { return {desc_, words_.data()}; }
  ConstTensor const_tensor() const { return {desc_, words_.data()}; }
  Bytes bytes() const {
    const auto *begin = reinterpret_cast<const uint8_t *>(words_.data());
    return Bytes(begin, begin + desc_.bytes());
  }

 private:
  TensorDesc desc_;
  std::vector<uint32_t> words_;
};

}  // namespace

Source source_of(const ImageDesc &desc) {
  return {desc, {ColorMatrix::bt601, ColorRange::limited}, false, false};
}

Picture letterboxed(const Picture &in, const LetterboxParams &params) {
  Picture out(params.out);
  backend().letterbox(params)->run(in.view(), out.view());
  return out;
}

Bytes normalized(const Picture &in, const NormalizeCase &params) {
  Buffer out(params.out);
  normalize_picture(backend(), params)->run(in.view(), out.tensor());
  return out.bytes();
}

Picture as_yuv444(const Picture &in, const Yuv444Params &params) {
  Picture out(params.out);
  backend().yuv444(params)->run(in.view(), out.view());
  return out;
}

Bytes shuffled_bytes(const Bytes &in, const PixelShuffleParams &params) {
  Buffer out(shuffled(params));
  backend().pixelshuffle(params)->run(Buffer(params.in, in).const_tensor(), out.tensor());
  return out.bytes();
}

Picture shuffled_picture(const Bytes &in, const PixelShuffleToVideoParams &params) {
  Picture out(params.out);
  backend().pixelshuffle(params)->run(Buffer(params.in, in).const_tensor(), out.view());
  return out;
}

NormalizeCase normalize_params(const Source &source, Color color, DType dtype, Layout layout,
                               int width, int height) {
  NormalizeCase params;
  params.source = source;
  params.color = color;
  params.out = {dtype, layout, 1, color == Color::gray ? 1 : 3, height, width};
  return params;
}

std::string nick(ResizeMode mode) {
  switch (mode) {
    case ResizeMode::stretch: return "stretch";
    case ResizeMode::affine: return "affine";
    case ResizeMode::ultralytics: return "ultralytics";
    case ResizeMode::top_left: return "top-left";
    case ResizeMode::torchvision: return "torchvision";
    case ResizeMode::transformers: return "transformers";
  }
  return "";
}

std::string nick(Method method) {
  switch (method) {
    case Method::bilinear: return "bilinear";
    case Method::nearest: return "nearest";
    case Method::box: return "box";
    case Method::bicubic: return "bicubic";
    case Method::lanczos: return "lanczos";
  }
  return "";
}

std::string nick(Color color) {
  switch (color) {
    case Color::rgb: return "rgb";
    case Color::bgr: return "bgr";
    case Color::gray: return "gray";
    case Color::yuv: return "yuv";
  }
  return "";
}

std::string nick(Layout layout) {
  switch (layout) {
    case Layout::nchw: return "nchw";
    case Layout::nhwc: return "nhwc";
    case Layout::ncthw: return "ncthw";
  }
  return "";
}

std::string nick(DType dtype) {
  switch (dtype) {
    case DType::float32: return "float32";
    case DType::float16: return "float16";
    case DType::uint8: return "uint8";
    case DType::int8: return "int8";
    case DType::bfloat16: return "bfloat16";
  }
  return "";
}

std::string properties_of(const Resize &resize) {
  const auto flag = [](bool value) { return std::string(value ? "true" : "false"); };
  return " resize-mode=" + nick(resize.mode) + " method=" + nick(resize.method) +
         " antialias=" + flag(resize.antialias) +
         " shortest-edge=" + std::to_string(resize.shortest_edge) +
         " pad-value=" + std::to_string(resize.pad_value) + " scale-up=" + flag(resize.scale_up);
}

std::string dimensions_of(const TensorDesc &d) {
  const auto text = [](int64_t a, int64_t b, int64_t c, int64_t n) {
    return std::to_string(a) + ":" + std::to_string(b) + ":" + std::to_string(c) + ":" +
           std::to_string(n);
  };
  return d.layout == Layout::nchw ? text(d.w, d.h, d.c, d.n) : text(d.c, d.w, d.h, d.n);
}

std::string tensor_caps(const std::string &types, const std::string &dimensions,
                        const std::string &more) {
  return "other/tensors,format=static,num_tensors=1,types=" + types + ",dimensions=(string)\"" +
         dimensions + "\"" + (more.empty() ? "" : "," + more);
}

std::string tensor_caps(const TensorDesc &desc, const std::string &more) {
  return tensor_caps(nick(desc.dtype), dimensions_of(desc), more);
}

}  // namespace cudatensor
