// Fuzzing what the HTTP door reads from the network, up to the point where a handler would be called.
// The first byte says into what pieces the rest is cut.

#include <cstddef>
#include <cstdint>
#include <string>

#include "evershard/doors/http/guard.hpp"
#include "evershard/doors/http/read_asked.hpp"
#include "evershard/doors/http/request_reader.hpp"
#include "evershard/protocol/check.hpp"
#include "evershard/protocol/utf8.hpp"

namespace {

using namespace evershard;
using namespace evershard::http;

// So small that inputs of some kilobytes reach them.
constexpr std::size_t header_bytes_max = 512;
constexpr std::size_t body_bytes_max = 1'024;

void look_at(Request request) {
  static const auto access = serving::Access::of_tokens("w read,append token-0123456789\n", "T").value();
  const auto target = read_target(request.target);
  if (!target) return;
  for (const auto& segment : target->segments) EVERSHARD_CHECK(is_utf8(segment), "segments are UTF-8");
  const auto routed = route_of(request.method, target->segments);
  if (!routed) return;
  serving::WrongTokens wrong_tokens;
  (void)admit(request, *routed->route, Surroundings{}, access, wrong_tokens, "127.0.0.1");
  Asked asked{std::move(request), *target, routed->route, routed->argument, {}, {}};
  for (const auto by : {ReadBy::position, ReadBy::parameters, ReadBy::body}) {
    if (auto read = read_asked_of(asked, by))
      EVERSHARD_CHECK(read->limit <= limit_max && read->query.check(), "what is read is checked");
  }
  if (auto follow = follow_asked_of(asked)) EVERSHARD_CHECK(follow->query.check(), "what is followed is checked");
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size == 0) return 0;
  const std::size_t grain = data[0] == 0 ? size : data[0];
  std::string rest(reinterpret_cast<const char*>(data) + 1, size - 1), buffer;
  const auto new_reader = [] { return std::make_unique<RequestReader>(header_bytes_max, body_bytes_max); };
  auto reader = new_reader();
  while (true) {
    const auto step = reader->feed(buffer);
    if (!step) return 0;
    if (*step == RequestReader::Step::head) {
      EVERSHARD_CHECK(!reader->head().method.empty(), "a request has a method");
    } else if (*step == RequestReader::Step::whole) {
      look_at(reader->take());
      reader = new_reader();
    } else {
      EVERSHARD_CHECK(buffer.size() <= header_bytes_max + grain, "what is not read is bounded");
      EVERSHARD_CHECK(reader->body_bytes() <= body_bytes_max, "so is what is read");
      if (rest.empty()) return 0;
      const auto more = std::min(grain, rest.size());
      buffer += rest.substr(0, more);
      rest.erase(0, more);
    }
  }
}
