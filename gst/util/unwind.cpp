// SPDX-License-Identifier: LGPL-2.1-or-later
// Exception handling in processes that load two unwinders.
//
// Debian's libgstreamer links to libunwind.so.8, which defines the same functions as libgcc's
// unwinder. If a process loads libstdc++ first, as Python does with most extensions, libstdc++
// raises exceptions with libgcc's unwinder, while libraries loaded later bind to libunwind's
// functions. When an exception passes a destructor, the compiler's call of _Unwind_Resume() would
// then abort the process. The linker option --wrap redirects that call to the function below.
#include <dlfcn.h>
#include <unwind.h>

extern "C" {
[[noreturn]] void __real__Unwind_Resume(_Unwind_Exception *exception);
[[noreturn]] void __wrap__Unwind_Resume(_Unwind_Exception *exception);
}

namespace {

using Resume = decltype(&__real__Unwind_Resume);

/// Returns libgcc's _Unwind_Resume() if the dynamic linker has bound libunwind's, otherwise null.
Resume find_hidden_resume() {
  const auto libunwind = reinterpret_cast<Resume>(dlsym(RTLD_DEFAULT, "__libunwind_Unwind_Resume"));
  if (libunwind != &__real__Unwind_Resume) return nullptr;
  void *const libgcc = dlopen("libgcc_s.so.1", RTLD_LAZY | RTLD_NOLOAD);
  return libgcc != nullptr ? reinterpret_cast<Resume>(dlsym(libgcc, "_Unwind_Resume")) : nullptr;
}

/// Whether libunwind raised the exception. In private_2, libunwind stores the address of the
/// handler's code, and libgcc a stack address.
bool is_raised_by_libunwind(const _Unwind_Exception *exception) {
  Dl_info info;
  return exception->private_1 == 0 &&
         dladdr(reinterpret_cast<void *>(exception->private_2), &info) != 0;
}

}  // namespace

/// Replaces _Unwind_Resume(). ThreadSanitizer adds a cleanup to every function, which an exception
/// also runs; in this function the cleanup would call the function itself endlessly.
[[gnu::no_sanitize_thread]] void __wrap__Unwind_Resume(_Unwind_Exception *exception) {
  static const Resume hidden = find_hidden_resume();
  if (hidden != nullptr && !is_raised_by_libunwind(exception)) hidden(exception);
  __real__Unwind_Resume(exception);
}
