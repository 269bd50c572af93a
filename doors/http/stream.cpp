#include "evershard/doors/http/stream.hpp"

#include <algorithm>

namespace evershard::http {

std::string server_sent_event(std::string_view name, std::string_view data, std::string_view id) {
  std::string text = "event: " + std::string(name) + '\n';
  if (!id.empty()) (text += "id: ") += std::string(id) + '\n';
  for (;;) {
    const auto end = std::min(data.find_first_of("\r\n"), data.size());
    ((text += "data: ") += data.substr(0, end)) += '\n';
    if (end == data.size()) break;
    data.remove_prefix(end + 1);
  }
  return text + '\n';
}

}  // namespace evershard::http
