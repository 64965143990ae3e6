// SPDX-License-Identifier: LGPL-2.1-or-later
// reload LIBRARY Closes the library and opens it again, as hosts of plug-ins do. Its types can be
// registered only once, so the library must stay loaded.
#include <dlfcn.h>
#include <gst/gst.h>

#include <cstdio>

int main(int argc, char **argv) {
  if (argc != 2) return 2;
  gst_init(nullptr, nullptr);
  GType known = G_TYPE_INVALID;
  for (int i = 0; i < 3; ++i) {
    void *library = dlopen(argv[1], RTLD_NOW);
    if (library == nullptr) {
      std::printf("%s\n", dlerror());
      return 1;
    }
    const auto get_type = reinterpret_cast<GType (*)()>(dlsym(library, "gst_cuda_tensor_get_type"));
    const GType type = get_type != nullptr ? get_type() : G_TYPE_INVALID;
    if (type == G_TYPE_INVALID || (i > 0 && type != known)) {
      std::printf("GstCudaTensor is not the type that it was\n");
      return 1;
    }
    known = type;
    dlclose(library);
  }
  return 0;
}
