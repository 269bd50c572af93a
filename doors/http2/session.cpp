#include "evershard/doors/http2/session.hpp"

#include <nghttp2/nghttp2.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <deque>
#include <optional>
#include <unordered_map>
#include <utility>

#include "evershard/protocol/check.hpp"

namespace evershard::http2 {
namespace {

constexpr std::size_t header_overhead = 32;  // RFC 9113, 6.5.2

std::vector<nghttp2_nv> fields_of(const Headers& headers) {
  std::vector<nghttp2_nv> fields;
  fields.reserve(headers.size());
  for (const auto& header : headers) {
    fields.push_back({reinterpret_cast<std::uint8_t*>(const_cast<char*>(header.name.data())),
                      reinterpret_cast<std::uint8_t*>(const_cast<char*>(header.value.data())), header.name.size(),
                      header.value.size(), NGHTTP2_NV_FLAG_NONE});
  }
  return fields;
}

/// nghttp2 gives up only where no memory is left, or is called against its rules.
void check(int status) { EVERSHARD_CHECK(status == 0, "nghttp2 refuses what it is asked to do"); }

struct Deleted {
  void operator()(nghttp2_session* session) const { nghttp2_session_del(session); }
  void operator()(nghttp2_session_callbacks* callbacks) const { nghttp2_session_callbacks_del(callbacks); }
  void operator()(nghttp2_option* option) const { nghttp2_option_del(option); }
};

}  // namespace

struct Session::Impl {
  struct State {
    Headers headers;
    std::size_t header_bytes = 0;
    bool told = false;       ///< request() was
    bool has_ended = false;  ///< the client's side
    bool responded = false;
    bool went_out = false;  ///< a byte of its answer
    bool deferred = false;
    bool ending = false;
    Headers trailers;  ///< where it is ending
    std::deque<std::string> queue;
    std::size_t at = 0;  ///< in the first of the queue
    std::size_t waiting = 0;
    bool empties = false;  ///< sent() is to be told
    std::size_t held = 0;  ///< of its body, not consumed
  };

  Impl(Session& s, const SessionBounds& b, Events& e)
      : session(s), bounds(b), events(e), given_up(b.given_up), idle_frames(b.idle_frames) {
    nghttp2_session_callbacks* made = nullptr;
    check(nghttp2_session_callbacks_new(&made));
    const std::unique_ptr<nghttp2_session_callbacks, Deleted> callbacks(made);
    nghttp2_session_callbacks_set_on_begin_headers_callback(
        made, [](auto*, const auto* frame, void* of) { return self(of).begin_headers(*frame); });
    nghttp2_session_callbacks_set_on_header_callback(
        made, [](auto*, const auto* frame, const auto* name, std::size_t name_bytes, const auto* value,
                 std::size_t value_bytes, std::uint8_t, void* of) {
          return self(of).header(*frame, {reinterpret_cast<const char*>(name), name_bytes},
                                 {reinterpret_cast<const char*>(value), value_bytes});
        });
    nghttp2_session_callbacks_set_on_frame_recv_callback(
        made, [](auto*, const auto* frame, void* of) { return self(of).received(*frame); });
    nghttp2_session_callbacks_set_on_data_chunk_recv_callback(
        made, [](auto*, std::uint8_t, std::int32_t id, const auto* data, std::size_t bytes, void* of) {
          return self(of).data(id, {reinterpret_cast<const char*>(data), bytes});
        });
    nghttp2_session_callbacks_set_on_stream_close_callback(
        made, [](auto*, std::int32_t id, std::uint32_t code, void* of) { return self(of).closed(id, code); });
    nghttp2_session_callbacks_set_on_frame_send_callback(
        made, [](auto*, const auto* frame, void* of) { return self(of).went(*frame); });
    nghttp2_session_callbacks_set_data_source_read_length_callback(
        made,
        [](auto*, std::uint8_t, std::int32_t, std::int32_t connection_window, std::int32_t window,
           std::uint32_t frame_bytes_max, void* of) -> ssize_t {
          return std::min<std::int64_t>(
              {connection_window, window, static_cast<std::int64_t>(frame_bytes_max), self(of).bounds.frame_bytes});
        });

    nghttp2_option* option = nullptr;
    check(nghttp2_option_new(&option));
    const std::unique_ptr<nghttp2_option, Deleted> options(option);
    nghttp2_option_set_no_auto_window_update(option, 1);
    nghttp2_option_set_no_closed_streams(option, 1);

    nghttp2_session* opened = nullptr;
    check(nghttp2_session_server_new2(&opened, made, this, option));
    at.reset(opened);
    const std::array<nghttp2_settings_entry, 3> settings{
        {{NGHTTP2_SETTINGS_MAX_CONCURRENT_STREAMS, bounds.streams},
         {NGHTTP2_SETTINGS_INITIAL_WINDOW_SIZE, bounds.window},
         {NGHTTP2_SETTINGS_MAX_HEADER_LIST_SIZE, static_cast<std::uint32_t>(bounds.header_bytes)}}};
    check(nghttp2_submit_settings(opened, NGHTTP2_FLAG_NONE, settings.data(), settings.size()));
    check(
        nghttp2_session_set_local_window_size(opened, NGHTTP2_FLAG_NONE, 0, static_cast<std::int32_t>(bounds.windows)));
  }

