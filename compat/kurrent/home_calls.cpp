#include "evershard/compat/kurrent/home_calls.hpp"

namespace evershard::kurrent {

void put(const Refusal& refusal, homes::Reply::Refused& to) {
  to.set_code(static_cast<std::uint32_t>(refusal.error.code));
  to.set_what(refusal.error.what);
  to.set_exception(refusal.exception);
  to.set_stream(refusal.stream);
  to.set_group(refusal.group);
}

Refusal refusal_in(const homes::Reply::Refused& from) {
  auto code = ErrorCode::unavailable;  // of a newer release
  if (from.code() >= static_cast<std::uint32_t>(ErrorCode::version_conflict) &&
      from.code() <= static_cast<std::uint32_t>(error_code_last))
    code = static_cast<ErrorCode>(from.code());
  if (from.exception().empty()) return subscription_failed({code, from.what()});
  return refused_of_group(from.exception(), from.stream(), from.group(), code, from.what());
}

Result<std::string> reply_of(const std::optional<Refusal>& refused, std::string answer, GlobalPosition seen) {
  if (refused && refused->error.code == ErrorCode::wrong_shard) return refuse(refused->error);
  homes::Reply reply;
  if (refused)
    put(*refused, *reply.mutable_refused());
  else
    reply.set_answer(std::move(answer));
  reply.set_seen(seen.value);
  return reply.SerializeAsString();
}

std::variant<Answer, Refusal> answer_in(Result<std::string> reply) {
  if (!reply) {
    auto error = std::move(reply).error();
    // Of a call to a home, and nothing that a client knows.
    if (error.code == ErrorCode::wrong_shard) error.code = ErrorCode::unavailable;
    return subscription_failed(std::move(error));
  }
  homes::Reply read;
  if (!read.ParseFromString(*reply))
    return subscription_failed({ErrorCode::timeout, "the outcome is unknown: the home answers what is not understood"});
  if (read.has_refused()) return refusal_in(read.refused());
  return Answer{std::move(*read.mutable_answer()), GlobalPosition(read.seen())};
}

}  // namespace evershard::kurrent
