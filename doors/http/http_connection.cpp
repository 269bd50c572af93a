#include "evershard/doors/http/http_connection.hpp"

#include <boost/asio/post.hpp>

#include <algorithm>
#include <utility>

namespace evershard::http {
namespace {

using Clock = std::chrono::steady_clock;

constexpr std::size_t read_ahead_max = 16u << 10;
constexpr auto linger_time = std::chrono::seconds(1);
constexpr auto farewell_time = std::chrono::seconds(1);
constexpr auto last_write_time = std::chrono::milliseconds(2'000);  ///< when the server is stopping
constexpr std::size_t small_answer = 64u << 10;                     ///< always has room
constexpr std::size_t linger_bytes_max = 1u << 20;

bool has_body(const Request& request) {
  const auto length = request.field("content-length");
  return request.count("transfer-encoding") > 0 ||
         (!length.empty() && length.find_first_not_of('0') != std::string_view::npos);
}

std::string chunk_of(std::string_view bytes, bool last) {
  std::string chunk;
  if (!bytes.empty()) {
    char size[20];
    std::snprintf(size, sizeof size, "%zx\r\n", bytes.size());
    ((chunk += size) += bytes) += "\r\n";
  }
  if (last) chunk += "0\r\n\r\n";
  return chunk;
}

Refusal no_room(std::string what) { return {429, {ErrorCode::overloaded, std::move(what)}, {}}; }

}  // namespace

Connection::Connection(Network& network, std::shared_ptr<Network> keeps, std::unique_ptr<Socket> socket,
                       std::string address)
    : network_(network),
      keeps_(std::move(keeps)),
      socket_(std::move(socket)),
      address_(std::move(address)),
      timer_(network.io),
      since_(Clock::now()) {
  network_.api.metrics().connections("http", 1);
}

Connection::~Connection() { network_.api.metrics().connections("http", -1); }

// -- coming and going

void Connection::enter(State state) {
  state_ = state;
  since_ = Clock::now();
}

void Connection::arm(std::chrono::milliseconds time, std::function<void()> expired) {
  timer_.expires_after(time);
  timer_.async_wait(
      [self = shared_from_this(), armed = ++armed_, expired = std::move(expired)](const Socket::Error& error) {
        if (!error && self->armed_ == armed && self->state_ != State::closed) expired();
      });
}

void Connection::disarm() {
  ++armed_;
  timer_.cancel();
}

void Connection::start() {
  arm(network_.options.limits.header_time, [this] { late(); });
  socket_->greet([self = shared_from_this()](const Socket::Error& error) {
    if (self->state_ == State::closed) return;
    if (error) {
      self->network_.api.metrics().connection_refused("http", "tls");
      return self->close();
    }
    self->enter(State::waiting);
    self->read();
  });
}

void Connection::turn_away() {
  keep_alive_ = false;
  respond(refused(Refusal{503, {ErrorCode::unavailable, "too many connections"}, {{"Retry-After", "1"}}}));
}

bool Connection::is_idle() const {
  return state_ == State::greeting || state_ == State::waiting || state_ == State::head || state_ == State::lingering;
}

void Connection::wind_down() {
  keep_alive_ = false;
  if (state_ == State::greeting || state_ == State::waiting) return close();
  if (state_ == State::writing) arm(last_write_time, [this] { close(); });
  if (state_ != State::streaming) return;
  count(true);  // until its last piece is written; whoever reads nothing is not waited for
  farewell_ = Clock::now() + farewell_time;
  arm(farewell_time, [this] { close(); });
  if (std::exchange(streaming_ended_, true)) return;
  stream_->cancel();
  if (!writing_) piece({{}, true});
}

void Connection::look_at_token_again() {
  if (state_ != State::streaming || !scope_ || network_.api.served.access()->admit(token_, *scope_)) return;
  keep_alive_ = false;
  if (std::exchange(streaming_ended_, true)) return;
  stream_->cancel();
  if (!writing_) piece({{}, true});
}

void Connection::close() {
  if (state_ == State::closed) return;
  const auto self = shared_from_this();
  const bool streamed = state_ == State::streaming;
  enter(State::closed);
  network_.answer_bytes -= std::exchange(answer_bytes_, 0);
  disarm();
  socket_->close();
  if (interest_) interest_->go();
  if (stream_) stream_->cancel();
  end_request(streamed ? std::nullopt : std::optional(ErrorCode::cancelled));
  count(false);
  then_ = nullptr;
  network_.connections.erase(self);
}

void Connection::late() {
  const bool silent = state_ == State::greeting || state_ == State::waiting;
  network_.api.metrics().connection_refused("http", silent ? "silent" : "slow");
  if (silent) return close();
  keep_alive_ = false;
  respond(refused(Refusal{408, {ErrorCode::timeout, "the request did not come whole in time; nothing was done"}, {}}));
}

// -- reading

void Connection::read() {
  const bool ahead = state_ == State::working || state_ == State::writing || state_ == State::streaming;
  if (reading_ || ended_ || state_ == State::closed || (ahead && in_.size() >= read_ahead_max)) return;
  reading_ = true;
  socket_->read_some(chunk_, [self = shared_from_this()](const Socket::Error& error, std::size_t bytes) {
    self->reading_ = false;
    self->received(error, bytes);
  });
}

void Connection::received(const Socket::Error& error, std::size_t bytes) {
  if (state_ == State::closed) return;
  if (error) {
    ended_ = true;
    // Whoever has said all he wants to say may still wait for the answer; a stream's reader says nothing from the
    // beginning.
    if (is_end(error) && (state_ == State::working || state_ == State::writing)) return;
    return close();
  }
  if (state_ == State::lingering) {
    discarded_ += bytes;
    return discarded_ > linger_bytes_max ? close() : read();
  }
  in_.append(chunk_.data(), bytes);
  if (state_ == State::waiting || state_ == State::head || state_ == State::body) return parse();
  read();
}

void Connection::parse() {
  const auto& limits = network_.options.limits;
  if (!reader_) reader_ = std::make_unique<RequestReader>(limits.header_bytes, limits.body_bytes);
  auto step = reader_->feed(in_);
  if (!step) {
    network_.api.metrics().connection_refused("http", "garbage");
    keep_alive_ = false;
    return respond(refused(step.error()));
  }
  switch (*step) {
    case RequestReader::Step::more:
      if (state_ == State::waiting && !in_.empty()) {
        enter(State::head);
        arm(limits.header_time, [this] { late(); });
      }
      if (state_ == State::body && !account_body()) return;
      return read();
    case RequestReader::Step::head:
      return head_known();
    case RequestReader::Step::whole:
      if (!account_body()) return;
      return handle();
  }
}

void Connection::head_known() {
  const auto& head = reader_->head();
  only_head_ = head.method == "HEAD";
  http_1_0_ = head.http_1_0;
  keep_alive_ = keep_alive_ && head.keep_alive && !network_.stopping;
  began_ = Clock::now();
  const bool body = has_body(head);
  const auto answer_early = [&](Response response) {
    if (body)
      keep_alive_ = false;  // it is not read
    else
      reader_.reset();
    respond(std::move(response));
  };
  if (head.method == "OPTIONS") return answer_early(network_.api.options_of(head));
  auto admitted = network_.api.admit(head, address_);
  if (!admitted) return answer_early(refused(admitted.error()));
  if (body && admitted->route->method != "POST") {
    return answer_early(
        refused(Error(ErrorCode::invalid_argument, "a request with the method " + head.method + " has no body here")));
  }
  asked_ = *std::move(admitted);
  route_ = asked_->route;
  token_ = token_of(head).token;
  scope_ = route_->scope;
  enter(State::body);
  arm(network_.options.limits.body_time, [this] { late(); });
  if (!head.expects_continue || !body || !in_.empty()) return parse();
  out_ = "HTTP/1.1 100 Continue\r\n\r\n";
  write_out([this] {
    arm(network_.options.limits.body_time, [this] { late(); });
    parse();
  });
}

/// False: there is no room, and that was answered.
bool Connection::account_body() {
  const auto now = reader_->body_bytes();
  network_.body_bytes += now - body_bytes_;
  body_bytes_ = now;
  if (now == 0 || network_.body_bytes <= network_.options.limits.all_bodies_bytes) return true;
  keep_alive_ = false;
  respond(refused(no_room("too many bytes of requests are on their way")));
  return false;
}

// -- answering

void Connection::handle() {
  enter(State::working);
  disarm();
  began_ = Clock::now();
  auto asked = *std::exchange(asked_, std::nullopt);
  asked.request = reader_->take();
  client_ = asked.client;
  if (asked.request.count("transfer-encoding") > 0) {
    reader_.reset();
    if (auto over = network_.api.over_limit(client_, 0, asked.request.body.size())) return respond(refused(*over));
  }
  reader_.reset();
  interest_ = std::make_shared<Interest>();
  count(true);
  read();  // so that somebody who goes away is noticed
  network_.api.answer(
      std::move(asked), interest_, [self = shared_from_this(), hold = network_.under_way.hold()](Answer answer) {
        boost::asio::post(self->network_.io,
                          [self, kept = std::make_shared<Answer>(std::move(answer))] { self->give(std::move(*kept)); });
      });
}

void Connection::give(Answer answer) {
  if (state_ == State::closed) {
    if (auto* stream = std::get_if<std::shared_ptr<Stream>>(&answer)) (*stream)->cancel();
    return;
  }
  if (auto* response = std::get_if<Response>(&answer)) return respond(std::move(*response));
  auto stream = std::get<std::shared_ptr<Stream>>(std::move(answer));
  const bool stopping = network_.stopping;
  std::optional<Refusal> refusal;
  if (stopping)
    refusal = Refusal{503, {ErrorCode::unavailable, "the server is stopping"}, {}};
  else if (network_.streams >= network_.options.limits.streams)
    refusal = no_room("too many live streams are open");
  if (!refusal) {
    auto held = network_.api.open_stream(client_);
    if (held) {
      held_ = *std::move(held);
      return begin_stream(std::move(stream));
    }
    refusal = std::move(held).error();
  }
  stream->cancel();
  interest_->go();
  respond(refused(*refusal));
}

void Connection::respond(Response response) {
  const bool keep = keep_alive_ && !network_.stopping && !(ended_ && in_.empty());
  keep_alive_ = keep;
  const auto content = response.content();
  if (content.size() > small_answer &&
      network_.answer_bytes + content.size() > network_.options.limits.all_answers_bytes) {
    return respond(refused(no_room("too many bytes of answers wait for clients who do not take them")));
  }
  out_ = head_of(response, Framing::length, content.size(), keep, http_1_0_);
  if (!only_head_) out_ += content;
  network_.answer_bytes += out_.size() - std::exchange(answer_bytes_, out_.size());
  if (route_ == nullptr && response.refused) network_.api.metrics_of_no_route().answered({}, response.refused);
  end_request(response.refused);
  count(true);
  enter(State::writing);
  write_out([this] {
    network_.answer_bytes -= std::exchange(answer_bytes_, 0);
    count(false);
    if (keep_alive_)
      next_request();
    else
      linger();
  });
}

void Connection::end_request(std::optional<ErrorCode> refused) {
  network_.body_bytes -= std::exchange(body_bytes_, 0);
  if (const auto* route = std::exchange(route_, nullptr))
    network_.api.metrics_of(*route).answered(Clock::now() - began_, refused);
  if (stream_) {
    --network_.streams;
    network_.api.metrics().streams("http", -1);
    stream_.reset();
    held_.reset();
  }
  asked_.reset();
}

void Connection::count(bool counted) {
  if (std::exchange(counted_, counted) == counted) return;
  {
    const std::lock_guard lock(network_.mutex);
    if (counted)
      ++network_.requests;
    else
      --network_.requests;
  }
  if (!counted) network_.less_to_do.notify_all();
}

void Connection::next_request() {
  if (ended_ && in_.empty()) return close();
  reader_.reset();
  interest_.reset();
  only_head_ = http_1_0_ = false;
  enter(State::waiting);
  arm(network_.options.limits.idle_time, [this] { late(); });
  if (in_.empty())
    read();
  else
    parse();
}

void Connection::linger() {
  enter(State::lingering);
  arm(linger_time, [this] { close(); });
  in_.clear();
  reader_.reset();
  // Closed with bytes unread, TCP would take back what the client has not read yet.
  socket_->finish([self = shared_from_this()] {
    if (self->state_ != State::closed) self->read();
  });
}

// -- streams

void Connection::begin_stream(std::shared_ptr<Stream> stream) {
  const auto* route = std::exchange(route_, nullptr);
  end_request({});
  count(false);
  route_ = route;
  stream_ = std::move(stream);
  ++network_.streams;
  network_.api.metrics().streams("http", 1);
  enter(State::streaming);
  if (ended_) return close();
  Response response;
  response.content_type = "text/event-stream";
  if (route_ != nullptr && route_->scope) response.headers = network_.api.history();
  keep_alive_ = keep_alive_ && !http_1_0_;
  out_ = head_of(response, http_1_0_ ? Framing::until_close : Framing::chunked, 0, keep_alive_, http_1_0_);
  const std::string_view retry = "retry: 2000\n\n";
  out_ += http_1_0_ ? std::string(retry) : chunk_of(retry, false);
  read();
  write_out([this] { pump(); });
}

void Connection::pump() {
  if (streaming_ended_) return piece({{}, true});
  disarm();
  stream_->next([self = shared_from_this(), hold = network_.under_way.hold()](Piece piece) {
    boost::asio::post(self->network_.io, [self, kept = std::make_shared<Piece>(std::move(piece))] {
      if (self->state_ == State::streaming && !self->streaming_ended_) self->piece(std::move(*kept));
    });
  });
}

void Connection::piece(Piece piece) {
  if (piece.last) streaming_ended_ = true;
  out_ = http_1_0_ ? std::move(piece.bytes) : chunk_of(piece.bytes, piece.last);
  write_out([this, last = piece.last] {
    if (!last) return pump();
    streaming_ended_ = false;
    end_request({});
    count(false);
    if (keep_alive_ && !network_.stopping)
      next_request();
    else
      linger();
  });
}

// -- writing

void Connection::write_out(std::function<void()> then) {
  then_ = std::move(then);
  out_at_ = 0;
  writing_ = true;
  const auto& limits = network_.options.limits;
  auto time = limits.write_time + std::chrono::milliseconds(out_.size() * 1'000 / limits.write_bytes_per_second);
  if (network_.stopping && state_ == State::writing) time = std::min(time, last_write_time);
  if (farewell_)
    time = std::clamp(std::chrono::ceil<std::chrono::milliseconds>(*farewell_ - Clock::now()),
                      std::chrono::milliseconds(0), time);
  arm(time, [this] {
    network_.api.metrics().connection_refused("http", "takes_nothing");
    close();
  });
  write_some();
}

void Connection::write_some() {
  if (out_at_ == out_.size()) {
    writing_ = false;
    out_.clear();
    if (out_.capacity() > (64u << 10)) out_.shrink_to_fit();
    const auto then = std::exchange(then_, nullptr);
    return then();
  }
  socket_->write_some(std::string_view(out_).substr(out_at_),
                      [self = shared_from_this()](const Socket::Error& error, std::size_t bytes) {
                        if (self->state_ == State::closed) return;
                        if (error) return self->close();
                        self->out_at_ += bytes;
                        self->write_some();
                      });
}

}  // namespace evershard::http
