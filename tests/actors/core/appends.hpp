// Appends and answers in few words.

#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "evershard/protocol/append.hpp"
#include "evershard/protocol/result.hpp"

namespace evershard::actors {

inline Append one(std::string_view aggregate, std::string type = "Placed", std::vector<Tag> tags = {}) {
  Append append;
  append.event(aggregate, std::move(type), "payload", std::move(tags));
  return append;
}
inline ErrorCode code(const std::optional<Result<Appended>>& answer) {
  return answer && !*answer ? answer->error().code : ErrorCode{};
}
inline std::uint64_t position(const std::optional<Result<Appended>>& answer) {
  return answer && *answer ? (*answer)->first_position.value : 0;
}

}  // namespace evershard::actors
