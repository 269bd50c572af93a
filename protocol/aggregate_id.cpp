#include "evershard/protocol/aggregate_id.hpp"

#include "evershard/protocol/in_quotes.hpp"
#include "evershard/protocol/limits.hpp"
#include "evershard/protocol/name.hpp"
#include "evershard/protocol/result.hpp"

namespace evershard {

std::string AggregateId::text() const {
  std::string text;
  text.reserve(type.size() + 1 + value.size());
  text += type;
  text += '-';
  text += value;
  return text;
}

Result<AggregateId> AggregateId::parse(std::string_view text) {
  const auto dash = text.find('-');
  if (dash == std::string_view::npos) {
    return refuse(ErrorCode::invalid_argument,
                  "aggregate id " + in_quotes(text) + " has no '-' between type and value");
  }
  AggregateId id{std::string(text.substr(0, dash)), std::string(text.substr(dash + 1))};
  EVERSHARD_TRY(check(id));
  return id;
}

Result<void> AggregateId::check(const AggregateId& id) {
  EVERSHARD_TRY(check_name("aggregate type", id.type, aggregate_type_bytes_max));
  if (id.type.find('-') != std::string::npos) {
    return refuse(ErrorCode::invalid_argument, "aggregate type " + in_quotes(id.type) + " contains a '-'");
  }
  return check_name("aggregate value", id.value, aggregate_value_bytes_max);
}

}  // namespace evershard
