// spend_shown: JSON that is made for a reader is work of his.

#pragma once

#include <cstddef>

#include "evershard/api/json/json_text.hpp"
#include "evershard/storage/index/read_work.hpp"

namespace evershard::http {

/// What was written behind `before` bytes: a payload is checked and copied, some nanoseconds a byte. Errors: those of
/// storage::spend
[[nodiscard]] inline Result<void> spend_shown(const JsonText& json, std::size_t before) {
  constexpr std::size_t units_of_byte = 8;
  return storage::spend(units_of_byte * (json.text().size() - before));
}

}  // namespace evershard::http
