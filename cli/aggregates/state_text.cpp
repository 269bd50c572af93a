#include "evershard/cli/aggregates/state_text.hpp"

#include "evershard/api/json/event_json.hpp"
#include "evershard/api/json/json_text.hpp"
#include "evershard/protocol/base64.hpp"
#include "evershard/protocol/in_quotes.hpp"

namespace evershard::cli {

Result<StateText> state_text(std::string_view aggregate_type, std::string_view payload, PayloadFormat format,
                             const PayloadTypes& types, bool as_stored) {
  if (shown_as_json(payload, format)) return StateText{std::string(payload), {}};
  if (std::string line = json_on_one_line(payload); shown_as_json(line, format)) return StateText{std::move(line), {}};
  if (as_stored || format != PayloadFormat::protobuf) return StateText{'"' + to_base64(payload) + '"', {}, true};
  const PayloadTypes& known = types.of_state(aggregate_type);
  const auto message = known.message_of_state(aggregate_type);
  if (!message)
    return refuse(ErrorCode::not_found, "no message is registered for the state of " + in_quotes(aggregate_type, 200));
  auto read = known.read(*message, payload);
  if (!read) return refuse(std::move(read).error());
  return StateText{std::move(read->json), *message, false, read->unknown_fields};
}

}  // namespace evershard::cli
