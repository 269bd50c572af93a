#include "evershard/cli/events/payload_flags.hpp"

#include <limits>

#include "evershard/api/json/input.hpp"
#include "evershard/api/json/json_value.hpp"
#include "evershard/cli/failure.hpp"
#include "evershard/protocol/limits.hpp"

namespace evershard::cli {

void add_payload_flags(Options& options) {
  options.value("payload", "JSON", "the payload as JSON; it is stored byte for byte")
      .value("payload-file", "FILE", "read the payload from a file, any bytes; - is standard input")
      .value("payload-format", "NUMBER",
             "0 unspecified, 1 JSON, 2 Protobuf, 3 text, 4 encrypted, 1000 and above your own; without it, 1 for JSON, "
             "else 0");
}

Result<Payload> payload_of(const Arguments& arguments) {
  Payload payload;
  if (arguments.has("payload")) {
    arguments.refuse_beside("--payload", {"payload-file"});
    const std::string given = *arguments.text("payload");
    auto value = JsonValue::parse(given, "--payload");
    if (!value) {
      return refuse(
          value.error().code,
          value.error().what + " (a JSON text has quotes of its own: '\"text\"'; --payload-file takes any bytes)");
    }
    payload.bytes = value->raw();
    payload.format = PayloadFormat::json;
  } else if (arguments.has("payload-file")) {
    auto input = Input::open(*arguments.text("payload-file"));
    if (!input) return refuse(std::move(input).error());
    auto bytes = input->read_all(Limits::most().payload_bytes_max);
    if (!bytes) return refuse(std::move(bytes).error());
    payload.bytes = std::move(*bytes);
    if (is_json(payload.bytes)) payload.format = PayloadFormat::json;
  }
  if (const auto format = arguments.number("payload-format")) {
    if (*format > std::numeric_limits<std::uint32_t>::max()) throw UsageError("--payload-format is out of range");
    payload.format = PayloadFormat(static_cast<std::uint32_t>(*format));
  }
  return payload;
}

}  // namespace evershard::cli