  static Impl& self(void* of) { return *static_cast<Impl*>(of); }
  [[nodiscard]] State* find(Stream id) {
    const auto found = streams.find(id);
    return found == streams.end() ? nullptr : &found->second;
  }

  int begin_headers(const nghttp2_frame& frame) {
    if (frame.hd.type == NGHTTP2_HEADERS && frame.headers.cat == NGHTTP2_HCAT_REQUEST) streams[frame.hd.stream_id];
    return 0;
  }

  int header(const nghttp2_frame& frame, std::string_view name, std::string_view value) {
    auto* const state = find(frame.hd.stream_id);
    if (state == nullptr || state->told) return 0;  // trailers say nothing here
    state->header_bytes += name.size() + value.size() + header_overhead;
    // The rest of the block is read for the table that both sides keep, and not kept.
    if (state->header_bytes > bounds.header_bytes) return NGHTTP2_ERR_TEMPORAL_CALLBACK_FAILURE;
    state->headers.push_back({std::string(name), std::string(value)});
    return 0;
  }

  int received(const nghttp2_frame& frame) {
    const bool ends = (frame.hd.flags & NGHTTP2_FLAG_END_STREAM) != 0;
    switch (frame.hd.type) {
      case NGHTTP2_HEADERS:
        if (auto* const state = find(frame.hd.stream_id)) {
          const bool is_request = !std::exchange(state->told, true);
          if (is_request) {
            state->has_ended = ends;
            events.request(frame.hd.stream_id, std::exchange(state->headers, {}), ends);
          } else if (ends) {
            end_of_body(frame.hd.stream_id, *state);
          }
        }
        return 0;
      case NGHTTP2_DATA:
        if (frame.hd.length == 0 && !ends) return idle();
        if (auto* const state = find(frame.hd.stream_id); state != nullptr && ends)
          end_of_body(frame.hd.stream_id, *state);
        return 0;
      case NGHTTP2_RST_STREAM:
        if (auto* const state = find(frame.hd.stream_id); state != nullptr && !state->went_out && !given_up.take(now))
          return calm(Ended::given_up);
        return idle();
      case NGHTTP2_WINDOW_UPDATE:  // as many as there are answers
      case NGHTTP2_GOAWAY:
        return 0;
      case NGHTTP2_PING:
        if ((frame.hd.flags & NGHTTP2_FLAG_ACK) != 0) asked = false;
        return idle();
      default:
        return idle();
    }
  }

  void end_of_body(Stream id, State& state) {
    if (!std::exchange(state.has_ended, true)) events.body_ends(id);
  }

  int idle() { return idle_frames.take(now) ? 0 : calm(Ended::idle_frames); }

  /// The client is told to be calm, and the connection ends.
  int calm(Ended why) {
    if (session.ended_ == Ended::no) {
      session.ended_ = why;
      check(nghttp2_session_terminate_session(at.get(), NGHTTP2_ENHANCE_YOUR_CALM));
    }
    return 0;
  }

