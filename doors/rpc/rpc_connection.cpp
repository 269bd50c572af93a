#include "evershard/doors/rpc/rpc_connection.hpp"

#include <boost/asio/post.hpp>

#include <utility>

namespace evershard::rpc {
namespace {

namespace asio = boost::asio;
using SystemError = boost::system::error_code;

constexpr std::uint32_t code_refused_stream = 7;  // RFC 9113, 7
constexpr int turns_max = 16;                     // of one connection, before others have theirs

}  // namespace

RpcConnection::RpcConnection(Loop& loop, Socket socket, std::string peer)
    : loop_(loop),
      socket_(std::move(socket)),
      peer_(std::move(peer)),
      session_(loop.options.bounds, *this),
      silence_(loop.io) {}

RpcConnection::~RpcConnection() = default;

void RpcConnection::start() {
  SystemError ignored;
  socket_.non_blocking(true, ignored);
  silence_.expires_after(loop_.options.first_request_timeout);
  look_at_silence();
  read();
  settle();
}

void RpcConnection::read() {
  socket_.async_wait(Socket::wait_read, [self = shared_from_this()](const SystemError& error) {
    if (error || self->closed_) return self->close();
    self->take_input();
  });
}

void RpcConnection::take_input() {
  for (int turn = 0; turn != turns_max; ++turn) {
    SystemError error;
    const auto bytes = socket_.read_some(asio::buffer(loop_.input), error);
    if (error == asio::error::would_block) break;
    if (error) return close();
    heard_ = true;
    inside_ = true;
    reads_on_ = session_.feed({loop_.input.data(), bytes}, http2::Session::Clock::now());
    settle();
    if (closed_ || !reads_on_) return;
    if (bytes < loop_.input.size()) break;
  }
  read();
}

void RpcConnection::settle() {
  inside_ = true;
  run_ready();
  flush();
  inside_ = false;
}

void RpcConnection::run_ready() {
  while (!ready_.empty())
    for (const auto& call : std::exchange(ready_, {})) run(call);
}

void RpcConnection::flush() {
  for (int turn = 0; !closed_ && !waits_for_room_; ++turn) {
    if (out_at_ == out_.size()) {
      out_.clear();
      out_at_ = 0;
      session_.pull(out_, loop_.options.output_bytes);
      run_ready();
      if (out_.empty()) {
        if (!session_.has_output()) break;
        continue;
      }
    }
    SystemError error;
    const auto bytes = socket_.write_some(asio::buffer(out_.data() + out_at_, out_.size() - out_at_), error);
    if (error && error != asio::error::would_block) return close();
    if (!error) out_at_ += bytes;
    if (error || turn >= turns_max) return wait_for_room();
  }
  if (!closed_ && !waits_for_room_ && out_at_ == out_.size()) {
    if (out_.capacity() > loop_.options.output_bytes / 8) std::string().swap(out_);
    if (session_.is_over()) close();
  }
}

void RpcConnection::wait_for_room() {
  waits_for_room_ = true;
  socket_.async_wait(Socket::wait_write, [self = shared_from_this()](const SystemError& error) {
    self->waits_for_room_ = false;
    if (error || self->closed_) return self->close();
    self->settle();
  });
}

void RpcConnection::look_at_silence() {
  silence_.async_wait([self = shared_from_this()](const SystemError& cancelled) {
    if (cancelled || self->closed_) return;
    if (!self->requested_) return self->close();
    // Whoever was silent is asked, and has as long again to answer.
    if (!std::exchange(self->heard_, false) && !self->session_.ping()) return self->close();
    self->silence_.expires_after(self->loop_.options.keepalive);
    self->look_at_silence();
    self->settle();
  });
}

void RpcConnection::go_away() {
  if (closed_) return;
  session_.go_away();
  settle();
}

void RpcConnection::close() {
  if (std::exchange(closed_, true)) return;
  const auto keep = shared_from_this();
  SystemError ignored;
  socket_.close(ignored);
  silence_.cancel();
  while (!calls_.empty()) over(calls_.begin()->first, false);
  run_ready();
  loop_.connections.erase(keep);
  --loop_.open;
}

void RpcConnection::request(Stream stream, http2::Headers&& headers, bool last) {
  requested_ = true;
  if (loop_.stopping || calls_.size() + given_up_.size() >= loop_.options.calls_max)
    return session_.reset(stream, code_refused_stream);
  auto& open = calls_[stream];
  open.call = std::make_shared<RpcCall>(session_, stream, shared_from_this(), loop_.methods, peer_,
                                        loop_.options.message_bytes_max);
  ++loop_.under_way;
  const auto call = open.call;
  call->request(std::move(headers), last, Context::Clock::now());
  if (call->deadline()) calls_.at(stream).deadline = loop_.expires(*call->deadline(), call);
}

void RpcConnection::body(Stream stream, std::string_view bytes) {
  const auto found = calls_.find(stream);
  if (found == calls_.end()) return session_.consumed(stream, bytes.size());
  const auto call = found->second.call;
  call->body(bytes);
}

void RpcConnection::body_ends(Stream stream) {
  const auto found = calls_.find(stream);
  if (found == calls_.end()) return;
  const auto call = found->second.call;
  call->body_ends();
}

void RpcConnection::sent(Stream stream) {
  const auto found = calls_.find(stream);
  if (found == calls_.end()) return;
  const auto call = found->second.call;
  call->sent();
}

void RpcConnection::over(Stream stream, bool) {
  const auto found = calls_.find(stream);
  if (found == calls_.end()) return;
  const auto open = std::move(found->second);
  calls_.erase(found);
  if (open.deadline) loop_.forget(*open.deadline);
  given_up_.insert(open.call);
  open.call->over();
  run(open.call);
}

void RpcConnection::run(const std::shared_ptr<RpcCall>& call) {
  call->run();
  if (!call->is_done()) return;
  if (given_up_.erase(call) != 0) --loop_.under_way;
}

void RpcConnection::wake(std::shared_ptr<RpcCall> call) {
  if (loop_.is_here() && inside_) {
    ready_.push_back(std::move(call));
    return;
  }
  bool first = false;
  {
    const std::lock_guard lock(mutex_);
    first = woken_.empty();
    woken_.push_back(std::move(call));
  }
  if (!first) return;
  asio::post(loop_.io, [self = shared_from_this()] {
    std::vector<std::shared_ptr<RpcCall>> woken;
    {
      const std::lock_guard lock(self->mutex_);
      woken.swap(self->woken_);
    }
    for (const auto& each : woken) self->run(each);
    self->settle();
  });
}

}  // namespace evershard::rpc
