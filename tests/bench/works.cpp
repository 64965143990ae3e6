// SPDX-License-Identifier: LGPL-2.1-or-later
#include "works.h"

#include <cmath>

#include "imagenet.h"
#include "traffic.h"

using namespace cudatensor;

namespace bench {
namespace {

// --------------------------------------------------------------------------------------- pictures

size_t bytes_of(const ImageDesc &desc) {
  size_t bytes = 0;
  for (int i = 0; i < layout_of(desc.format).planes; ++i) {
    const PlaneSize size = plane_size(desc, i);
    bytes += size.row * size.rows;
  }
  return bytes;
}

/// A picture without gaps between rows and planes.
template <class Byte>
BasicImage<Byte> view(const ImageDesc &desc, Byte *data) {
  BasicImage<Byte> image = {desc, {}};
  for (int i = 0; i < layout_of(desc.format).planes; ++i) {
    const PlaneSize size = plane_size(desc, i);
    image.planes[i] = {data, static_cast<ptrdiff_t>(size.row)};
    data += size.row * size.rows;
  }
  return image;
}

ConstTensor view(const TensorDesc &desc, const uint8_t *data) { return {desc, data}; }
Tensor view(const TensorDesc &desc, uint8_t *data) { return {desc, data}; }

/// The level of component `c` at a sample.
int level_of(const FormatLayout &layout, int c, int x, int y, int pattern) {
  if (layout.model == ColorModel::yuv && c == 1) return chroma_u(x, pattern);
  if (layout.model == ColorModel::yuv && c == 2) return chroma_v(y, pattern);
  const Component &component = layout.component[c];
  const int place = layout.model == ColorModel::rgb ? component.plane + component.offset : 0;
  return level(x + 40 * place, y, pattern);
}

Bytes frame_of(const ImageDesc &desc, int pattern) {
  Bytes bytes(bytes_of(desc));
  const Image image = view(desc, bytes.data());
  const FormatLayout layout = layout_of(desc.format);
  for (int c = 0; c < layout.components; ++c) {
    const int width = component_length(layout.chroma_shift_x, c, desc.width);
    const int height = component_length(layout.chroma_shift_y, c, desc.height);
    for (int y = 0; y < height; ++y)
      for (int x = 0; x < width; ++x) {
        uint8_t *const at = &image.row(layout.component[c], y)[x * layout.component[c].step];
        const int sample = level_of(layout, c, x, y, pattern) << (layout.bits - 8 + layout.shift);
        at[0] = static_cast<uint8_t>(sample);
        if (layout.is_deep()) at[1] = static_cast<uint8_t>(sample >> 8);
      }
  }
  return bytes;
}

std::function<Bytes(int)> frames_like(const ImageDesc &desc) {
  return [desc](int pattern) { return frame_of(desc, pattern); };
}

// ------------------------------------------------------------------------------------- operations

/// An operation as a Run.
template <class Operation, class InDesc, class OutDesc>
Run run_of(std::unique_ptr<Operation> made, const InDesc &in_desc, const OutDesc &out_desc) {
  const std::shared_ptr<Operation> operation = std::move(made);
  return [=](const uint8_t *in, uint8_t *out, Stream stream) {
    operation->run(view(in_desc, in), view(out_desc, out), stream);
  };
}

Run run_of(std::unique_ptr<HistogramOperation> made, const ImageDesc &desc) {
  const std::shared_ptr<HistogramOperation> operation = std::move(made);
  return [=](const uint8_t *in, uint8_t *out, Stream stream) {
    operation->run(view(desc, in), *reinterpret_cast<Bins *>(out), stream);
  };
}

Run run_of(std::unique_ptr<NormalizePictures> made, const ImageDesc &desc,
           const TensorDesc &tensor) {
  const std::shared_ptr<NormalizePictures> operation = std::move(made);
  const auto frame = static_cast<ptrdiff_t>(bytes_of(desc));
  std::vector<ConstImage> pictures(static_cast<size_t>(tensor.n));
  return [=](const uint8_t *in, uint8_t *out, Stream stream) mutable {
    for (ConstImage &picture : pictures) {
      picture = view(desc, in);
      in += frame;
    }
    operation->run(pictures, {tensor, out}, stream);
  };
}

/// The slots of a frame, each by a matrix.
Run run_of(std::unique_ptr<NormalizeOperation> made, const NormalizeCase &params,
           const std::vector<Matrix> &matrices) {
  const std::shared_ptr<NormalizeOperation> operation = std::move(made);
  std::vector<Slot> slots;
  for (const Matrix &matrix : matrices) slots.push_back({params.source, {}, {}, matrix});
  return [=, source = params.source.image, tensor = params.out](const uint8_t *in, uint8_t *out,
                                                                Stream stream) mutable {
    for (Slot &slot : slots) slot.image = view(source, in);
    operation->run(slots, {tensor, out}, stream);
  };
}

struct Name {
  std::string key, table, title;
};

template <class... Plans>
size_t read_bytes_of(const std::variant<Plans...> &sampling) {
  return std::visit([](const auto &plan) { return read_bytes(plan); }, sampling);
}

class Works {
 public:
  Works(Backend &cuda, Backend &cpu, const std::function<void(const Work &)> &take)
      : cuda_(cuda), cpu_(cpu), take_(take) {}

