#include "evershard/cluster/door/calls.hpp"

#include <google/protobuf/stubs/logging.h>

#include <algorithm>
#include <cctype>
#include <limits>
#include <vector>

namespace evershard::door {
namespace {

constexpr std::string_view bearer = "Bearer ";  // in any case
constexpr std::uint32_t at_least_timeout_ms = 30'000;

std::string_view token_of(const grpc::CallbackServerContext& context) {
  const auto& metadata = context.client_metadata();
  const auto found = metadata.find("authorization");
  if (found == metadata.end()) return {};
  std::string_view value(found->second.data(), found->second.size());
  const auto same = [](char a, char b) { return std::tolower(static_cast<unsigned char>(a)) == std::tolower(static_cast<unsigned char>(b)); };
  if (value.size() < bearer.size() || !std::equal(bearer.begin(), bearer.end(), value.begin(), same)) return {};
  return value.substr(bearer.size());
}

}  // namespace

Calls::Calls(serving::Served& s, serving::WorkPool& a, std::size_t appends_max, std::size_t bytes_max)
    : served(s), answers(a), append_many_appends_max(appends_max), append_many_bytes_max(bytes_max) {
  for (std::size_t i = 0; i < methods.size(); ++i) methods[i] = &served.metrics->method("grpc", method_names[i]);
}

void Calls::append(Append append, AppendCompletion done) {
  ++appends_in_flight;
  served.store.append_async(std::move(append), [this, done = std::move(done)](Result<Appended> result) {
    const bool few = appends_in_flight.fetch_sub(1) <= answered_at_once_max;
    if (few && answers.waiting() == 0) return done(std::move(result));
    answers.run([done, result = std::move(result)] { done(result); });
  });
}

Result<serving::Caller> Calls::admit(const grpc::CallbackServerContext& context, serving::Scope wanted) const {
  return served.access()->admit(token_of(context), wanted);
}

bool Calls::remember(const std::shared_ptr<Drainable>& call) {
  const std::lock_guard lock(draining_mutex);
  if (!draining) drainables.emplace(call.get(), call);
  return !draining;
}

void Calls::forget(Drainable* call) {
  const std::lock_guard lock(draining_mutex);
  drainables.erase(call);
}

void Calls::drain() {
  std::vector<std::shared_ptr<Drainable>> calls;
  {
    const std::lock_guard lock(draining_mutex);
    draining = true;
    for (const auto& [at, call] : drainables) {
      if (auto alive = call.lock()) calls.push_back(std::move(alive));
    }
  }
  for (const auto& call : calls) call->drain();
}

serving::HeadWatch::Ticket Calls::at_least(const pb::AtLeast* wanted, std::function<void(Result<void>)> then) {
  if (wanted == nullptr) {
    then({});
    return 0;
  }
  const auto timeout = std::chrono::milliseconds(wanted->has_timeout_ms() ? wanted->timeout_ms() : at_least_timeout_ms);
  return served.watch.when_reached(GlobalPosition(wanted->position()), serving::HeadWatch::Clock::now() + timeout,
                                   [then = std::move(then)](const Result<GlobalPosition>& there) {
                                     then(there ? Result<void>() : Result<void>(refuse(there.error())));
                                   });
}

Result<void> parse(const grpc::ByteBuffer& bytes, google::protobuf::MessageLite& message, const char* what) {
  const google::protobuf::LogSilencer silence;  // what is refused needs no line on standard error
  grpc::Slice slice;
  const bool single = bytes.TrySingleSlice(&slice).ok() || bytes.DumpToSingleSlice(&slice).ok();
  if (single && slice.size() <= std::numeric_limits<int>::max() && message.ParseFromArray(slice.begin(), static_cast<int>(slice.size()))) return {};
  return refuse(ErrorCode::invalid_argument,
                std::to_string(bytes.Length()) + " bytes are no " + what + ": malformed Protobuf, or text that is not UTF-8");
}

std::string_view in_one_piece(const grpc::ByteBuffer& bytes, grpc::Slice& slice) {
  if (!bytes.TrySingleSlice(&slice).ok() && !bytes.DumpToSingleSlice(&slice).ok()) return {};
  return {reinterpret_cast<const char*>(slice.begin()), slice.size()};
}

grpc::Slice new_slice(std::size_t bytes) { return {grpc_slice_malloc(bytes), grpc::Slice::STEAL_REF}; }

grpc::ByteBuffer bytes_of(const google::protobuf::MessageLite& message) {
  auto slice = new_slice(message.ByteSizeLong());
  message.SerializeWithCachedSizesToArray(begin_of(slice));
  return {&slice, 1};
}

}  // namespace evershard::door
