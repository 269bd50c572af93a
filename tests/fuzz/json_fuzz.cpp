// Fuzzing JSON from outside: appends, imported events, queries, registered types. The first byte says which of them the
// rest is.

#include <xxhash.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <string>
#include <string_view>

#include "evershard/api/json/append_json.hpp"
#include "evershard/api/json/event_json.hpp"
#include "evershard/api/json/json_indent.hpp"
#include "evershard/api/json/query_json.hpp"
#include "evershard/api/json/types_file.hpp"
#include "evershard/protocol/base64.hpp"
#include "evershard/protocol/check.hpp"
#include "evershard/protocol/utf8.hpp"
#include "evershard/protocol/validate.hpp"

namespace {

using namespace evershard;

template <class T>
bool refused(const Result<T>& result) {
  if (!result) EVERSHARD_CHECK(is_utf8(result.error().what), "a refusal is text");
  return !result;
}

/// What the store would give back of it, exported, imported again.
void look_at_event(Event event) {
  if (!check(event, Limits::most())) return;
  if (!event.id.given()) event.id = EventId{{1}};
  if (!event.occurred_at && event.state != EventState::removed) event.occurred_at = Timestamp{1};
  normalise(event);
  RecordedEvent recorded;
  recorded.position = GlobalPosition{17};
  recorded.seq_nr = SeqNr{event.aggregate ? 4u : 0u};
  recorded.id = event.id;
  recorded.aggregate = event.aggregate;
  recorded.type = event.type;
  recorded.tags = event.tags;
  recorded.also = event.also;
  recorded.payload = event.payload;
  recorded.format = event.format;
  recorded.metadata = event.metadata;
  recorded.occurred_at = event.occurred_at.value_or(Timestamp{});
  recorded.subject = event.subject;
  recorded.state = event.state;

  JsonText json;
  write_event(json, recorded);
  EVERSHARD_CHECK(is_json(json.text()) && json.text().find_first_of("\r\n") == std::string::npos,
                  "an event is one line of JSON");
  const auto line = read_append(json.text(), LineRules::import);
  EVERSHARD_CHECK(line && line->append.events.size() == 1, "what is exported can be imported");
  EVERSHARD_CHECK(line->append.events[0] == event, "an event is imported as it was exported");
  EVERSHARD_CHECK(line->places[0].position == recorded.position && line->places[0].seq_nr == recorded.seq_nr,
                  "so is its place");
  EVERSHARD_CHECK(!read_append(json.text(), LineRules::append), "the place of an event is the store's to give");
}

void look_at_append(std::string_view text, LineRules rules) {
  auto line = read_append(text, rules);
  if (refused(line)) return;
  EVERSHARD_CHECK(line->places.size() == line->append.events.size(), "every event has a place");
  (void)check(line->append, Limits{});
  for (auto& event : line->append.events) look_at_event(std::move(event));
}

void look_at_query(std::string_view text) {
  const auto query = read_query(text, "--query");
  if (refused(query)) return;
  EVERSHARD_CHECK(query->check().has_value(), "a query that was read was checked");
  JsonText json;
  write_query(json, *query);
  const auto again = read_query(json.text(), "");
  EVERSHARD_CHECK(again && *again == *query, "a query that was written is read again");
}

void look_at_value(std::string_view text) {
  const auto value = JsonValue::parse(text);
  EVERSHARD_CHECK(value.has_value() == is_json(text), "one grammar");
  if (refused(value)) return;
  EVERSHARD_CHECK(is_utf8(text) && is_json(value->raw()), "a value without what is around it is one");
  (void)value->string();
  (void)value->number();
  const auto whole = [](std::string_view, const JsonValue& inner) -> Result<void> {
    EVERSHARD_CHECK(is_json(inner.raw()), "a value inside is one");
    return {};
  };
  (void)value->for_each_member(whole);
  (void)value->for_each_element([&](const JsonValue& inner) { return whole({}, inner); });
}

void look_at_base64(std::string_view text) {
  if (const auto bytes = from_base64(text)) EVERSHARD_CHECK(to_base64(*bytes) == text, "one text for the same bytes");
  EVERSHARD_CHECK(from_base64(to_base64(text)) == std::string(text), "bytes come back");
  JsonText json;
  json.string(text);
  EVERSHARD_CHECK(is_json(json.text()), "any bytes can be told in JSON");
}

/// With the checksum that its body has: else nothing behind it is ever looked at.
void look_at_types(std::string_view text) {
  refused(decode_types(text, "TYPES"));
  char sum[17];
  std::snprintf(sum, sizeof sum, "%016llx", static_cast<unsigned long long>(XXH64(text.data(), text.size(), 0)));
  const auto types = decode_types("evershard types 1 " + std::string(sum) + '\n' + std::string(text), "TYPES");
  if (refused(types)) return;
  const auto again = decode_types(encode_types(*types), "TYPES");
  EVERSHARD_CHECK(
      again && again->files == types->files && again->aliases == types->aliases && again->states == types->states,
      "types are kept");
  refused(PayloadTypes::of(*types));
}

using Look = void (*)(std::string_view);
constexpr std::array looks{
    Look([](std::string_view text) { look_at_append(text, LineRules::append); }),
    Look([](std::string_view text) { look_at_append(text, LineRules::import); }),
    Look(look_at_query),
    Look(look_at_value),
    Look(look_at_base64),
    Look(look_at_types),
};

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size == 0 || data[0] >= looks.size())
    return 0;  // not wrapped around: what an input is does not hang on how many there are
  looks[data[0]]({reinterpret_cast<const char*>(data) + 1, size - 1});
  return 0;
}