  void normalize(const Name &name, const NormalizeCase &params, bool shared = false) {
    Work work = normalize_work(name, params);
    work.shared = shared;
    work.cuda = run_of(normalize_picture(cuda_, params), params.source.image, params.out);
    take_(work);
  }

  void batch(const Name &name, NormalizeCase params, int slots) {
    Work work = normalize_work(name, params);
    const std::vector<Source> sources(static_cast<size_t>(slots), params.source);
    params.out.n = work.shape.batch = slots;
    work.cuda = run_of(normalize_pictures(cuda_, sources, params), params.source.image, params.out);
    take_(work);
  }

  /// Takes slots by matrices of one frame.
  void matrices(const Name &name, NormalizeCase params, const std::vector<Matrix> &matrices,
                bool shared) {
    const ImageDesc &in = params.source.image;
    params.out.n = static_cast<int64_t>(matrices.size());
    Work work = work_of(name, bytes_of(in), params.out.bytes());
    work.moved = work.shape.out_bytes;
    for (const Matrix &matrix : matrices)
      work.moved +=
          read_bytes_of(make_matrix_slot_plan(params, params.out, params.source, matrix).sampling);
    work.shared = shared;
    work.frame = frames_like(in);
    work.cuda = run_of(cuda_.normalize(params, params.out), params, matrices);
    work.cpu = run_of(cpu_.normalize(params, params.out), params, matrices);
    take_(work);
  }

  void letterbox(const Name &name, const LetterboxParams &params, bool shared) {
    const ImageDesc &in = params.source.image, &out = params.out;
    Work work = work_of(name, bytes_of(in), bytes_of(out));
    work.moved = read_bytes_of(make_letterbox_plan(params).sampling) + work.shape.out_bytes;
    work.shared = shared;
    work.frame = frames_like(in);
    work.cuda = run_of(cuda_.letterbox(params), in, out);
    work.cpu = run_of(cpu_.letterbox(params), in, out);
    take_(work);
  }

  void yuv444(const Name &name, const Yuv444Params &params) {
    Work work = work_of(name, bytes_of(params.in), bytes_of(params.out));
    work.moved = read_bytes(make_yuv444_plan(params)) + work.shape.out_bytes;
    work.frame = frames_like(params.in);
    work.cuda = run_of(cuda_.yuv444(params), params.in, params.out);
    work.cpu = run_of(cpu_.yuv444(params), params.in, params.out);
    take_(work);
  }