  int data(Stream id, std::string_view bytes) {
    auto* const state = find(id);
    if (state == nullptr) {  // nobody else would
      check(nghttp2_session_consume_connection(at.get(), bytes.size()));
      return 0;
    }
    state->held += bytes.size();
    if (state->has_ended)
      consumed(id, bytes.size());
    else
      events.body(id, bytes);
    return 0;
  }

  void consumed(Stream id, std::size_t bytes) {
    auto* const state = find(id);
    if (state == nullptr) return;
    EVERSHARD_CHECK(bytes <= state->held, "what is consumed has come");
    state->held -= bytes;
    check(nghttp2_session_consume(at.get(), id, bytes));
  }

  int closed(Stream id, std::uint32_t code) {
    const auto found = streams.find(id);
    if (found == streams.end()) return 0;
    const bool told = found->second.told;
    // What nobody took of it takes no room of the other streams' any more.
    if (found->second.held != 0) check(nghttp2_session_consume_connection(at.get(), found->second.held));
    const bool whole = code == NGHTTP2_NO_ERROR && found->second.has_ended && found->second.went_out;
    streams.erase(found);
    if (told) events.over(id, whole);
    return 0;
  }

  int went(const nghttp2_frame& frame) {
    if (frame.hd.type != NGHTTP2_HEADERS && frame.hd.type != NGHTTP2_DATA) return 0;
    auto* const state = find(frame.hd.stream_id);
    if (state == nullptr) return 0;
    state->went_out = true;
    // Whoever still sends a body is told that nobody reads it: RFC 9113, 8.1.
    if ((frame.hd.flags & NGHTTP2_FLAG_END_STREAM) != 0 && !state->has_ended) {
      state->has_ended = true;
      check(nghttp2_submit_rst_stream(at.get(), NGHTTP2_FLAG_NONE, frame.hd.stream_id, NGHTTP2_NO_ERROR));
    }
    return 0;
  }

  ssize_t read(Stream id, std::uint8_t* into, std::size_t most, std::uint32_t& flags) {
    auto* const state = find(id);
    if (state == nullptr) return NGHTTP2_ERR_TEMPORAL_CALLBACK_FAILURE;
    std::size_t given = 0;
    while (given != most && !state->queue.empty()) {
      const auto& first = state->queue.front();
      const std::size_t bytes = std::min(most - given, first.size() - state->at);
      std::memcpy(into + given, first.data() + state->at, bytes);
      given += bytes;
      state->at += bytes;
      if (state->at != first.size()) break;
      state->queue.pop_front();
      state->at = 0;
    }
    state->waiting -= given;
    if (!state->queue.empty()) return static_cast<ssize_t>(given);
    if (given != 0) {
      state->empties = true;
      emptied.push_back(id);
    }
    if (state->ending) {
      flags |= NGHTTP2_DATA_FLAG_EOF;
      if (!state->trailers.empty()) {
        flags |= NGHTTP2_DATA_FLAG_NO_END_STREAM;
        const auto fields = fields_of(state->trailers);
        check(nghttp2_submit_trailer(at.get(), id, fields.data(), fields.size()));
      }
    } else if (given == 0) {
      state->deferred = true;
      return NGHTTP2_ERR_DEFERRED;
    }
    return static_cast<ssize_t>(given);
  }

  void go_on(Stream id, State& state) {
    if (std::exchange(state.deferred, false)) check(nghttp2_session_resume_data(at.get(), id));
  }

  void tell_sent() {
    for (const Stream id : std::exchange(emptied, {})) {
      auto* const state = find(id);
      if (state != nullptr && std::exchange(state->empties, false) && state->queue.empty()) events.sent(id);
    }
  }

