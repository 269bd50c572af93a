// Fuzzing texts that people write (settings files, files of tokens, aggregate ids, times, calendars, event ids) and
// what clients pack. The first byte says which the rest is.

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "evershard/doors/serving/access.hpp"
#include "evershard/doors/serving/gzip.hpp"
#include "evershard/doors/settings/settings.hpp"
#include "evershard/doors/settings/settings_file.hpp"
#include "evershard/protocol/aggregate_id.hpp"
#include "evershard/protocol/calendar.hpp"
#include "evershard/protocol/check.hpp"
#include "evershard/protocol/event_id.hpp"
#include "evershard/protocol/in_quotes.hpp"
#include "evershard/protocol/timestamp.hpp"
#include "evershard/protocol/utf8.hpp"

namespace {

using namespace evershard;
using settings::Kind;

/// One of each kind.
const settings::Table table{
    {"name", "store", Kind::text, "A text."},
    {"data", "store", Kind::path, "A path."},
    {"shards", "store", Kind::number, "A number.", "16", 1, 65'535},
    {"block-cache", "store", Kind::size, "A size.", "128MiB", 1u << 20, 1ull << 40},
    {"drain", "server", Kind::duration, "A duration.", "10s", 0, 3'600'000},
    {"insecure", "server", Kind::yes_no, "Yes or no.", "no"},
    {"log", "server", Kind::choice, "A choice.", "text", 0, 0, {"text", "json"}},
    {"origins", "server", Kind::list, "A list.", "none"},
    {"secret", "server", Kind::text, "A secret.", "", 0, 0, {}, true},
};

void look_at_settings(std::string_view text) {
  const auto given = settings::from_file(table, text, "evershard.conf");
  const auto all =
      given ? settings::Settings::gather(table, {}, {}, *given) : Result<settings::Settings>(refuse(given.error()));
  if (!all) return EVERSHARD_CHECK(all.error().code == ErrorCode::invalid_argument, "a refusal is of its kind");
  for (const auto& entry : all->entries()) {
    if (entry.is_default()) continue;
    EVERSHARD_CHECK(!entry.setting.secret || entry.shown().find_first_not_of('*') == std::string::npos,
                    "a secret is not shown");
    const auto again = settings::value_of(entry.setting, entry.value.text);
    EVERSHARD_CHECK(again && again->number == entry.value.number && again->list == entry.value.list &&
                        again->text == entry.value.text,
                    "a value as it is shown is the same value");
  }
}

/// The first byte: of which setting.
void look_at_value(std::string_view text) {
  if (text.empty()) return;
  const auto& setting = table[static_cast<unsigned char>(text[0]) % table.size()];
  const auto value = settings::value_of(setting, text.substr(1));
  if (!value) return;
  const auto again = settings::value_of(setting, value->text);
  EVERSHARD_CHECK(again && again->number == value->number && again->list == value->list && again->text == value->text,
                  "a value as it is shown is the same value");
}

void look_at_tokens(std::string_view text) {
  const auto access = serving::Access::of_tokens(text, "tokens");
  if (!access) return EVERSHARD_CHECK(access.error().code == ErrorCode::invalid_argument, "a refusal is of its kind");
  EVERSHARD_CHECK(!access->is_open(), "a file of tokens closes the door");
  EVERSHARD_CHECK(!access->identify("") && !access->identify(text), "nobody comes in without a token");
}

void look_at_aggregate(std::string_view text) {
  const auto id = AggregateId::parse(text);
  if (!id) return EVERSHARD_CHECK(is_utf8(id.error().what), "a refusal is text");
  EVERSHARD_CHECK(id->text() == text && AggregateId::check(*id), "an aggregate's text is its own");
}

void look_at_time(std::string_view text) {
  const auto time = Timestamp::parse(text);
  if (!time) return;
  EVERSHARD_CHECK(*time >= Timestamp::first() && *time <= Timestamp::last(), "a time has a year of four digits");
  EVERSHARD_CHECK(Timestamp::parse(time->text()) == time, "a time's text is the same time");
}

void look_at_id(std::string_view text) {
  const auto id = EventId::parse(text);
  if (id)
    EVERSHARD_CHECK(EventId::parse(id->text()) == id && id->text().size() == text.size(),
                    "an id's text is the same id");
}

void look_at_quotes(std::string_view text) {
  const auto quoted = in_quotes(text, 40);
  EVERSHARD_CHECK(is_utf8(quoted) && quoted.find_first_of("\n\r\t") == std::string::npos,
                  "what is quoted is text of one line");
}

/// As a message that came over gRPC, and as one that goes.
void look_at_packed(std::string_view bytes) {
  constexpr std::size_t bytes_max = 1u << 16;
  if (const auto size = serving::unpacked_bytes(bytes, bytes_max)) {
    EVERSHARD_CHECK(*size <= bytes_max, "what is unpacked is bounded");
    std::string whole(*size, '\0');
    (void)serving::unpack(bytes, whole);
  }
  const auto packed = serving::gzip(bytes);
  const auto size = serving::unpacked_bytes(packed, bytes_max);
  EVERSHARD_CHECK(size && *size == bytes.size(), "what is packed says how long it was");
  std::string again(*size, '\0');
  EVERSHARD_CHECK(serving::unpack(packed, again) && again == bytes, "what is packed is unpacked");
}

/// A zone, and behind a line's end what cron would read.
void look_at_calendar(std::string_view text) {
  const auto end = std::min(text.find('\n'), text.size());
  const auto calendar = Calendar::parse(text.substr(std::min(end + 1, text.size())), text.substr(0, end));
  if (!calendar) {
    EVERSHARD_CHECK(calendar.error().code == ErrorCode::invalid_argument, "a refusal is of its kind");
    return EVERSHARD_CHECK(is_utf8(calendar.error().what), "a refusal is text");
  }
  Timestamp time{1'767'225'600'000'000};
  for (int times = 0; times != 3; ++times) {
    const auto next = calendar->next(time);
    EVERSHARD_CHECK(next && *next > time, "what is accepted comes, again and again");
    time = *next;
  }
}

using Look = void (*)(std::string_view);
constexpr std::array<Look, 9> looks{look_at_settings, look_at_value,  look_at_tokens, look_at_aggregate, look_at_time,
                                    look_at_id,       look_at_quotes, look_at_packed, look_at_calendar};

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size == 0 || data[0] >= looks.size())
    return 0;  // not wrapped around: what an input is does not hang on how many there are
  looks[data[0]]({reinterpret_cast<const char*>(data) + 1, size - 1});
  return 0;
}