  void histogram(const Name &name, const ImageDesc &in, bool is_flat = false) {
    const HistogramParams params = {in, {0, 0, in.width, in.height}};
    Work work = work_of(name, bytes_of(in), sizeof(Bins));
    work.shape.pinned = work.shared = true;
    work.frame = [=, bytes = work.shape.in_bytes](int pattern) {
      return is_flat ? flat(bytes) : noise(bytes, pattern);
    };
    work.cuda = run_of(cuda_.histogram(params), in);
    work.cpu = run_of(cpu_.histogram(params), in);
    take_(work);
  }

  void shuffle(const Name &name, const PixelShuffleParams &params) {
    const TensorDesc out = shuffled(params);
    Work work = work_of(name, params.in.bytes(), out.bytes());
    work.shared = true;
    work.frame = tensors_like(params.in);
    work.cuda = run_of(cuda_.pixelshuffle(params), params.in, out);
    work.cpu = run_of(cpu_.pixelshuffle(params), params.in, out);
    take_(work);
  }

  void shuffle_to_video(const Name &name, const PixelShuffleToVideoParams &params) {
    Work work = work_of(name, params.in.bytes(), bytes_of(params.out));
    work.shared = true;
    work.frame = tensors_like(params.in);
    work.cuda = run_of(cuda_.pixelshuffle(params), params.in, params.out);
    work.cpu = run_of(cpu_.pixelshuffle(params), params.in, params.out);
    take_(work);
  }

 private:
  static Work work_of(const Name &name, size_t in, size_t out) {
    return {name.key, name.table, name.title, {in, out}, in + out, false, {}, {}, {}};
  }

  /// All members except `cuda`.
  Work normalize_work(const Name &name, const NormalizeCase &params) {
    const ImageDesc &in = params.source.image;
    Work work = work_of(name, bytes_of(in), params.out.bytes());
    work.moved = read_bytes_of(make_slot_plan(params, params.out, params.source, {}).sampling) +
                 work.shape.out_bytes;
    work.frame = frames_like(in);
    work.cpu = run_of(normalize_picture(cpu_, params), in, params.out);
    return work;
  }

  static std::function<Bytes(int)> tensors_like(const TensorDesc &desc) {
    return [bytes = desc.bytes(), mask = desc.dtype == DType::float16 ? kFloat16 : kFloat32](
               int pattern) { return noise(bytes, pattern, mask); };
  }

