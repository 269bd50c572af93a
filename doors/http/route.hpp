// Route: a row of the HTTP door: a method and a path, who may ask, and what answers.

#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string_view>
#include <variant>

#include "evershard/doors/http/response.hpp"
#include "evershard/doors/http/stream.hpp"
#include "evershard/doors/serving/access.hpp"
#include "evershard/protocol/result.hpp"

namespace evershard::http {

class Api;
struct Asked;
class Interest;

/// A stream is sent with status 200 as text/event-stream.
using Answer = std::variant<Response, std::shared_ptr<Stream>>;
/// Once, from any thread.
using Answered = std::function<void(Answer)>;
using Interested = std::shared_ptr<Interest>;

/// In the network's thread: waits for nothing.
using AtOnce = Answer (*)(Api& api, const Asked& asked);
/// In the pool.
using FromPool = Result<Response> (*)(Api& api, const Asked& asked);
/// In the pool: answers when it likes. What works for `interest` ends when he goes.
using Begun = void (*)(Api& api, const Asked& asked, const Interested& interest, const Answered& answered);
/// In the pool: `read` is asked again while it answers `timeout`, without a thread that waits. Of a POST the parameters
/// are those of its body.
struct Rows {
  Result<Response> (*read)(Api& api, const Asked& asked, std::chrono::milliseconds wait);
  bool as_of_head = false;  ///< where it is not said, `at_least` is the head when the read began
};

/// What one kind of route has for itself.
enum class Manner : std::uint8_t {
  usual,
  always,        ///< answered to whom has had his share, and while the server is stopping
  uncompressed,  ///< its answers are small, and made where others wait
  stream,        ///< the answer goes on: there is no HEAD of it
};

struct Route {
  std::string_view method;
  std::string_view path;                ///< a segment in braces takes whatever stands there; {path...} the rest
  std::optional<serving::Scope> scope;  ///< absent: everybody
  std::variant<AtOnce, FromPool, Rows, Begun> answer;
  Manner manner = Manner::usual;
};

// Each table lies in the file of its handlers, api_*.cpp.
[[nodiscard]] std::span<const Route> serving_routes();
[[nodiscard]] std::span<const Route> administration_routes();
[[nodiscard]] std::span<const Route> event_routes();
[[nodiscard]] std::span<const Route> reading_routes();
[[nodiscard]] std::span<const Route> state_routes();
[[nodiscard]] std::span<const Route> command_routes();
[[nodiscard]] std::span<const Route> group_routes();
[[nodiscard]] std::span<const Route> projection_routes();
[[nodiscard]] std::span<const Route> table_routes();
[[nodiscard]] std::span<const Route> document_routes();
[[nodiscard]] std::span<const Route> retention_routes();
[[nodiscard]] std::span<const Route> scheduled_routes();
[[nodiscard]] std::span<const Route> process_routes();

}  // namespace evershard::http
