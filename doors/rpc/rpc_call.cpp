#include "evershard/doors/rpc/rpc_call.hpp"

#include <algorithm>
#include <charconv>
#include <cstdint>
#include <utility>
#include <vector>

#include "evershard/protocol/base64.hpp"
#include "evershard/protocol/check.hpp"

namespace evershard::rpc {
namespace {

constexpr std::uint32_t code_cancel = 8;  // RFC 9113, 7

/// What a gRPC client may write in `grpc-timeout`: at most eight digits and a unit.
std::optional<Context::Clock::duration> timeout_of(std::string_view text) {
  using namespace std::chrono;
  constexpr std::size_t digits_max = 8;
  if (text.size() < 2 || text.size() > digits_max + 1) return std::nullopt;
  std::int64_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size() - 1, number);
  if (error != std::errc() || end != text.data() + text.size() - 1 || number < 0) return std::nullopt;
  switch (text.back()) {
    case 'H':
      return duration_cast<Context::Clock::duration>(hours(std::min<std::int64_t>(number, 24 * 365 * 10)));
    case 'M':
      return minutes(number);
    case 'S':
      return seconds(number);
    case 'm':
      return milliseconds(number);
    case 'u':
      return microseconds(number);
    case 'n':
      return duration_cast<Context::Clock::duration>(nanoseconds(number));
    default:
      return std::nullopt;
  }
}

/// Bytes that are no printable ASCII, and the percent sign, by their numbers.
std::string percent_encoded(std::string_view text) {
  constexpr std::string_view digits = "0123456789ABCDEF";
  std::string out;
  for (const char c : text) {
    const auto byte = static_cast<std::uint8_t>(c);
    if (byte >= 0x20 && byte < 0x7F && c != '%') {
      out += c;
      continue;
    }
    out += {'%', digits[byte >> 4], digits[byte & 0xF]};
  }
  return out;
}

/// With padding or without.
std::optional<std::string> bytes_in(std::string value) {
  value.resize((value.size() + 3) / 4 * 4, '=');
  return from_base64(value);
}

bool is_binary(std::string_view name) { return name.ends_with("-bin"); }

/// The metadata of a call is what says nothing to HTTP or gRPC itself.
bool is_metadata(std::string_view name) {
  return !name.starts_with(':') && !name.starts_with("grpc-") && name != "te" && name != "content-type";
}

}  // namespace

RpcCall::RpcCall(http2::Session& session, http2::Session::Stream stream, std::shared_ptr<Network> network,
                 const Methods& methods, std::string peer, std::size_t message_bytes_max)
    : session_(&session), stream_(stream), network_(std::move(network)), methods_(methods), reader_(message_bytes_max) {
  context_.peer_ = std::move(peer);
}

RpcCall::~RpcCall() { EVERSHARD_CHECK(reactor_ == nullptr, "a call lives until its reactor is done"); }

void RpcCall::wake() { network_->wake(shared_from_this()); }

void RpcCall::request(http2::Headers&& headers, bool last, Context::Clock::time_point now) {
  body_ended_ = last;
  std::string path, method, type, encoding, timeout;
  for (auto& [name, value] : headers) {
    if (name == ":path") path = value;
    if (name == ":method") method = value;
    if (name == "content-type") type = value;
    if (name == "grpc-encoding") encoding = value;
    if (name == "grpc-timeout") timeout = value;
    if (name == ":authority") context_.headers.push_back({name, value});
    if (!is_metadata(name)) continue;
    if (is_binary(name)) {
      auto bytes = bytes_in(value);
      if (!bytes) return answer_at_once("200", {grpc::StatusCode::INTERNAL, "the metadata " + name + " is no base64"});
      value = *std::move(bytes);
    }
    context_.headers.push_back({std::move(name), std::move(value)});
  }
  if (method != "POST") return answer_at_once("405", {grpc::StatusCode::INTERNAL, "a gRPC call is a POST"});
  if (!type.starts_with("application/grpc"))
    return answer_at_once("415", {grpc::StatusCode::INTERNAL, "a gRPC call has the content type application/grpc"});
  if (!timeout.empty()) {
    const auto wait = timeout_of(timeout);
    if (!wait) return answer_at_once("200", {grpc::StatusCode::INTERNAL, "grpc-timeout is none"});
    context_.deadline_ = now + *wait;
  }
  method_ = methods_.find(path);
  if (method_ == nullptr) return answer_at_once("200", {grpc::StatusCode::UNIMPLEMENTED, "there is no call " + path});
  if (!encoding.empty() && encoding != "identity" && encoding != "gzip")
    return answer_at_once("200", {grpc::StatusCode::UNIMPLEMENTED, "messages are taken as they are, or by gzip"});
  context_.cancels = [self = weak_from_this()] {
    if (const auto call = self.lock()) {
      call->context_.cancelled = true;
      call->wake();
    }
  };
  if (method_->client_streams) return begin(*method_);
  if (last) answer_at_once("200", {grpc::StatusCode::INTERNAL, "a request has one message"});
}

