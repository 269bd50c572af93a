// Assets: the page's files, in the program.

#pragma once

#include <string_view>

namespace evershard::http {

struct Asset {
  std::string_view path;  ///< `/`, `/assets/page.js`
  std::string_view content_type;
  std::string_view etag;  ///< with its quotes
  std::string_view bytes;
  std::string_view gzip_bytes;  ///< empty: it gets no smaller
};

/// nullptr: there is none.
[[nodiscard]] const Asset* find_asset(std::string_view path);

}  // namespace evershard::http