  Session& session;
  const SessionBounds bounds;
  Events& events;
  Pace given_up, idle_frames;
  Clock::time_point now{};
  std::unordered_map<Stream, State> streams;
  std::vector<Stream> emptied;
  bool asked = false;                            ///< by a PING that was not answered
  std::unique_ptr<nghttp2_session, Deleted> at;  ///< goes first: it tells of streams that are over
};

Session::Session(const SessionBounds& bounds, Events& events) : impl_(std::make_unique<Impl>(*this, bounds, events)) {}
Session::~Session() = default;

bool Session::feed(std::string_view bytes, Clock::time_point now) {
  impl_->now = now;
  const auto taken =
      nghttp2_session_mem_recv(impl_->at.get(), reinterpret_cast<const std::uint8_t*>(bytes.data()), bytes.size());
  if (taken < 0) {
    if (ended_ == Ended::no) ended_ = taken == NGHTTP2_ERR_FLOODED ? Ended::flooded : Ended::broken;
    if (taken != NGHTTP2_ERR_FLOODED && taken != NGHTTP2_ERR_BAD_CLIENT_MAGIC) terminate(NGHTTP2_PROTOCOL_ERROR);
    return false;
  }
  return ended_ == Ended::no && nghttp2_session_want_read(impl_->at.get()) != 0;
}

void Session::pull(std::string& out, std::size_t most) {
  while (out.size() < most) {
    const std::uint8_t* bytes = nullptr;
    const auto given = nghttp2_session_mem_send(impl_->at.get(), &bytes);
    if (given < 0) {
      ended_ = ended_ == Ended::no ? Ended::broken : ended_;
      return;
    }
    out.append(reinterpret_cast<const char*>(bytes), static_cast<std::size_t>(given));
    impl_->tell_sent();
    if (given == 0 && !has_output()) return;
  }
}

bool Session::has_output() const { return nghttp2_session_want_write(impl_->at.get()) != 0; }

bool Session::is_over() const {
  return !has_output() && (ended_ != Ended::no || nghttp2_session_want_read(impl_->at.get()) == 0);
}

std::size_t Session::streams() const { return impl_->streams.size(); }

void Session::respond(Stream stream, const Headers& headers, bool last) {
  auto* const state = impl_->find(stream);
  if (state == nullptr) return;
  EVERSHARD_CHECK(!std::exchange(state->responded, true), "an answer has its headers once");
  const auto fields = fields_of(headers);
  nghttp2_data_provider body{};
  body.read_callback = [](auto*, std::int32_t id, std::uint8_t* into, std::size_t most, std::uint32_t* flags, auto*,
                          void* of) { return Impl::self(of).read(id, into, most, *flags); };
  check(nghttp2_submit_response(impl_->at.get(), stream, fields.data(), fields.size(), last ? nullptr : &body));
}

void Session::send(Stream stream, std::string bytes) {
  auto* const state = impl_->find(stream);
  if (state == nullptr || bytes.empty()) return;
  EVERSHARD_CHECK(state->responded && !state->ending, "bytes of an answer come behind its headers and before its end");
  state->waiting += bytes.size();
  state->empties = false;
  state->queue.push_back(std::move(bytes));
  impl_->go_on(stream, *state);
}

void Session::end(Stream stream, const Headers& trailers) {
  auto* const state = impl_->find(stream);
  if (state == nullptr) return;
  EVERSHARD_CHECK(state->responded && !std::exchange(state->ending, true),
                  "an answer is ended once, behind its headers");
  state->trailers = trailers;
  impl_->go_on(stream, *state);
}

void Session::reset(Stream stream, std::uint32_t code) {
  if (impl_->streams.contains(stream))
    check(nghttp2_submit_rst_stream(impl_->at.get(), NGHTTP2_FLAG_NONE, stream, code));
}

void Session::consumed(Stream stream, std::size_t bytes) { impl_->consumed(stream, bytes); }

std::size_t Session::waiting(Stream stream) const {
  const auto found = impl_->streams.find(stream);
  return found == impl_->streams.end() ? 0 : found->second.waiting;
}

void Session::go_away() {
  check(nghttp2_submit_goaway(impl_->at.get(), NGHTTP2_FLAG_NONE,
                              nghttp2_session_get_last_proc_stream_id(impl_->at.get()), NGHTTP2_NO_ERROR, nullptr, 0));
}

void Session::terminate(std::uint32_t code) { check(nghttp2_session_terminate_session(impl_->at.get(), code)); }

bool Session::ping() {
  if (std::exchange(impl_->asked, true)) return false;
  check(nghttp2_submit_ping(impl_->at.get(), NGHTTP2_FLAG_NONE, nullptr));
  return true;
}

}  // namespace evershard::http2
