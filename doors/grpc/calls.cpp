#include "evershard/doors/grpc/calls.hpp"

#include <google/protobuf/stubs/logging.h>

#include <algorithm>
#include <cctype>
#include <limits>
#include <vector>

#include "evershard/doors/serving/beyond_head.hpp"
#include "evershard/doors/serving/gzip.hpp"
#include "evershard/doors/serving/history_heard.hpp"
#include "evershard/protocol/base64.hpp"
#include "evershard/protocol/beyond_head.hpp"
#include "evershard/storage/index/read_work_for_write.hpp"

namespace evershard::door {
namespace {

constexpr std::string_view bearer = "Bearer ";  // in any case
constexpr std::string_view basic = "Basic ";    // and this: NAME:PASSWORD in base64

bool begins_with_word(std::string_view value, std::string_view word) {
  const auto same = [](char a, char b) {
    return std::tolower(static_cast<unsigned char>(a)) == std::tolower(static_cast<unsigned char>(b));
  };
  return value.size() >= word.size() && std::equal(word.begin(), word.end(), value.begin(), same);
}

/// What a client shows.
struct Shown {
  std::string token{};
  std::string pair{};  ///< of basic authentication: NAME:PASSWORD as it comes, in base64, which may be a token too
};

Shown shown_in(const grpc::CallbackServerContext& context, bool takes_passwords) {
  const auto& metadata = context.client_metadata();
  const auto found = metadata.find("authorization");
  if (found == metadata.end()) return {};
  const std::string_view value(found->second.data(), found->second.size());
  if (begins_with_word(value, bearer)) return {std::string(value.substr(bearer.size()))};
  if (!takes_passwords || !begins_with_word(value, basic)) return {};
  const auto pair = value.substr(basic.size());
  const auto both = from_base64(pair);
  const auto colon = both ? both->find(':') : std::string::npos;
  if (colon == std::string::npos) return {};
  return {both->substr(colon + 1), std::string(pair)};
}

std::string_view said_in(const grpc::CallbackServerContext& context, const char* key) {
  const auto found = context.client_metadata().find(key);
  return found == context.client_metadata().end() ? std::string_view()
                                                  : std::string_view(found->second.data(), found->second.size());
}

/// Without its port, so that all its connections are one client. `ipv4:HOST:PORT`, `ipv6:%5BHOST%5D:PORT`, `unix:`
std::string address_of(const grpc::CallbackServerContext& context) {
  auto peer = context.peer();
  if (!peer.starts_with("unix:")) peer.resize(std::min(peer.rfind(':'), peer.size()));
  return peer;
}

}  // namespace

Calls::Calls(std::string_view door, serving::Served& s, cluster::WorkPool& a, std::size_t appends_max,
             std::size_t bytes_max, std::size_t message_max, serving::UnreadAnswersOptions unread_options)
    : speaks(door),
      served(s),
      answers(a),
      append_many_appends_max(appends_max),
      append_many_bytes_max(bytes_max),
      message_bytes_max(message_max),
      unread(unread_options) {}

bool Calls::reads_before(const Append& append) const {
  if (append.conditions.empty()) return false;
  const auto head = served.store.head();
  return !head || std::ranges::any_of(append.conditions, [&](const AppendCondition& condition) {
    return condition.after + looked_back_at_once_max < *head;
  });
}

void Calls::append(Append append, AppendCompletion done) {
  if (append.conditions.empty()) return send(std::move(append), std::move(done));
  const auto kept = std::make_shared<Append>(std::move(append));
  serving::when_within(served, *kept, [this, kept, done = std::move(done)](const Result<void>& within) {
    if (!within) return done(refuse(within.error()));
    if (!reads_before(*kept)) return send(std::move(*kept), done);
    served.pool.run([this, kept, done] { send_reading(std::move(*kept), done); });
  });
}

void Calls::send_reading(Append append, AppendCompletion done) {
  const auto work = served.long_reads->begin();
  const storage::ReadWorkForWrite at_work(*work);
  send(std::move(append), std::move(done));
}

void Calls::send(Append append, AppendCompletion done) {
  ++appends_in_flight;
  auto& store = writes_to != nullptr ? *writes_to : served.store;
  store.append_async(std::move(append), [this, done = std::move(done)](Result<Appended> result) {
    const bool few = appends_in_flight.fetch_sub(1) <= answered_at_once_max;
    if (few && answers.waiting() == 0) return done(std::move(result));
    answers.run([done, result = std::move(result)] { done(result); });
  });
}

Result<serving::Caller> Calls::admit(const grpc::CallbackServerContext& context, serving::Scope wanted) const {
  const auto access = served.access();
  if (access->is_open()) return access->admit({}, wanted);
  const auto shown = shown_in(context, takes_passwords);
  // A user and a password that cannot be changed are a token as a pair, whose name is then its user.
  const bool is_pair = !shown.pair.empty() && access->identify(shown.pair).has_value();
  auto caller = served.wrong_tokens->identify(*access, is_pair ? shown.pair : shown.token, address_of(context));
  if (caller) EVERSHARD_TRY(caller->check(wanted));
  return caller;
}

Result<void> Calls::goes_on(grpc::CallbackServerContext& context, const std::string* led) const {
  const auto fork = said_in(context, wire::fork_key);
  if (!fork.empty() && !served.fork.empty() && fork != served.fork)
    context.AddTrailingMetadata(wire::fork_key, served.fork);
  // Who led another fork says nothing of this one.
  const auto of = said_in(context, wire::led_of_key);
  const bool of_this = of.empty() || served.fork.empty() || of == served.fork;
  return serving::goes_on(fork, of_this ? said_in(context, wire::led_key) : std::string_view(), served.fork, led);
}

void Calls::admitted(const UnderWay* call, grpc::CallbackServerContext* context, serving::Scope wanted) {
  if (served.access()->is_open()) return;
  const std::lock_guard lock(streams_mutex);
  streams.emplace(call, Admitted{context, wanted});
}

void Calls::left(const UnderWay* call) {
  const std::lock_guard lock(streams_mutex);
  streams.erase(call);
}

/// No guess, and not counted as one.
bool Calls::still_may(const grpc::CallbackServerContext& context, serving::Scope wanted) const {
  const auto access = served.access();
  if (access->is_open()) return true;
  const auto shown = shown_in(context, takes_passwords);
  return (!shown.pair.empty() && access->admit(shown.pair, wanted)) || access->admit(shown.token, wanted);
}

void Calls::look_at_tokens_again() {
  std::vector<std::pair<const UnderWay*, Admitted>> open;
  {
    const std::lock_guard lock(streams_mutex);
    open.assign(streams.begin(), streams.end());
  }
  for (const auto& [call, of] : open) {
    const std::lock_guard lock(streams_mutex);  // its context lives as long as it is among them
    if (!streams.contains(call) || still_may(*of.context, of.wanted)) continue;
    streams.erase(call);
    of.context->TryCancel();
  }
}

Result<serving::Caller> UnderWay::admit(grpc::CallbackServerContext& context, serving::Scope wanted,
                                        std::size_t bytes) {
  if (calls_.closing) return refuse(calls_stopping());
  if (calls_.connections != nullptr) {
    if (auto refusal = calls_.connections->ask(context.peer(), std::chrono::steady_clock::now())) {
      if (refusal->first) calls_.served.metrics->connection_refused(calls_.speaks, "full");
      retry_after_ = refusal->retry_after;
      return refuse(std::move(refusal->error));
    }
  }
  auto caller = calls_.admit(context, wanted);
  if (caller) caller_ = *caller;
  if (caller && calls_.names_history) {
    const auto led = calls_.served.led();
    EVERSHARD_TRY(calls_.goes_on(context, led.get()));
    if (!calls_.served.fork.empty()) context.AddInitialMetadata(wire::fork_key, calls_.served.fork);
    if (led != nullptr && !led->empty()) context.AddInitialMetadata(wire::led_key, *led);
  }
  if (!caller || !calls_.served.clients->counts_requests()) return caller;
  client_ = serving::client_name(*caller, address_of(context));
  if (auto refusal = calls_.served.clients->ask(client_, 1, bytes)) return over(*std::move(refusal));
  return caller;
}

Result<void> UnderWay::admit_stream(grpc::CallbackServerContext& context, serving::Scope wanted, std::size_t bytes) {
  const auto caller = admit(context, wanted, bytes);
  if (!caller) return refuse(caller.error());
  auto opened = calls_.served.clients->open(serving::client_name(*caller, address_of(context)));
  if (opened.refusal) return over(*std::move(opened.refusal));
  stream_ = std::move(opened.stream);
  calls_.admitted(this, &context, wanted);
  return {};
}

std::optional<serving::ClientGate::Refusal> UnderWay::over_limit(std::size_t bytes) {
  if (client_.empty()) return std::nullopt;
  auto refusal = calls_.served.clients->ask(client_, 1, bytes);
  if (refusal) calls_.served.metrics->client_refused(calls_.speaks, serving::name_of(refusal->limit));
  return refusal;
}

Refused UnderWay::over(serving::ClientGate::Refusal refusal) {
  calls_.served.metrics->client_refused(calls_.speaks, serving::name_of(refusal.limit));
  retry_after_ = refusal.retry_after;
  return refuse(std::move(refusal.error));
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

void Calls::remember_reader(const void* call, grpc::CallbackServerContext* context) {
  const std::lock_guard lock(readers_mutex);
  readers.emplace(call, context);
}

void Calls::forget_reader(const void* call) {
  took(call);
  const std::lock_guard lock(readers_mutex);
  readers.erase(call);
}

void Calls::cancel_reader(const void* call) {
  const std::lock_guard lock(readers_mutex);
  if (const auto found = readers.find(call); found != readers.end()) found->second->TryCancel();
}

void Calls::sends(const void* call, std::size_t bytes) {
  const std::lock_guard lock(unread_mutex);
  unread.sends(call, bytes, serving::UnreadAnswers::Clock::now());
}

void Calls::took(const void* call) {
  const std::lock_guard lock(unread_mutex);
  unread.took(call);
}

bool Calls::has_room_ahead() const {
  const std::lock_guard lock(unread_mutex);
  return unread.has_room_ahead();
}

Result<void> Calls::has_room_for(std::size_t bytes) const {
  const std::lock_guard lock(unread_mutex);
  if (bytes <= small_answer_bytes || unread.has_room()) return {};
  return refuse(ErrorCode::overloaded, "answers that clients have not taken yet hold " +
                                           std::to_string(unread.bytes()) +
                                           " bytes: ask again when they have, or for less");
}

void Calls::run_with_room(std::shared_ptr<storage::ReadWork> work, std::function<void()> read) {
  std::vector<const void*> given_up;
  bool room = !work->wanted();
  {
    const std::lock_guard lock(unread_mutex);
    room = room || unread.has_room();
    if (!room) given_up = unread.to_give_up(serving::UnreadAnswers::Clock::now());
  }
  for (const auto* call : given_up) {
    served.metrics->client_refused(speaks, "memory");
    answers.run([this, call] {
      cancel_reader(call);
    });  // that may end a call in the same thread, and this one may be the watch's
  }
  if (room) return served.pool.run(std::move(read));
  served.watch.at(serving::HeadWatch::Clock::now() + room_looked_for_every,
                  [this, work = std::move(work), read = std::move(read)](const Result<void>& open) {
                    if (open)
                      run_with_room(work, read);
                    else
                      served.pool.run(read);  // the door is being closed: the read finds out
                  });
}

bool Calls::are_over() const {
  if (under_way != 0) return false;
  const std::lock_guard lock(readers_mutex);
  return readers.empty();
}

void Calls::cancel_readers() {
  std::vector<const void*> all;
  {
    const std::lock_guard lock(readers_mutex);
    for (const auto& [call, context] : readers) all.push_back(call);
  }
  for (const auto* call : all) cancel_reader(call);
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

Result<std::string_view> content_of(const grpc::ByteBuffer& bytes, std::size_t bytes_max, grpc::Slice& slice) {
  if (!bytes.TrySingleSlice(&slice).ok() && !bytes.DumpToSingleSlice(&slice).ok()) return std::string_view();
  const std::string_view content(reinterpret_cast<const char*>(slice.begin()), slice.size());
  if (!serving::is_gzip(content)) return content;
  const auto unpacked = serving::unpacked_bytes(content, bytes_max);
  if (!unpacked) return refuse(unpacked.error());
  auto whole = new_slice(*unpacked);
  auto* begin = reinterpret_cast<char*>(begin_of(whole));
  EVERSHARD_TRY(serving::unpack(content, {begin, *unpacked}));
  slice = std::move(whole);
  return std::string_view(reinterpret_cast<const char*>(slice.begin()), slice.size());
}

Result<void> parse(const grpc::ByteBuffer& bytes, std::size_t bytes_max, google::protobuf::MessageLite& message,
                   const char* what) {
  const google::protobuf::LogSilencer silence;  // what is refused needs no line on standard error
  grpc::Slice slice;
  const auto content = content_of(bytes, bytes_max, slice);
  if (!content) return refuse(content.error());
  if (content->size() <= std::numeric_limits<int>::max() &&
      message.ParseFromArray(content->data(), static_cast<int>(content->size())))
    return {};
  return refuse(ErrorCode::invalid_argument, std::to_string(content->size()) + " bytes are no " + what +
                                                 ": malformed Protobuf, or text that is not UTF-8");
}

void compress_if_asked(grpc::CallbackServerContext& context) {
  const auto& metadata = context.client_metadata();
  const auto asked = metadata.find(wire::compression_key);
  // The level, not the algorithm: then gRPC looks at what the client takes.
  if (asked != metadata.end() && asked->second == wire::compression_gzip)
    context.set_compression_level(GRPC_COMPRESS_LEVEL_LOW);
}

grpc::WriteOptions write_options(std::size_t bytes) {
  grpc::WriteOptions options;
  if (bytes < wire::compressed_bytes_min) options.set_no_compression();
  return options;
}

grpc::Slice slice_of(std::string bytes) {
  auto held = std::make_unique<std::string>(std::move(bytes));
  auto* const given = held.release();
  return {given->data(), given->size(), [](void* of) { delete static_cast<std::string*>(of); }, given};
}

grpc::Slice new_slice(std::size_t bytes) { return {grpc_slice_malloc(bytes), grpc::Slice::STEAL_REF}; }

grpc::ByteBuffer bytes_of(const google::protobuf::MessageLite& message) {
  auto slice = new_slice(message.ByteSizeLong());
  message.SerializeWithCachedSizesToArray(begin_of(slice));
  return {&slice, 1};
}

}  // namespace evershard::door
