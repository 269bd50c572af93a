#include "evershard/services/indexes/part_name.hpp"

#include <charconv>

#include "evershard/protocol/in_quotes.hpp"

namespace evershard::actors {
namespace {

constexpr char part_mark = '~';

}  // namespace

std::string part_name(std::string_view table, std::uint32_t part) {
  return std::string(table) + part_mark + std::to_string(part);
}

std::optional<PartName> parse_part_name(std::string_view name) {
  const auto mark = name.rfind(part_mark);
  if (mark == std::string_view::npos) return std::nullopt;
  PartName parsed{std::string(name.substr(0, mark)), 0};
  const auto digits = name.substr(mark + 1);
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), parsed.part);
  if (error != std::errc() || end != digits.data() + digits.size() || parsed.part >= table_parts_max ||
      name != part_name(parsed.table, parsed.part))
    return std::nullopt;
  return parsed;
}

Error lies_in_parts(const std::string& table) {
  return {ErrorCode::version_conflict, "table " + in_quotes(table) + " lies in parts, which are asked one by one"};
}

// Of an aggregate at another version the details tell, here there are none.
bool says_that_it_lies_in_parts(const Error& error) {
  return error.code == ErrorCode::version_conflict && !error.details;
}

}  // namespace evershard::actors
