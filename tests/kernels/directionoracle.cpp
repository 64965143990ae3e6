// SPDX-License-Identifier: LGPL-2.1-or-later
#include <stdexcept>
#include <utility>

#include "oracle.h"
#include "oraclemath.h"

namespace cudatensor::oracle {

Seen::Seen(const ConstImage &image, Direction direction)
    : image_(image),
      direction_(direction),
      format_(format_of(image.desc.format)),
      turned_(direction == Direction::clockwise || direction == Direction::counterclockwise ||
              direction == Direction::main_diagonal || direction == Direction::anti_diagonal) {}

/// Returns where the pixel (x, y) of the seen picture is in a stored one of `w` × `h`.
Seen::Position Seen::stored(int x, int y, int w, int h) const {
  switch (direction_) {
    case Direction::identity: return {x, y};
    case Direction::clockwise: return {y, h - 1 - x};
    case Direction::half_turn: return {w - 1 - x, h - 1 - y};
    case Direction::counterclockwise: return {w - 1 - y, x};
    case Direction::horizontal: return {w - 1 - x, y};
    case Direction::vertical: return {x, h - 1 - y};
    case Direction::main_diagonal: return {y, x};
    case Direction::anti_diagonal: return {w - 1 - y, h - 1 - x};
  }
  throw std::logic_error("no such direction");
}

Seen::Position Seen::stored(char letter, int x, int y) const {
  const bool fewer = is_chroma(letter);
  return stored(x, y, rounded_up(image_.desc.width, fewer ? format_.across : 1),
                rounded_up(image_.desc.height, fewer ? format_.down : 1));
}

bool Seen::is_backwards_x() const {
  const Position first = stored(0, 0, 2, 2), second = stored(1, 0, 2, 2);
  return second.x + second.y < first.x + first.y;
}

bool Seen::is_backwards_y() const {
  const Position first = stored(0, 0, 2, 2), second = stored(0, 1, 2, 2);
  return second.x + second.y < first.x + first.y;
}

Region Seen::region(const Region &r) const {
  const double w = image_.desc.width, h = image_.desc.height;
  // A side keeps its length, unless rounding would move its second end.
  const auto side = [](double begin, double end, double length) {
    return std::pair<double, double>(begin, begin + length > end ? end - begin : length);
  };
  const std::pair<double, double> x = {r.x, r.width}, y = {r.y, r.height};
  const auto back_x = side(w - (r.x + r.width), w - r.x, r.width);
  const auto back_y = side(h - (r.y + r.height), h - r.y, r.height);
  const auto of = [](auto across, auto down) {
    return Region{across.first, down.first, across.second, down.second};
  };
  switch (direction_) {
    case Direction::identity: return of(x, y);
    case Direction::clockwise: return of(back_y, x);
    case Direction::half_turn: return of(back_x, back_y);
    case Direction::counterclockwise: return of(y, back_x);
    case Direction::horizontal: return of(back_x, y);
    case Direction::vertical: return of(x, back_y);
    case Direction::main_diagonal: return of(y, x);
    case Direction::anti_diagonal: return of(back_y, back_x);
  }
  throw std::logic_error("no such direction");
}

float Seen::level(ColorRange range, char letter, int x, int y) const {
  const Position at = stored(letter, x, y);
  return oracle::level(image_, range, letter, at.x, at.y);
}

double Seen::precise_level(ColorRange range, char letter, int x, int y) const {
  const Position at = stored(letter, x, y);
  return oracle::precise_level(image_, range, letter, at.x, at.y);
}

uint8_t Seen::replicated(char letter, int x, int y) const {
  const Position at = stored(x, y, image_.desc.width, image_.desc.height);
  if (!is_chroma(letter)) return sample(image_, letter, at.x, at.y);
  return sample(image_, letter, at.x / format_.across, at.y / format_.down);
}

}  // namespace cudatensor::oracle