/// Before a Reactor answers the call.
void RpcCall::answer_at_once(std::string_view http_status, const grpc::Status& status) {
  http2::Headers headers{{":status", std::string(http_status)}, {"content-type", "application/grpc"}};
  for (auto& trailer : trailers(status)) headers.push_back(std::move(trailer));
  responded_ = ended_ = true;
  session_->respond(stream_, headers, true);
}

http2::Headers RpcCall::trailers(const grpc::Status& status) const {
  http2::Headers trailers{{"grpc-status", std::to_string(status.error_code())}};
  if (!status.error_message().empty()) trailers.push_back({"grpc-message", percent_encoded(status.error_message())});
  if (!status.error_details().empty())
    trailers.push_back({"grpc-status-details-bin", to_base64(status.error_details())});
  for (const auto& [name, value] : context_.trailing)
    trailers.push_back({name, is_binary(name) ? to_base64(value) : value});
  return trailers;
}

void RpcCall::begin(const Method& method) {
  const auto keep = shared_from_this();
  reactor_ = method.start(context_, method.client_streams ? nullptr : &in_, method.server_streams ? nullptr : &out_);
  EVERSHARD_CHECK(reactor_ != nullptr, "a method begins with a reactor");
  {
    const std::lock_guard lock(reactor_->mutex_);
    reactor_->call_ = keep;
  }
  run();
}

void RpcCall::body(std::string_view bytes) {
  reader_.add(bytes);
  if (reactor_ != nullptr) return run();
  if (ended_ || method_ == nullptr || method_->client_streams) {  // nobody reads it
    session_->consumed(stream_, bytes.size());
    return;
  }
  if (reader_.is_too_large())
    return answer_at_once("200", {grpc::StatusCode::RESOURCE_EXHAUSTED, "the message is larger than the server takes"});
  auto message = reader_.next();
  session_->consumed(stream_, reader_.consumed(true));
  if (!message) return;
  in_ = *std::move(message);
  begin(*method_);
}

void RpcCall::body_ends() {
  body_ended_ = true;
  if (reactor_ != nullptr) return run();
  if (!ended_)
    answer_at_once("200", {grpc::StatusCode::INTERNAL, "a request has one message, and this one ended before"});
}

void RpcCall::sent() {
  if (!std::exchange(writing_, false) || reactor_ == nullptr) return;
  reactor_->on_write_done(true);
  run();
}

void RpcCall::over() {
  over_ = true;
  session_ = nullptr;
  if (!ended_) context_.cancelled = true;
  if (reactor_ != nullptr) run();
}

// Who does not read what there is would not read how it ends.
void RpcCall::expire() {
  const grpc::Status late(grpc::StatusCode::DEADLINE_EXCEEDED, "the call was not answered in the time that it had");
  context_.cancelled = true;
  if (ended_ || session_ == nullptr) return;
  if (reactor_ == nullptr) return answer_at_once("200", late);
  if (session_->waiting(stream_) == 0) end(late);
  run();
}

