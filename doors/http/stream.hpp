// Stream: an answer that goes on: server-sent events, piece by piece, each asked for when the one before is on its way.

#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>

namespace evershard::http {

struct Piece {
  std::string bytes;
  bool last = false;
};

/// Owner: shared by who writes it and by what it waits for.
class Stream {
 public:
  using Done = std::function<void(Piece)>;
  virtual ~Stream() = default;
  /// One at a time. `done` is called once, from any thread, unless the stream is cancelled.
  virtual void next(Done done) = 0;
  /// From any thread, any number of times: the work behind it ends soon.
  virtual void cancel() = 0;
};

/// `event: NAME`, `id: ID` where given, `data: ...`, an empty line. WHATWG HTML, 9.2.
[[nodiscard]] std::string server_sent_event(std::string_view name, std::string_view data, std::string_view id = {});
inline constexpr std::string_view heartbeat_comment = ": heartbeat\n\n";

}  // namespace evershard::http
