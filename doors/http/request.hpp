// Request: what a client asked, as far as this server looks at it.

#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace evershard::http {

struct Request {
  std::string method;
  std::string target;  ///< as it came
  bool http_1_0 = false;
  bool keep_alive = true;
  bool expects_continue = false;
  std::vector<std::pair<std::string, std::string>> fields;  ///< names in lower case; without a chunked body's trailers
  std::string body;

  /// The first of that name, empty where there is none.
  [[nodiscard]] std::string_view field(std::string_view name) const {
    for (const auto& [known, value] : fields) {
      if (known == name) return value;
    }
    return {};
  }
  [[nodiscard]] std::size_t count(std::string_view name) const {
    std::size_t n = 0;
    for (const auto& field : fields) n += field.first == name ? 1 : 0;
    return n;
  }
};

}  // namespace evershard::http
