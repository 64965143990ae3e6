// SPDX-License-Identifier: LGPL-2.1-or-later
#include "block.h"

#include <sys/mman.h>
#include <unistd.h>

#include <new>

#if defined(__has_feature)
#if __has_feature(address_sanitizer)
#define __SANITIZE_ADDRESS__
#endif
#endif

#ifdef __SANITIZE_ADDRESS__
#include <sanitizer/asan_interface.h>
#else
#define ASAN_POISON_MEMORY_REGION(address, size) ((void)(address), (void)(size))
#define ASAN_UNPOISON_MEMORY_REGION(address, size) ((void)(address), (void)(size))
#endif

namespace cudatensor {

Block::Block(Random &random, size_t size, Edge edge) : size_(size) {
  const auto page = static_cast<size_t>(sysconf(_SC_PAGESIZE));
  const size_t inner = (size + page - 1) / page * page;
  void *const pages = mmap(nullptr, inner + 2 * page, PROT_NONE,
                           MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (pages == MAP_FAILED) throw std::bad_alloc();
  pages_ = {static_cast<uint8_t *>(pages), Unmap{inner + 2 * page}};
  uint8_t *const begin = pages_.get() + page;
  if (inner != 0 && mprotect(begin, inner, PROT_READ | PROT_WRITE) != 0) throw std::bad_alloc();
  data_ = edge == Edge::begin || random.chance(50) ? begin : begin + (inner - size);
  ASAN_POISON_MEMORY_REGION(begin, data_ - begin);
  ASAN_POISON_MEMORY_REGION(data_ + size, begin + inner - (data_ + size));
}

void Block::poison(size_t offset, size_t size) { ASAN_POISON_MEMORY_REGION(data_ + offset, size); }

void Block::Unmap::operator()(uint8_t *pages) const {
  ASAN_UNPOISON_MEMORY_REGION(pages, bytes);
  munmap(pages, bytes);
}

}  // namespace cudatensor
