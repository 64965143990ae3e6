// SPDX-License-Identifier: LGPL-2.1-or-later
// Exceptions in processes with two unwinders.
//
// Debian's libgstreamer brings libunwind.so.8, which has the functions of libgcc's unwinder once
// more. Where a process loads libstdc++ before that, as Python does with most extensions, libstdc++
// raises exceptions with libgcc's, and what is loaded later finds libunwind's first: to go on after
// a destructor, which the compiler does by _Unwind_Resume(), would end the process. The linker is
// told to call the function here instead (--wrap).
#include <dlfcn.h>
#include <unwind.h>

extern "C" {
[[noreturn]] void __real__Unwind_Resume(_Unwind_Exception *exception);
[[noreturn]] void __wrap__Unwind_Resume(_Unwind_Exception *exception);
}

namespace {

using Resume = decltype(&__real__Unwind_Resume);

/// libgcc's, where libunwind's is what the dynamic linker has found; otherwise null.
Resume find_hidden_resume() {
  const auto libunwind = reinterpret_cast<Resume>(dlsym(RTLD_DEFAULT, "__libunwind_Unwind_Resume"));
  if (libunwind != &__real__Unwind_Resume) return nullptr;
  void *const libgcc = dlopen("libgcc_s.so.1", RTLD_LAZY | RTLD_NOLOAD);
  return libgcc != nullptr ? reinterpret_cast<Resume>(dlsym(libgcc, "_Unwind_Resume")) : nullptr;
}

/// libunwind notes where the code is that handles an exception, libgcc its place on the stack.
bool is_raised_by_libunwind(const _Unwind_Exception *exception) {
  Dl_info info;
  return exception->private_1 == 0 &&
         dladdr(reinterpret_cast<void *>(exception->private_2), &info) != 0;
}

}  // namespace

/// ThreadSanitizer makes every function leave its frame by a destructor, which an exception that
/// passes calls as well: this one would go on with its own frame, for ever.
[[gnu::no_sanitize_thread]] void __wrap__Unwind_Resume(_Unwind_Exception *exception) {
  static const Resume hidden = find_hidden_resume();
  if (hidden != nullptr && !is_raised_by_libunwind(exception)) hidden(exception);
  __real__Unwind_Resume(exception);
}
