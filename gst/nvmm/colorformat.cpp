// SPDX-License-Identifier: LGPL-2.1-or-later
#include "gst/nvmm/colorformat.h"

namespace cudatensor::nvmm {
namespace {

constexpr Colorimetry kBt601 = {ColorMatrix::bt601, ColorRange::limited};
constexpr Colorimetry kBt601Full = {ColorMatrix::bt601, ColorRange::full};
constexpr Colorimetry kBt709 = {ColorMatrix::bt709, ColorRange::limited};
constexpr Colorimetry kBt709Full = {ColorMatrix::bt709, ColorRange::full};
constexpr Colorimetry kBt2020 = {ColorMatrix::bt2020, ColorRange::limited};

struct Entry {
  ColorFormat color_format;
  FormatOfSurface format;
};

constexpr Entry kFormats[] = {
    {ColorFormat::gray8, {PixelFormat::GRAY8, kBt601}},
    {ColorFormat::gray8_er, {PixelFormat::GRAY8, kBt601Full}},
    {ColorFormat::yuv420, {PixelFormat::I420, kBt601}},
    {ColorFormat::yuv420_er, {PixelFormat::I420, kBt601Full}},
    {ColorFormat::yuv420_709, {PixelFormat::I420, kBt709}},
    {ColorFormat::yuv420_709_er, {PixelFormat::I420, kBt709Full}},
    {ColorFormat::yuv420_2020, {PixelFormat::I420, kBt2020}},
    {ColorFormat::nv12, {PixelFormat::NV12, kBt601}},
    {ColorFormat::nv12_er, {PixelFormat::NV12, kBt601Full}},
    {ColorFormat::nv12_709, {PixelFormat::NV12, kBt709}},
    {ColorFormat::nv12_709_er, {PixelFormat::NV12, kBt709Full}},
    {ColorFormat::nv12_2020, {PixelFormat::NV12, kBt2020}},
    {ColorFormat::nv21, {PixelFormat::NV21, kBt601}},
    {ColorFormat::nv21_er, {PixelFormat::NV21, kBt601Full}},
    {ColorFormat::yuv444, {PixelFormat::Y444, kBt601}},
    {ColorFormat::yuv444_er, {PixelFormat::Y444, kBt601Full}},
    {ColorFormat::yuv444_709, {PixelFormat::Y444, kBt709}},
    {ColorFormat::yuv444_709_er, {PixelFormat::Y444, kBt709Full}},
    {ColorFormat::yuv444_2020, {PixelFormat::Y444, kBt2020}},
    {ColorFormat::nv12_10le, {PixelFormat::P010_10LE, kBt601}},
    {ColorFormat::nv12_10le_er, {PixelFormat::P010_10LE, kBt601Full}},
    {ColorFormat::nv12_10le_709, {PixelFormat::P010_10LE, kBt709}},
    {ColorFormat::nv12_10le_709_er, {PixelFormat::P010_10LE, kBt709Full}},
    {ColorFormat::nv12_10le_2020, {PixelFormat::P010_10LE, kBt2020}},
    {ColorFormat::rgba, {PixelFormat::RGBA, {}}},
    {ColorFormat::bgrx, {PixelFormat::BGRx, {}}},
    {ColorFormat::rgb, {PixelFormat::RGB, {}}},
    {ColorFormat::bgr, {PixelFormat::BGR, {}}},
};

}  // namespace

std::optional<FormatOfSurface> format_of(ColorFormat format) {
  for (const Entry &entry : kFormats)
    if (entry.color_format == format) return entry.format;
  return std::nullopt;
}

}  // namespace cudatensor::nvmm
