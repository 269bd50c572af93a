#include "evershard/protocol/name.hpp"

#include <string>

#include "evershard/protocol/in_quotes.hpp"
#include "evershard/protocol/utf8.hpp"

namespace evershard {

Result<void> check_name(std::string_view role, std::string_view name, std::size_t bytes_max, ErrorCode malformed) {
  if (name.empty()) return refuse(malformed, std::string(role) + " is empty");
  if (name.size() > bytes_max) {
    return refuse(ErrorCode::too_large, std::string(role) + " " + in_quotes(name) + " has " +
                                            std::to_string(name.size()) + " bytes, the limit is " +
                                            std::to_string(bytes_max));
  }
  if (name.find('\0') != std::string_view::npos) {
    return refuse(malformed, std::string(role) + " " + in_quotes(name) + " contains a NUL byte");
  }
  if (!is_utf8(name)) return refuse(malformed, std::string(role) + " " + in_quotes(name) + " is not UTF-8");
  return {};
}

}  // namespace evershard