  Backend &cuda_, &cpu_;
  const std::function<void(const Work &)> &take_;
};

// ------------------------------------------------------------------------------------- parameters

NormalizeCase camera(int width, int height, int size) {
  NormalizeCase params = imagenet_letterbox(width, height, size);
  params.resize.mode = ResizeMode::affine;
  return params;
}

NormalizeCase from(PixelFormat format, NormalizeCase params) {
  params.source.image.format = format;
  return params;
}

NormalizeCase float16(NormalizeCase params) {
  params.out.dtype = DType::float16;
  return params;
}

/// The resize of classifiers: the shorter edge becomes 256 pixels, of which the middle 224 are
/// taken.
NormalizeCase classifier(int width, int height) {
  NormalizeCase params = imagenet_letterbox(width, height, 224);
  params.resize.mode = ResizeMode::torchvision;
  params.resize.shortest_edge = 256;
  params.resize.antialias = true;
  params.resize.method = Method::bicubic;
  return params;
}

/// The resize of large CLIP models.
NormalizeCase clip(int width, int height) {
  NormalizeCase params = imagenet_letterbox(width, height, 336);
  params.resize.mode = ResizeMode::transformers;
  params.resize.antialias = true;
  params.resize.method = Method::bicubic;
  return params;
}

NormalizeCase antialiased(NormalizeCase params) {
  params.resize.antialias = true;
  return params;
}

NormalizeCase enlarged(int width, int height, int to_width, int to_height) {
  NormalizeCase params = imagenet_letterbox(width, height, to_width);
  params.resize.mode = ResizeMode::stretch;
  params.resize.antialias = true;
  params.resize.method = Method::bicubic;
  params.out.h = to_height;
  return params;
}

/// For comparison with software that has no other matrix.
NormalizeCase bt601(NormalizeCase params) {
  params.source.colorimetry.matrix = ColorMatrix::bt601;
  return params;
}

/// For comparison with software that neither pads nor normalizes channels separately.
NormalizeCase stretched(NormalizeCase params) {
  params.resize.mode = ResizeMode::stretch;
  params.mean = {0.0};
  params.std = {1.0};
  return params;
}

LetterboxParams from_4k(int width, int height, ColorMatrix matrix) {
  return {{{PixelFormat::NV12, 3840, 2160}, {matrix, ColorRange::limited}, true, false},
          {PixelFormat::BGR, width, height},
          {}};
}

Yuv444Params fixed_point(int width, int height, int to_width, int to_height) {
  return {{PixelFormat::NV12, width, height},
          {PixelFormat::Y444, to_width, to_height},
          to_width,
          to_height,
          0,
          0};
}

TensorDesc planes(DType type, int64_t channels, int64_t height, int64_t width) {
  return {type, Layout::nchw, 1, channels, height, width};
}

/// Formats other than NV12, with their keys.
constexpr std::pair<PixelFormat, const char *> kFormats[] = {
    {PixelFormat::BGR, "bgr"},        {PixelFormat::RGBP, "rgbp"},
    {PixelFormat::YUY2, "yuy2"},      {PixelFormat::Y42B, "y42b"},
    {PixelFormat::P010_10LE, "p010"}, {PixelFormat::I420_10LE, "i420-10"}};

void add_tensors(Works &works) {
  const NormalizeCase full_hd = camera(1920, 1080, 640);
  const std::string table = "tensor";
  works.normalize({"tensor", table, "NV12 1920×1080 → 640×640 float32"}, full_hd, true);
  works.normalize({"tensor-601", "", ""}, bt601(full_hd), true);
  works.normalize({"tensor-stretched-601", "", ""}, stretched(bt601(full_hd)), true);
  works.normalize({"tensor-f16", table, "NV12 1920×1080 → 640×640 float16"}, float16(full_hd));
  works.normalize({"tensor-608", table, "NV12 1920×1080 → 608×608 float32"},
                  camera(1920, 1080, 608));
  works.normalize({"tensor-4k", table, "NV12 3840×2160 → 640×640 float32"}, camera(3840, 2160, 640),
                  true);
  works.normalize({"tensor-up", table, "NV12 640×480 → 1280×1280 float32"}, camera(640, 480, 1280));
  for (const auto &[format, key] : kFormats)
    works.normalize({std::string("tensor-") + key, table,
                     std::string(name_of(format)) + " 1920×1080 → 640×640 float32"},
                    from(format, full_hd));
}

void add_batches(Works &works) {
  const NormalizeCase full_hd = camera(1920, 1080, 640);
  const std::string table = "batch";
  works.batch({"batch", table, "64 × NV12 1920×1080 → 640×640 float32"}, full_hd, 64);
  works.batch({"batch-f16", table, "64 × NV12 1920×1080 → 640×640 float16"}, float16(full_hd), 64);
  works.batch({"batch-4k", table, "16 × NV12 3840×2160 → 640×640 float32"}, camera(3840, 2160, 640),
              16);
  works.batch({"batch-4k-64", table, "64 × NV12 3840×2160 → 640×640 float32"},
              camera(3840, 2160, 640), 64);
  works.batch({"batch-up", table, "64 × NV12 640×480 → 1280×1280 float32"}, camera(640, 480, 1280),
              64);
  for (const auto &[format, key] : kFormats)
    works.batch({std::string("batch-") + key, table,
                 std::string("64 × ") + name_of(format) + " 1920×1080 → 640×640 float32"},
                from(format, full_hd), 64);
}

/// Takes one frame and, if `slots` is more than 1, a batch of that many.
void add_filter(Works &works, const std::string &key, const std::string &title,
                const NormalizeCase &params, int slots, bool shared = false) {
  works.normalize({key, "filter", title}, params, shared);
  if (slots > 1)
    works.batch({key + "-batch", "filter", std::to_string(slots) + " × " + title}, params, slots);
}

void add_filters(Works &works) {
  add_filter(works, "filter-224-f16", "NV12 1920×1080 → 224×224 float16, bicubic, torchvision",
             float16(classifier(1920, 1080)), 64, true);
  works.normalize({"filter-224-f16-601", "", ""}, bt601(float16(classifier(1920, 1080))), true);
  add_filter(works, "filter-224-bgr", "BGR 1920×1080 → 224×224 float16, bicubic, torchvision",
             float16(from(PixelFormat::BGR, classifier(1920, 1080))), 64, true);
  add_filter(works, "filter-640", "NV12 1920×1080 → 640×640 float32, bilinear, ultralytics",
             antialiased(imagenet_letterbox(1920, 1080, 640)), 64);
  add_filter(works, "filter-336-4k", "NV12 3840×2160 → 336×336 float32, bicubic, transformers",
             clip(3840, 2160), 64);
  add_filter(works, "filter-up", "NV12 640×480 → 1920×1080 float32, bicubic, stretch",
             enlarged(640, 480, 1920, 1080), 16);
}

/// Directions with the names that the property video-direction has for them.
constexpr std::pair<Direction, const char *> kTurned[] = {{Direction::half_turn, "180"},
                                                          {Direction::horizontal, "horiz"},
                                                          {Direction::clockwise, "90r"},
                                                          {Direction::main_diagonal, "ul-lr"}};

/// Similarities that align faces of 60 to 140 pixels all over a picture, each at an angle of its
/// own.
std::vector<Matrix> face_matrices(const ImageDesc &image, int size, int faces) {
  std::vector<Matrix> matrices;
  for (int i = 0; i < faces; ++i) {
    const double scale = size / (60.0 + 80.0 * (i % 9) / 8.0), angle = 0.12 * (i % 11 - 5);
    const double c = scale * std::cos(angle), s = scale * std::sin(angle);
    const double x = image.width * (0.1 + 0.1 * (i % 8)),
                 y = image.height * (0.1 + 0.1 * (i / 8 % 8));
    matrices.push_back({c, s, size / 2.0 - c * x - s * y, -s, c, size / 2.0 + s * x - c * y});
  }
  return matrices;
}

void add_turned(Works &works) {
  const std::string table = "turned";
  const NormalizeCase upright = float16(camera(1920, 1080, 640));
  for (const auto &[direction, key] : kTurned) {
    NormalizeCase turned = upright;
    turned.source.direction = direction;
    const std::string name = std::string("turned-") + key;
    const std::string title = std::string("NV12 1920×1080, ") + key + " → 640×640 float16";
    const bool shared = direction == Direction::clockwise;
    works.normalize({name, table, title}, turned, shared);
    if (shared) works.normalize({name + "-601", "", ""}, bt601(turned), true);
    works.batch({name + "-batch", table, "64 × " + title}, turned, 64);
  }
  const NormalizeCase faces = float16(camera(1920, 1080, 112));
  const std::vector<Matrix> matrices = face_matrices(faces.source.image, 112, 64);
  works.matrices({"faces", table, "64 faces of NV12 1920×1080 → 112×112 float16, by matrices"},
                 faces, matrices, true);
  works.matrices({"faces-601", "", ""}, bt601(faces), matrices, true);
}

void add_pictures(Works &works) {
  const std::string table = "picture";
  const auto bt709 = ColorMatrix::bt709, bt601 = ColorMatrix::bt601;
  works.letterbox({"bgr-4k", table, "NV12 3840×2160 → BGR"}, from_4k(3840, 2160, bt709), true);
  works.letterbox({"bgr-4k-601", "", ""}, from_4k(3840, 2160, bt601), true);
  works.letterbox({"bgr-half", table, "NV12 3840×2160 → BGR 1920×1080"}, from_4k(1920, 1080, bt709),
                  true);
  works.letterbox({"bgr-half-601", "", ""}, from_4k(1920, 1080, bt601), true);
  works.yuv444({"yuv444", table, "NV12 1920×1080 → Y444, Q13.18"},
               fixed_point(1920, 1080, 1920, 1080));
  works.yuv444({"yuv444-4k", table, "NV12 3840×2160 → Y444, Q13.18"},
               fixed_point(3840, 2160, 3840, 2160));
  works.yuv444({"yuv444-half", table, "NV12 3840×2160 → Y444 1920×1080, Q13.18"},
               fixed_point(3840, 2160, 1920, 1080));
}

void add_histograms(Works &works) {
  const ImageDesc full_hd = {PixelFormat::GRAY8, 1920, 1080},
                  uhd = {PixelFormat::GRAY8, 3840, 2160};
  const std::string table = "histogram";
  works.histogram({"histogram", table, "luma 1920×1080, noise"}, full_hd);
  works.histogram({"histogram-flat", table, "luma 1920×1080, flat"}, full_hd, true);
  works.histogram({"histogram-4k", table, "luma 3840×2160, noise"}, uhd);
  works.histogram({"histogram-4k-flat", table, "luma 3840×2160, flat"}, uhd, true);
  works.histogram({"histogram-bgr", table, "BGR 1920×1080, noise"}, {PixelFormat::BGR, 1920, 1080});
  works.histogram({"histogram-rgbx", table, "RGBx 1920×1080, noise"},
                  {PixelFormat::RGBx, 1920, 1080});
}

void add_shuffles(Works &works) {
  const std::string table = "shuffle";
  const DType half = DType::float16, single = DType::float32;
  works.shuffle({"shuffle-2", table, "(1, 256, 1088, 1920) float16, r = 2"},
                {planes(half, 256, 1088, 1920), 2});
  works.shuffle({"shuffle-3", table, "(1, 252, 1088, 1920) float16, r = 3"},
                {planes(half, 252, 1088, 1920), 3});
  works.shuffle({"shuffle-4", table, "(1, 256, 1088, 1920) float16, r = 4"},
                {planes(half, 256, 1088, 1920), 4});
  works.shuffle({"shuffle-2-f32", table, "(1, 128, 1088, 1920) float32, r = 2"},
                {planes(single, 128, 1088, 1920), 2});
  works.shuffle_to_video(
      {"video-2", table, "(1, 12, 1080, 1920) float16, r = 2, to BGR"},
      {planes(half, 12, 1080, 1920), 2, {PixelFormat::BGR, 3840, 2160}, 0.0, 0.0});
  works.shuffle_to_video({"video-4", table, "(1, 48, 540, 960) float16, r = 4, to BGR"},
                         {planes(half, 48, 540, 960), 4, {PixelFormat::BGR, 3840, 2160}, 0.0, 0.0});
  works.shuffle_to_video(
      {"video-2-f32", table, "(1, 12, 1080, 1920) float32, r = 2, to RGB"},
      {planes(single, 12, 1080, 1920), 2, {PixelFormat::RGB, 3840, 2160}, 0.0, 0.0});
}

}  // namespace

void for_each_work(Backend &cuda, Backend &cpu, const std::function<void(const Work &)> &take) {
  Works works(cuda, cpu, take);
  add_tensors(works);
  add_batches(works);
  add_filters(works);
  add_turned(works);
  add_pictures(works);
  add_histograms(works);
  add_shuffles(works);
}

}  // namespace bench
