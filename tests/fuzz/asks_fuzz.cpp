// Fuzzing what nodes ask of each other's aggregates: any bytes are refused as malformed, or read, written and read
// again as the same. The first byte says which message the rest is.

#include <google/protobuf/stubs/logging.h>

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "evershard/cluster/peers/aggregate_messages.hpp"
#include "evershard/protocol/check.hpp"
#include "evershard/protocol/utf8.hpp"

namespace {

using namespace evershard;
using namespace evershard::cluster;

void look_at_ask(std::string_view bytes, const auto& read) {
  const auto value = read(bytes);
  if (!value) {
    EVERSHARD_CHECK(value.error().code == ErrorCode::corruption && is_utf8(value.error().what),
                    "a refusal is text, and of its kind");
    return;
  }
  const std::string written = encode(*value);
  const auto again = read(written);
  EVERSHARD_CHECK(again.has_value() && *again == *value, "what was written is read again as it was");
  EVERSHARD_CHECK(encode(*again) == written, "equal values are equal bytes");
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size == 0) return 0;
  const google::protobuf::LogSilencer silence;
  const std::string_view rest(reinterpret_cast<const char*>(data) + 1, size - 1);
  if (data[0] == 0) look_at_ask(rest, decode_aggregate_asked);
  if (data[0] == 1) look_at_ask(rest, decode_aggregate_answered);
  return 0;
}
