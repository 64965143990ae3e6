// SPDX-License-Identifier: LGPL-2.1-or-later
// Pictures in their directions: results equal those of pictures whose samples have been moved, where
// a direction only moves samples; and where it does not, chroma keeps its place.
#include "kernels/orientation.h"

#include <cmath>
#include <cstring>

#include "backends.h"
#include "kernels/cpu/upright.h"
#include "oracle.h"
#include "params.h"

namespace cudatensor {
namespace {

struct StoredPixel {
  int x, y;
};

/// Returns the stored pixel that is seen at (x, y).
StoredPixel stored_pixel(Direction direction, const ImageDesc &stored, int x, int y) {
  const int right = stored.width - 1, bottom = stored.height - 1;
  switch (direction) {
    case Direction::identity: return {x, y};
    case Direction::horizontal: return {right - x, y};
    case Direction::vertical: return {x, bottom - y};
    case Direction::half_turn: return {right - x, bottom - y};
    case Direction::main_diagonal: return {y, x};
    // Transposed, then left and right change places: the lower left becomes the upper left.
    case Direction::clockwise: return {y, bottom - x};
    // Transposed, then top and bottom change places.
    case Direction::counterclockwise: return {right - y, x};
    case Direction::anti_diagonal: return {right - y, bottom - x};
  }
  return {};
}

TEST(Orientation, PixelsLieWhereTheNamesSay) {
  const ImageDesc stored = {PixelFormat::GRAY8, 5, 3};
  for (const Direction direction : kDirections) {
    SCOPED_TRACE(text_of(direction));
    const Orientation o = orientation_of(direction);
    const ImageDesc picture = seen(stored, direction);
    for (int y = 0; y < picture.height; ++y)
      for (int x = 0; x < picture.width; ++x) {
        int i = o.mirrored_x ? picture.width - 1 - x : x;
        int j = o.mirrored_y ? picture.height - 1 - y : y;
        if (o.transposed) std::swap(i, j);
        const StoredPixel expected = stored_pixel(direction, stored, x, y);
        EXPECT_EQ(i, expected.x);
        EXPECT_EQ(j, expected.y);
      }
  }
}

TEST(Orientation, RegionsCoverTheSamePixels) {
  const ImageDesc stored = {PixelFormat::GRAY8, 7, 4};
  for (const Direction direction : kDirections) {
    SCOPED_TRACE(text_of(direction));
    const Region region = seen({1.0, 0.0, 3.0, 2.0}, stored, direction);
    const ImageDesc picture = seen(stored, direction);
    for (int y = 0; y < picture.height; ++y)
      for (int x = 0; x < picture.width; ++x) {
        const StoredPixel pixel = stored_pixel(direction, stored, x, y);
        const bool inside = x >= region.x && x < region.x + region.width && y >= region.y &&
                            y < region.y + region.height;
        EXPECT_EQ(inside, pixel.x >= 1 && pixel.x < 4 && pixel.y < 2) << x << "," << y;
      }
  }
}

/// The matrix maps the corners of each stored pixel that is seen to where the pixel is in the output.
TEST(Orientation, MatricesMapStoredPixels) {
  const ImageDesc stored = {PixelFormat::GRAY8, 6, 4};
  for (const Direction direction : kDirections)
    for (const ResizeMode mode : kModes) {
      SCOPED_TRACE(text_of(direction));
      const ImageDesc picture = seen(stored, direction);
      Geometry g = make_geometry({mode}, picture.width, picture.height, 31, 17);
      g.direction = direction;
      EXPECT_EQ(stored_size(g).width, 6);
      EXPECT_EQ(stored_size(g).height, 4);
      const Matrix m = matrix_of(g), both = product(m, inverse_of(g));
      for (int y = 0; y < picture.height; ++y)
        for (int x = 0; x < picture.width; ++x) {
          const StoredPixel at = stored_pixel(direction, stored, x, y);
          EXPECT_NEAR(m[0] * (at.x + 0.5) + m[1] * (at.y + 0.5) + m[2], g.sx * (x + 0.5) + g.tx,
                      1e-9);
          EXPECT_NEAR(m[3] * (at.x + 0.5) + m[4] * (at.y + 0.5) + m[5], g.sy * (y + 0.5) + g.ty,
                      1e-9);
        }
      const Matrix identity = {1.0, 0.0, 0.0, 0.0, 1.0, 0.0};
      for (size_t i = 0; i < 6; ++i) EXPECT_NEAR(both[i], identity[i], 1e-9);
    }
}

/// Programs that print a geometry print no "-0".
TEST(Orientation, MatricesHaveNoNegativeZeros) {
  for (const Direction direction : kDirections) {
    Geometry g = make_geometry({ResizeMode::stretch}, 6, 4, 12, 8);
    g.direction = direction;
    for (const Matrix &m : {matrix_of(g), inverse_of(g)})
      for (const double number : m)
        EXPECT_FALSE(number == 0.0 && std::signbit(number)) << text_of(direction);
  }
}

/// The rows are the same in any order, which no plan needs: threads may take over parts of a picture.
TEST(Orientation, RowsAreReadInAnyOrder) {
  for_cases(60, [](Random &random) {
    const PixelFormat format = random.pick(
        std::vector<PixelFormat>{PixelFormat::GRAY8, PixelFormat::RGB, PixelFormat::BGRx});
    const InputPicture picture(random, {format, random.integer(1, 150), random.integer(1, 300)});
    const ConstImage in = picture.view();
    const Direction direction = random.pick(kDirections);
    const ImageDesc all = seen(in.desc, direction);
    const int components = format == PixelFormat::GRAY8 ? 1 : 3;
    const int first = random.integer(0, all.height - 1);
    const int lines = random.integer(1, all.height - first);
    const Source source = {in.desc, {}, false, false, direction};
    const cpu::Upright upright(source, 0, components, cpu::SamplesRead(0, all.width),
                               cpu::SamplesRead(first, lines));
    cpu::Upright::Scratch scratch = upright.make_scratch();
    for (int i = 0; i < 20; ++i) {
      const int y = first + random.integer(0, lines - 1), x = random.integer(0, all.width - 1);
      const uint8_t *const row = upright.row(in, y, scratch);
      const StoredPixel at = stored_pixel(direction, in.desc, x, y);
      for (int c = 0; c < components; ++c) {
        const cpu::PixelBytes bytes = upright.pixel_of_component(c);
        EXPECT_EQ(row[upright.position_of(x) * bytes.step + bytes.offset[0]],
                  oracle::sample(in, components == 1 ? 'Y' : "RGB"[c], at.x, at.y))
            << text_of(direction) << " " << x << "," << y;
      }
    }
  });
}

/// Rounding must not move a region's edge out of the picture, where pixels are pad.
TEST(Orientation, RegionsStayInThePicture) {
  for_cases(3000, [](Random &random) {
    const ImageDesc stored = {PixelFormat::GRAY8, random.integer(1, 200), random.integer(1, 200)};
    const double x = random.chance(30) ? 0.0 : random.real(0.0, stored.width - 0.5);
    const double y = random.chance(30) ? 0.0 : random.real(0.0, stored.height - 0.5);
    const std::optional<Region> region =
        clip({x, y, random.real(0.1, stored.width), random.real(0.1, stored.height)}, stored.width,
             stored.height);
    ASSERT_TRUE(region);
    for (const Direction direction : kDirections) {
      const ImageDesc picture = seen(stored, direction);
      const Region turned = seen(*region, stored, direction);
      EXPECT_EQ(clip(turned, picture.width, picture.height), turned) << text_of(direction);
    }
  });
}

/// Returns formats whose chroma is not subsampled.
std::vector<PixelFormat> whole_formats() {
  std::vector<PixelFormat> formats;
  for (const PixelFormat format : kSourceFormats)
    if (oracle::format_of(format).across == 1) formats.push_back(format);
  return formats;
}

/// A picture whose samples can be set one by one.
class Canvas {
 public:
  explicit Canvas(const ImageDesc &desc) : image_{desc, {}} {
    for (int i = 0; i < layout_of(desc.format).planes; ++i) {
      const PlaneSize size = plane_size(desc, i);
      planes_[i].resize(size.row * size.rows, 128);
      image_.planes[i] = {planes_[i].data(), static_cast<ptrdiff_t>(size.row)};
    }
  }

