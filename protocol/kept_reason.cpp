#include "evershard/protocol/kept_reason.hpp"

#include "evershard/protocol/utf8.hpp"

namespace evershard {

std::string kept_reason(std::string_view reason) {
  if (!is_utf8(reason)) return "(a reason that is no UTF-8)";
  if (reason.size() <= reason_bytes_max) return std::string(reason);
  auto end = reason_bytes_max;
  while (end > 0 && (static_cast<unsigned char>(reason[end]) & 0xC0) == 0x80) --end;
  return std::string(reason.substr(0, end));
}

}  // namespace evershard
