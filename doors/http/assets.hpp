// The page, in the program: the files of page/dist, as the build found them.

#pragma once

#include <span>
#include <string_view>

namespace evershard {

/// One file. All views are of constants: they live as long as the program.
struct Asset {
  std::string_view path;          ///< as a request names it: `/index.html`, `/assets/page.js`
  std::string_view content_type;  ///< with its charset
  std::string_view etag;          ///< quoted; of the content, so of one coding of it as of the other
  std::string_view bytes;
  std::string_view gzip_bytes;  ///< empty where gzip would save next to nothing
};

/// Exactly this path; absent: null. `/` is no path of a file: whoever serves the page gives `/index.html` for it.
/// Source: cmake/EvershardEmbed.cmake
[[nodiscard]] const Asset* find_asset(std::string_view path);
[[nodiscard]] std::span<const Asset> all_assets();

}  // namespace evershard