// What the reactor starts from within what it is told is seen in the same loop.
void RpcCall::run() {
  if (reactor_ == nullptr || std::exchange(running_, true)) return;
  const auto keep = shared_from_this();
  for (bool more = true; more && reactor_ != nullptr;) {
    std::vector<Reactor::Started> started;
    {
      const std::lock_guard lock(reactor_->mutex_);
      started.swap(reactor_->started_);
    }
    for (auto& what : started) see(std::move(what));
    more = !started.empty();
    if (context_.is_cancelled() && !ended_ && session_ != nullptr) {
      ended_ = true;
      session_->reset(stream_, code_cancel);
    }
    if (context_.is_cancelled() && !std::exchange(told_cancel_, true)) {
      reactor_->on_cancel();
      more = true;
    }
    more = look_at_read() || more;
    if (writing_ && over_) {
      writing_ = false;
      reactor_->on_write_done(false);
      more = true;
    }
    if (finished_ && !ended_) end(*finished_);
    if (finished_ && over_ && read_into_ == nullptr && !writing_) {
      auto* const done = std::exchange(reactor_, nullptr);
      {
        const std::lock_guard lock(done->mutex_);
        done->call_.reset();
      }
      done->on_done();
    }
  }
  running_ = false;
}

bool RpcCall::look_at_read() {
  if (read_into_ == nullptr) {
    if (session_ != nullptr) session_->consumed(stream_, reader_.consumed(false));
    return false;
  }
  std::optional<bool> ok;
  if (over_ || finished_ || context_.is_cancelled()) {
    ok = false;
  } else if (auto message = reader_.next()) {
    *read_into_ = *std::move(message);
    ok = true;
  } else if (reader_.is_too_large()) {
    end_too_large();
    ok = false;
  } else if (body_ended_) {
    ok = false;
  }
  if (session_ != nullptr) session_->consumed(stream_, reader_.consumed(!ok));
  if (!ok) return false;
  read_into_ = nullptr;
  reactor_->on_read_done(*ok);
  return true;
}

void RpcCall::see(Reactor::Started started) {
  switch (started.kind) {
    case Reactor::Started::Kind::read:
      EVERSHARD_CHECK(read_into_ == nullptr, "one read is under way");
      read_into_ = started.into;
      return;
    case Reactor::Started::Kind::write:
      EVERSHARD_CHECK(!writing_ && !finished_, "one write is under way, and none behind the end");
      writing_ = true;
      if (!ended_ && session_ != nullptr) send(std::move(started.message));
      return;
    case Reactor::Started::Kind::finish:
      EVERSHARD_CHECK(!finished_, "a call is finished once");
      finished_ = std::move(started.status);
      return;
  }
}

http2::Headers RpcCall::answer_headers() const {
  http2::Headers headers{
      {":status", "200"}, {"content-type", "application/grpc"}, {"grpc-accept-encoding", "identity,gzip"}};
  for (const auto& [name, value] : context_.initial)
    headers.push_back({name, is_binary(name) ? to_base64(value) : value});
  return headers;
}

void RpcCall::respond() {
  if (!std::exchange(responded_, true)) session_->respond(stream_, answer_headers());
}

void RpcCall::send(Bytes message) {
  respond();
  session_->send(stream_, std::move(message).framed());
}

void RpcCall::end(const grpc::Status& status) {
  ended_ = true;
  if (session_ == nullptr) return;
  if (status.ok() && !method_->server_streams) send(std::move(out_));
  if (status.ok()) respond();
  if (responded_) return session_->end(stream_, trailers(status));
  auto headers = answer_headers();
  for (auto& trailer : trailers(status)) headers.push_back(std::move(trailer));
  responded_ = true;
  session_->respond(stream_, headers, true);
}

/// Whatever was read of the call is not taken any more.
void RpcCall::end_too_large() {
  context_.cancelled = true;
  end({grpc::StatusCode::RESOURCE_EXHAUSTED, "the message is larger than the server takes"});
}

void Reactor::start(Started what) {
  std::shared_ptr<RpcCall> call;
  {
    const std::lock_guard lock(mutex_);
    started_.push_back(std::move(what));
    if (started_.size() == 1) call = call_;
  }
  if (call) call->wake();
}

}  // namespace evershard::rpc
