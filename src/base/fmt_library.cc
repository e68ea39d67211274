// fmt, compiled once. Debian ships it as headers and as a shared library. Compiling it into every file that formats a
// string would triple the build time, and the shared one can't be part of a static program.
#include <fmt/format-inl.h>

FMT_BEGIN_NAMESPACE
namespace detail {

template FMT_API auto dragonbox::to_decimal(float x) noexcept -> dragonbox::decimal_fp<float>;
template FMT_API auto dragonbox::to_decimal(double x) noexcept -> dragonbox::decimal_fp<double>;
template FMT_API auto thousands_sep_impl(locale_ref loc) -> thousands_sep_result<char>;
template FMT_API auto decimal_point_impl(locale_ref loc) -> char;
template FMT_API void buffer<char>::append(const char* begin, const char* end);
template FMT_API void vformat_to(buffer<char>& buf, basic_string_view<char> fmt,
                                 basic_format_args<FMT_BUFFER_CONTEXT(char)> args, locale_ref loc);

}  // namespace detail
FMT_END_NAMESPACE
