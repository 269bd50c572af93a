// H2Client: a client's side of an HTTP/2 connection without a socket, by nghttp2, for tests.

#pragma once

#include <nghttp2/nghttp2.h>

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <string_view>

#include "evershard/doors/http2/session.hpp"

namespace evershard::http2 {

class H2Client {
 public:
  struct Answer {
    Headers headers{};
    Headers trailers{};
    std::string body{};
    bool over = false;
    std::uint32_t code = 0;  ///< how the stream ended
  };

  /// `window`: of each stream: so many bytes of a body are sent before it reads.
  explicit H2Client(std::uint32_t window = 65'535);
  H2Client(const H2Client&) = delete;

  /// `body`: absent: none. `ends`: false: more of it may come.
  std::int32_t ask(const Headers& headers, std::string_view body = {}, bool ends = true);
  /// More of a body.
  void say(std::int32_t stream, std::string_view body, bool ends);
  void give_up(std::int32_t stream);
  void ping();
  /// Reads so many bytes of an answer, and says so.
  void read(std::int32_t stream, std::size_t bytes);
  /// Window of the connection; by itself it reads all.
  void feed(std::string_view bytes);
  std::string pull();

  std::map<std::int32_t, Answer> answers;
  std::uint32_t gone_away = UINT32_MAX;  ///< the code of the server's GOAWAY

 private:
  struct Body {
    std::string bytes{};
    bool ends = true;
    bool deferred = false;
  };
  struct Deleted {
    void operator()(nghttp2_session* session) const { nghttp2_session_del(session); }
  };
  std::map<std::int32_t, Body> bodies_;
  std::unique_ptr<nghttp2_session, Deleted> at_;
};

}  // namespace evershard::http2