  uint8_t *sample(char letter, int x, int y) { return oracle::address(image_, letter, x, y); }
  uint8_t *plane(int i) { return planes_[i].data(); }
  ConstImage view() const { return constant(image_); }

 private:
  std::vector<uint8_t> planes_[3];
  Image image_;
};

class OrientationTest : public KernelTest {
 protected:
  /// Returns the picture as it is seen. Chroma must not be subsampled.
  static InputPicture moved(Random &random, const InputPicture &in, const Source &source) {
    const oracle::Format &format = oracle::format_of(source.image.format);
    Canvas from(source.image), to(source.seen());
    InputPicture picture(random, source.seen());
    copy(in.view(), from);
    for (int y = 0; y < source.seen().height; ++y)
      for (int x = 0; x < source.seen().width; ++x)
        for (const char letter : format.components) {
          const StoredPixel at = stored_pixel(source.direction, source.image, x, y);
          std::memcpy(to.sample(letter, x, y), from.sample(letter, at.x, at.y),
                      static_cast<size_t>(format.bytes()));
        }
    picture.assign(to.view());
    return picture;
  }

  static void copy(const ConstImage &from, Canvas &to) {
    for (int i = 0; i < layout_of(from.desc.format).planes; ++i) {
      const PlaneSize size = plane_size(from.desc, i);
      const auto &plane = to.view().planes[i];
      for (size_t y = 0; y < size.rows; ++y)
        std::memcpy(to.plane(i) + static_cast<ptrdiff_t>(y) * plane.stride,
                    from.planes[i].data + static_cast<ptrdiff_t>(y) * from.planes[i].stride,
                    size.row);
    }
  }

