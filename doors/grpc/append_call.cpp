#include "evershard/doors/grpc/append_call.hpp"

#include <algorithm>

#include "evershard/doors/serving/operators_writes.hpp"
#include "evershard/protocol/codec.hpp"

namespace evershard::door {
namespace {

constexpr std::uint32_t conflicts_max = 1'000;

/// What is kept of a request until it is answered.
struct Asked {
  grpc::ServerUnaryReactor* reactor;
  grpc::ByteBuffer* out;
  std::uint32_t conflicts_max = 0;
  std::size_t events = 0;
  std::vector<AppendCondition> conditions{};  ///< only where conflicts are wanted
  std::shared_ptr<UnderWay> here;
};

void answer(Calls& calls, const std::shared_ptr<Asked>& asked, const Result<Appended>& result) {
  if (result) {
    pb::AppendResponse response;
    put_appended(calls, *result, asked->here->began, asked->events, response);
    *asked->out = bytes_of(response);
    return asked->reactor->Finish(grpc::Status::OK);
  }
  if (result.error().code != ErrorCode::condition_failed || asked->conditions.empty())
    return asked->reactor->Finish(asked->here->refused(result.error()));
  calls.served.pool.run([&calls, asked, error = result.error()] {
    asked->reactor->Finish(
        asked->here->refused(error, conflicts_of(calls.served.store, error, asked->conditions, asked->conflicts_max)));
  });
}

}  // namespace

void put_appended(Calls& calls, const Appended& appended, std::chrono::steady_clock::time_point came,
                  std::size_t events, pb::AppendResponse& to) {
  messages::put(appended, to);
  to.set_watermark(std::max(calls.served.store.head().value_or(appended.last_position), appended.last_position).value);
  if (!appended.duplicate)
    calls.served.metrics->appended(calls.speaks, std::chrono::steady_clock::now() - came, events);
}

Result<void> check_scopes(const serving::Caller& caller, const Append& append, std::uint32_t& conflicts_max) {
  EVERSHARD_TRY(serving::check_operators_writes(caller, append));
  if (!caller.may(serving::Scope::read)) conflicts_max = 0;
  return {};
}

std::vector<RecordedEvent> conflicts_of(EventStore& store, const Error& error,
                                        const std::vector<AppendCondition>& conditions, std::uint32_t most) {
  std::vector<RecordedEvent> events;
  if (!error.details || !error.details->condition || *error.details->condition >= conditions.size()) return events;
  const auto& condition = conditions[*error.details->condition];
  auto stream =
      store.read(condition.query, ReadOptions{.after = condition.after, .limit = std::min(most, conflicts_max)});
  for (const auto& event : stream) events.push_back(event);
  return events;
}

grpc::ServerUnaryReactor* answer_append(Calls& calls, serving::MethodMetrics& counted,
                                        grpc::CallbackServerContext* context, const grpc::ByteBuffer* in,
                                        grpc::ByteBuffer* out) {
  auto* reactor = context->DefaultReactor();
  auto here = std::make_shared<UnderWay>(calls, counted);
  const auto refused = [&](const Error& error) {
    reactor->Finish(here->refused(error));
    return reactor;
  };
  const auto caller = here->admit(*context, serving::Scope::append, in->Length());
  if (!caller) return refused(caller.error());
  grpc::Slice slice;
  std::uint32_t most = 0;
  const auto content = content_of(*in, calls.message_bytes_max, slice);
  if (!content) return refused(content.error());
  auto append = codec::decode_append(*content, most);
  if (!append) return refused(append.error());
  if (auto may = check_scopes(*caller, *append, most); !may) return refused(may.error());

  auto asked = std::make_shared<Asked>(Asked{reactor, out, most, append->events.size(), {}, std::move(here)});
  if (most > 0) asked->conditions = append->conditions;
  calls.append(*std::move(append),
               [&calls, asked = std::move(asked)](const Result<Appended>& result) { answer(calls, asked, result); });
  return reactor;
}

}  // namespace evershard::door
