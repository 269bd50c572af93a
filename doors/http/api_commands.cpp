// POST /api/v1/aggregates/{id}/commands/{command}, GET /api/v1/kinds: the aggregates that this process hosts.

#include <chrono>
#include <limits>
#include <utility>

#include "evershard/api/json/hosted_json.hpp"
#include "evershard/doors/http/api.hpp"
#include "evershard/doors/serving/hosted_commands.hpp"
#include "evershard/protocol/base64.hpp"
#include "evershard/protocol/in_quotes.hpp"

namespace evershard::http {
namespace {

constexpr std::size_t id_segment = 3;  ///< api, v1, aggregates, ID

Response outcome(const serving::ReplyWritten& reply, const AnyAnswer& answer) {
  JsonText json;
  json.begin_object().key("outcome");
  if (answer.kind == AnswerKind::rejected) {
    json.string("rejected").key("rejection").string(answer.rejection).key("version").number(answer.version.value);
    return json_response(json.end_object().take());
  }
  json.string("replied").key("reply");
  if (const auto shown = reply.json_of(answer.reply))
    json.raw(*shown);
  else if (!reply.replies())
    json.raw("null");
  else
    json.string(to_base64(answer.reply)).key("reply_encoding").string("base64");
  json.key("duplicate").boolean(answer.duplicate).key("version").number(answer.version.value);
  json.key("position").number(answer.position.value).end_object();
  return json_response(json.take());
}

Result<AskOptions> ask_options_of(const Parameters& parameters) {
  EVERSHARD_TRY(parameters.only({"command_id", "timeout_ms"}));
  AskOptions options;
  auto id = parameters.text("command_id");
  if (!id) return refuse(std::move(id).error());
  options.command_id = std::move(*id).value_or("");
  const auto timeout = parameters.number("timeout_ms");
  if (!timeout) return refuse(timeout.error());
  if (!*timeout) return options;
  if (**timeout == 0 || **timeout > std::numeric_limits<std::uint32_t>::max())
    return refuse(ErrorCode::invalid_argument, "timeout_ms is " + std::to_string(**timeout) + ": from 1 to 4294967295");
  options.timeout = std::chrono::milliseconds(**timeout);
  return options;
}

void begin_command(Api& api, const Asked& asked, const Interested& interest, const Answered& answered) {
  auto options = ask_options_of(asked.target.parameters);
  if (!options) return answered(refused(options.error()));
  auto aggregate = AggregateId::parse(asked.target.segments[id_segment]);
  if (!aggregate) return answered(refused(aggregate.error()));
  const auto* hosted = api.served.commands;
  if (hosted == nullptr) return answered(refused(serving::nothing_hosted()));
  const auto& body = asked.request.body;
  auto ready = hosted->ready({*std::move(aggregate), asked.argument, body.empty() ? "{}" : body, true});
  if (!ready) return answered(refused(ready.error()));
  const auto reply = ready->reply;
  const auto asking = hosted->ask(*std::move(ready), *std::move(options), [&api, answered, reply](AnyAnswer answer) {
    // Told in a thread of the aggregates', which have better things to do than to write JSON.
    api.served.pool.run([answered, reply, answer = std::move(answer)] {
      answered(answer.kind == AnswerKind::failed ? refused(answer.error) : outcome(reply, answer));
    });
  });
  interest->when_gone([asking] { asking.cancel(); });
}

Result<Response> answer_kinds(Api& api, const Asked& asked) {
  const auto& parameters = asked.target.parameters;
  EVERSHARD_TRY(parameters.only({"descriptors"}));
  const auto wanted = parameters.text("descriptors");
  if (!wanted) return refuse(wanted.error());
  const auto which = wanted->value_or("false");
  if (which != "true" && which != "false")
    return refuse(ErrorCode::invalid_argument, "descriptors: " + in_quotes(which, 40) + " is neither true nor false");
  static const HostedKinds none;
  JsonText json;
  write_hosted_kinds(json, api.served.commands != nullptr ? api.served.commands->kinds() : none,
                     which == "true" ? Descriptors::base64 : Descriptors::left_out);
  return json_response(json.take());
}

}  // namespace

std::span<const Route> command_routes() {
  using enum serving::Scope;
  static constexpr Route rows[] = {
      {"POST", "/api/v1/aggregates/{id}/commands/{command}", append, begin_command, Manner::uncompressed},
      {"GET", "/api/v1/kinds", read, answer_kinds},
  };
  return rows;
}

}  // namespace evershard::http
