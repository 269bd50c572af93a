// Session: a server's side of one HTTP/2 connection, by nghttp2: bytes in, bytes out. No socket, thread or clock.

#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "evershard/doors/http2/session_bounds.hpp"

namespace evershard::http2 {

struct Header {
  std::string name;  ///< in small letters
  std::string value;
  friend bool operator==(const Header&, const Header&) = default;
};
using Headers = std::vector<Header>;

/// Why the server ends a connection.
enum class Ended : std::uint8_t {
  no,
  broken,       ///< what came is no HTTP/2, or against its rules
  given_up,     ///< SessionBounds::given_up
  idle_frames,  ///< SessionBounds::idle_frames
  flooded,      ///< more waits to be answered by the protocol itself than nghttp2 keeps
};

/// Owner:  one thread.
/// Source: RFC 9113; nghttp2 1.52
class Session {
 public:
  using Clock = Pace::Clock;
  using Stream = std::int32_t;

  /// Told of what the client does, from within feed(), and of what became of answers, from within feed() and pull().
  /// Each may call whatever has no such remark.
  class Events {
   public:
    virtual ~Events() = default;
    /// The headers of a request are whole. `last`: it has no body.
    virtual void request(Stream stream, Headers&& headers, bool last) = 0;
    /// Bytes of a body, which count against its window until consumed().
    virtual void body(Stream stream, std::string_view bytes) = 0;
    virtual void body_ends(Stream stream) = 0;
    /// All that send() was given is among what pull() gave.
    virtual void sent(Stream stream) = 0;
    /// Nothing more is told of the stream. `whole`: both sides ended it in good order.
    virtual void over(Stream stream, bool whole) = 0;
  };

  /// Shape: `events`: lives longer
  Session(const SessionBounds& bounds, Events& events);
  ~Session();
  Session(const Session&) = delete;

  /// What the client sent. Not from within an event.
  /// Returns: false: nothing more is read; the connection is closed when pull() has given all it has.
  [[nodiscard]] bool feed(std::string_view bytes, Clock::time_point now);
  /// Appends what is to be sent, until `out` has `most` bytes or a frame more. Not from within an event.
  void pull(std::string& out, std::size_t most);
  /// pull() has something to give.
  [[nodiscard]] bool has_output() const;
  /// Both sides are done: the connection may be closed.
  [[nodiscard]] bool is_over() const;
  [[nodiscard]] Ended ended() const { return ended_; }
  /// Streams that are open.
  [[nodiscard]] std::size_t streams() const;

  // Of a stream that is over they do nothing.

  /// The headers of an answer. `last`: it has no body. Shape: once
  void respond(Stream stream, const Headers& headers, bool last = false);
  /// Bytes of an answer, behind those that wait already. Shape: behind respond()
  void send(Stream stream, std::string bytes);
  /// Ends the answer behind what waits, with trailers or without. Shape: behind respond(), once
  void end(Stream stream, const Headers& trailers);
  /// Gives the stream up, at once. `code`: of RFC 9113, 7
  void reset(Stream stream, std::uint32_t code);
  /// So many bytes of the stream's body need no memory any more.
  void consumed(Stream stream, std::size_t bytes);
  /// Bytes that wait to be sent.
  [[nodiscard]] std::size_t waiting(Stream stream) const;

  /// The client is to open no streams any more; those that are open go on.
  void go_away();
  /// Ends all streams and the connection.
  void terminate(std::uint32_t code);
  /// Asks whether the client is there. Returns: false: it has not answered the last one.
  [[nodiscard]] bool ping();

 private:
  struct Impl;
  const std::unique_ptr<Impl> impl_;
  Ended ended_ = Ended::no;
};

}  // namespace evershard::http2
