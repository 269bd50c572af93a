#include "evershard/protocol/error.hpp"

#include <array>
#include <utility>

namespace evershard {
namespace {

constexpr std::array<std::pair<ErrorCode, std::string_view>, 18> names{{
    {ErrorCode::version_conflict, "version_conflict"},
    {ErrorCode::condition_failed, "condition_failed"},
    {ErrorCode::duplicate_event, "duplicate_event"},
    {ErrorCode::not_found, "not_found"},
    {ErrorCode::invalid_argument, "invalid_argument"},
    {ErrorCode::invalid_query, "invalid_query"},
    {ErrorCode::too_large, "too_large"},
    {ErrorCode::wrong_shard, "wrong_shard"},
    {ErrorCode::fenced, "fenced"},
    {ErrorCode::unavailable, "unavailable"},
    {ErrorCode::overloaded, "overloaded"},
    {ErrorCode::timeout, "timeout"},
    {ErrorCode::corruption, "corruption"},
    {ErrorCode::io, "io"},
    {ErrorCode::cancelled, "cancelled"},
    {ErrorCode::unauthenticated, "unauthenticated"},
    {ErrorCode::permission_denied, "permission_denied"},
    {ErrorCode::already_exists, "already_exists"},
}};

}  // namespace

std::string_view name_of(ErrorCode code) {
  for (const auto& [known, name] : names) {
    if (known == code) return name;
  }
  return "unknown";
}

std::optional<ErrorCode> error_code_of(std::string_view name) {
  for (const auto& [code, known] : names) {
    if (known == name) return code;
  }
  return std::nullopt;
}

bool operator==(const Error& a, const Error& b) {
  if (a.code != b.code || a.what != b.what) return false;
  if (a.details == b.details) return true;
  const ErrorDetails none;  // no details and details of nothing say the same
  return (a.details ? *a.details : none) == (b.details ? *b.details : none);
}

}  // namespace evershard
