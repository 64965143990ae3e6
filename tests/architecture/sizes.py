# SPDX-License-Identifier: LGPL-2.1-or-later
"""sizes.py ROOT: checks that files of kernels/ and gst/ have less than 500 lines, and C++ functions
less than 60, from the first line to the closing brace."""
import pathlib
import re
import sys

MOST_IN_FILE, MOST_IN_FUNCTION = 499, 59
FOLDERS = ('kernels', 'gst')
CODE = {'.h', '.cpp', '.cu', '.cuh'}
FILES = CODE | {'.py'}
# Comments, literals and preprocessor lines: their braces are ignored.
OPAQUE = re.compile(r'//[^\n]*|/\*.*?\*/|R"(?P<tag>[^(\s]*)\(.*?\)(?P=tag)"|'
                    r'"(?:\\.|[^"\\\n])*"|(?<![0-9a-fA-F])\'(?:\\.|[^\'\\\n])+\'|'
                    r'^[ \t]*#(?:\\\n|[^\n])*', re.M | re.S)
TEMPLATE = re.compile(r'\btemplate\s*<')
# Macros without a semicolon may precede it.
SCOPE = re.compile(r'(?:^|\)\s*\n)\s*(?:(?:typedef|static|inline|constexpr|const|extern)\s+)*'
                   r'(?:class|struct|union|enum|namespace)\b[^()]*(?:\([^()]*\))?[^()]*$|'
                   r'\bextern\s*$')
# Text that ends right before the body of a function: parameters, or initializers of a constructor,
# and qualifiers.
BEFORE_BODY = re.compile(r'(?:\)|\}|\bconst|\bnoexcept|\boverride|\bfinal|\btry|&)\s*$|->[^;{}]*$')


def blanked(text):
    return OPAQUE.sub(lambda found: re.sub(r'[^\n]', ' ', found[0]), text)


def closing(text, at, pair='{}'):
    """Returns the position of the bracket that closes the one at `at`."""
    depth = 0
    for i in range(at, len(text)):
        depth += (text[i] == pair[0]) - (text[i] == pair[1])
        if depth == 0:
            return i
    return len(text) - 1


def without_template(head):
    while found := TEMPLATE.search(head):
        end = closing(head, found.end() - 1, '<>')
        head = head[:found.start()] + head[end + 1:]
    return head.strip()


def functions(text):
    """Returns the first and the last line of each function, numbered from 1."""
    text, found = blanked(text), []
    begin = i = 0  # begin of the current declaration
    while i < len(text):
        head = without_template(text[begin:i]) if text[i] == '{' else ''
        if text[i] == ':' and re.search(r'\b(?:public|private|protected)\s*$', text[begin:i]):
            begin = i + 1
        elif text[i] in ';}':
            begin = i + 1
        elif text[i] == '{' and SCOPE.search(head):
            begin = i + 1
        elif text[i] == '{':
            end = closing(text, i)
            if '(' in head and BEFORE_BODY.search(head):
                first = begin + len(text[begin:i]) - len(text[begin:i].lstrip())
                first, last = (text.count('\n', 0, place) + 1 for place in (first, end))
                if head.startswith('catch'):
                    first = found.pop()[0]
                found.append((first, last))
                begin = end + 1
            i = end
        i += 1
    return found


SAMPLE = r'''
#define BODY(x) { x
struct A : B<int> {
  explicit A(int a) : a_{a}, b_({1, 2}) {
    if (a) { call("}"); }
  }
  bool operator==(const A &o) const { return a_ == o.a_; }  // }
 private:
  int a_{}, b_[2] = {1, 2};
};
namespace n {
constexpr char kText[] = R"(
} { )", kBrace = '{';
const int kTable[] = {
  1,
  f(2),
};
template <class T, template <class> class U = X<T>>
auto
g(T t) -> decltype(t)
{
  const auto run = [&] { return t; };
  switch (1'000) { case 1: return {t}; }
}
void h() try {
} catch (...) {
}
G_DEFINE_TYPE(X, x,
              Y)

namespace {
struct alignas(16) Z : A {
  void m() {
  }
};
}
extern "C" {
int k(struct stat *s) noexcept { return 0; }
}
}  // namespace n
'''
IN_SAMPLE = [(4, 6), (7, 7), (18, 24), (25, 27), (33, 34), (38, 38)]


def faults(path):
    text = path.read_text()
    lines = text.count('\n')
    if lines > MOST_IN_FILE:
        yield f'{path}: {lines} lines, not under {MOST_IN_FILE + 1}'
    if path.suffix not in CODE:
        return
    for first, last in functions(text):
        if last - first + 1 > MOST_IN_FUNCTION:
            yield (f'{path}:{first}: a function of {last - first + 1} lines, not under '
                   f'{MOST_IN_FUNCTION + 1}')


def main(root):
    assert functions(SAMPLE) == IN_SAMPLE, functions(SAMPLE)
    files = [path for folder in FOLDERS for path in (root / folder).rglob('*')
             if path.suffix in FILES]
    found = [fault for path in files for fault in faults(path)]
    count = sum(len(functions(path.read_text())) for path in files if path.suffix in CODE)
    print('\n'.join(found) or f'{len(files)} files, {count} functions')
    return len(found) > 0 or len(files) < 200 or count < 1500


sys.exit(main(pathlib.Path(sys.argv[1])))