  void expect_as_of_the_moved_picture(Random &random, const NormalizeCase &p) const {
    SCOPED_TRACE(text_of(p));
    const InputPicture in(random, p.source.image, random.pick(kAllContents));
    NormalizeCase upright = p;
    upright.source.image = p.source.seen();
    upright.source.direction = Direction::identity;
    const InputPicture stored = moved(random, in, p.source);
    OutputTensor out(random, p.out);
    machine().run(*normalize_picture(machine(), upright), stored, out);
    out.adopt();
    for (const auto &machine : machines())
      expect_one(*machine, *normalize_picture(*machine, p), in, out);
  }
};

CUDATENSOR_FOR_EVERY_BACKEND(OrientationTest);

TEST_P(OrientationTest, WholeSamplesGiveTheBitsOfTheMovedPicture) {
  const std::vector<PixelFormat> formats = whole_formats();
  for_cases(600, [&](Random &random) {
    const PixelFormat format = random.pick(formats);
    Color color = random.pick(kColors);
    if (!is_possible(format, color)) color = Color::rgb;
    const Size in = random_size(random), out = random_size(random);
    NormalizeCase p = random_normalize(random, format, color, in, out);
    p.source.direction = random.pick(kDirections);
    if (random.chance(30)) p.resize = {};
    if (color != Color::yuv && random.chance(40)) p.resize = random_filter(random);
    if (random.chance(15)) make_crop(random, p.resize, in, out);
    expect_as_of_the_moved_picture(random, p);
  });
}

TEST_P(OrientationTest, EveryDirectionOfEveryFormat) {
  uint64_t number = 0;
  for (const PixelFormat format : kSourceFormats)
    for (const Direction direction : kDirections)
      for (const Method method : kMethods)
        for (const bool filtered : kBools) {
          Random random(++number);
          if (random.is_left_out(25)) continue;
          SCOPED_TRACE(random.name());
          const Size in = {random.integer(1, 70), random.integer(1, 50)};
          NormalizeCase p = random_normalize(random, format, Color::rgb, in,
                                             {random.integer(1, 40), random.integer(1, 40)});
          p.resize.method = method;
          if (filtered) p.resize = random_filter(random);
          p.source.direction = direction;
          SCOPED_TRACE(text_of(p));
          const InputPicture picture(random, p.source.image);
          OutputTensor out(random, p.out);
          oracle::normalize(p, picture.view(), out.expected());
          const Machine &machine = any(random);
          expect_one(machine, *normalize_picture(machine, p), picture, out);
        }
}

/// A luma edge and a chroma edge at the same place of the stored picture stay together.
TEST_P(OrientationTest, ChromaKeepsItsPlace) {
  Random random(1);
  for (const Direction direction : kDirections)
    for (const PixelFormat format : {PixelFormat::NV12, PixelFormat::YUY2, PixelFormat::Y41B}) {
      // 21 columns: the last chroma sample covers fewer columns than the others.
      Source source = {{format, 21, 8}, {ColorMatrix::bt601, ColorRange::full}};
      source.direction = direction;
      Canvas canvas(source.image);
      const oracle::Format &layout = oracle::format_of(format);
      // Columns from 8 on are bright and red; 8 is a multiple of every subsampling.
      for (int y = 0; y < 8; ++y)
        for (int x = 0; x < 21; ++x) {
          *canvas.sample('Y', x, y) = x < 8 ? 50 : 200;
          *canvas.sample('V', x / layout.across, y / layout.down) = x < 8 ? 128 : 255;
        }
      InputPicture picture(random, source.image);
      picture.assign(canvas.view());
      NormalizeCase p = {};
      p.source = source;
      p.color = Color::yuv;
      p.resize.method = Method::nearest;
      const ImageDesc seen = source.seen();
      p.out = {DType::uint8, Layout::nchw, 1, 3, seen.height, seen.width};
      p.scale = 1.0;
      SCOPED_TRACE(text_of(p));
      OutputTensor out(random, p.out);
      machine().run(*normalize_picture(machine(), p), picture, out);
      const int64_t pixels = p.out.h * p.out.w;
      const auto *const data = static_cast<const uint8_t *>(out.view().data);
      for (int64_t i = 0; i < pixels; ++i)
        ASSERT_EQ(data[i] == 200, data[2 * pixels + i] == 255) << i;
    }
}

}  // namespace
}  // namespace cudatensor
