#include "evershard/services/indexes/value_index.hpp"

#include <charconv>
#include <utility>

#include <nlohmann/json.hpp>

#include "evershard/protocol/hex.hpp"
#include "evershard/protocol/in_quotes.hpp"
#include "evershard/protocol/reserved_types.hpp"
#include "evershard/protocol/timestamp.hpp"
#include "evershard/services/indexes/json_path.hpp"
#include "evershard/services/indexes/row_bytes.hpp"

namespace evershard::actors {
namespace {

using Json = nlohmann::json;

std::optional<std::string> bytes_of_hex(std::string_view hex) {
  std::string bytes;
  if (hex.size() % 2 != 0) return std::nullopt;
  for (std::size_t i = 0; i < hex.size(); i += 2) {
    unsigned byte = 0;
    const auto [end, error] = std::from_chars(hex.data() + i, hex.data() + i + 2, byte, 16);
    if (error != std::errc() || end != hex.data() + i + 2) return std::nullopt;
    bytes += static_cast<char>(byte);
  }
  return bytes;
}

/// Shape: not null. Nothing: it is of another type.
std::optional<std::string> key_of(ValueType type, std::string_view raw) {
  const bool quoted = raw.starts_with('"');
  switch (type) {
    case ValueType::text:
    case ValueType::time: {
      if (!quoted) return std::nullopt;
      const auto text = unescaped(raw);
      if (type == ValueType::text)
        return text.size() <= indexed_text_bytes_max ? std::optional(text_key(text)) : std::nullopt;
      const auto time = Timestamp::parse(text);
      return time ? std::optional(integer_key(time->micros)) : std::nullopt;
    }
    case ValueType::integer:
    case ValueType::number:
    case ValueType::boolean:
      break;
  }
  auto key = value_key(type, raw);
  return key ? std::optional(*std::move(key)) : std::nullopt;
}

class ValueIndexProcessor final : public Processor {
 public:
  ValueIndexProcessor(ValueIndexSpec spec, JsonPath path, PayloadAsJson reader)
      : spec_(std::move(spec)),
        path_(std::move(path)),
        reader_(std::move(reader)),
        query_(Query{}.types(spec_.types).canonical()) {}

  [[nodiscard]] const Query& query() const override { return query_; }

  Result<void> handle(std::span<const RecordedEvent* const> events, ProjectionRows& rows) override {
    const auto counts = read_counts(rows.state(), 4);
    if (!counts) return refuse(counts.error());
    auto [entries, absent, other, unreadable] = std::tuple{(*counts)[0], (*counts)[1], (*counts)[2], (*counts)[3]};
    for (const auto* event : events) {
      const auto value = value_of(*event);
      if (!value.readable) {
        ++unreadable;
        continue;
      }
      if (value.raw.empty() || value.raw == "null") {
        ++absent;
        continue;
      }
      auto key = key_of(spec_.value, value.raw);
      if (!key) {
        ++other;
        continue;
      }
      append_big_endian(*key, event->position.value);
      rows.put(*key, std::string());
      ++entries;
    }
    rows.put_state(write_counts({entries, absent, other, unreadable}));
    return {};
  }

  [[nodiscard]] std::vector<std::pair<std::string, std::uint64_t>> figures(const std::string& state) const override {
    const auto counts = read_counts(state, 4);
    if (!counts) return {};  // figures: whoever opens the rows says that they are damaged
    return {{"entries", (*counts)[0]},
            {"absent", (*counts)[1]},
            {"of_another_type", (*counts)[2]},
            {"unreadable", (*counts)[3]}};
  }

 private:
  struct At {
    bool readable = false;
    std::string_view raw{};  ///< as it stands in the event, or in what was shown; empty: it is not there
  };
  [[nodiscard]] At value_in(std::string_view json) const {
    const JsonPath* path = &path_;
    std::optional<std::string_view> found;
    const bool readable = find_paths(json, {&path, 1}, {&found, 1});
    return {readable, readable && found ? *found : std::string_view()};
  }
  /// Until the next call.
  At value_of(const RecordedEvent& event) {
    if (spec_.metadata) return event.metadata_bytes().empty() ? At{true} : value_in(*event.metadata);
    if (event.state != EventState::live) return {};
    if (event.format != PayloadFormat::protobuf) return value_in(event.payload);
    auto shown = reader_ ? reader_(event) : std::nullopt;
    if (!shown) return {};
    shown_ = *std::move(shown);
    return value_in(shown_);
  }

  const ValueIndexSpec spec_;
  const JsonPath path_;
  const PayloadAsJson reader_;
  const Query query_;
  std::string shown_;
};

Refused no_spec(const std::string& why) {
  return refuse(ErrorCode::invalid_argument,
                "a value index is {\"types\":[..],\"source\":\"payload\",\"path\":\"..\",\"value\":\"text\"}: " + why);
}

}  // namespace

std::string value_index_spec(const ValueIndexSpec& spec) {
  return Json{{"types", spec.types},
              {"source", spec.metadata ? "metadata" : "payload"},
              {"path", spec.path},
              {"value", name_of(spec.value)}}
      .dump();
}

Result<ValueIndexSpec> read_value_index_spec(const std::string& text) {
  const auto json = Json::parse(text, nullptr, false);
  if (!json.is_object()) return no_spec("it is an object");
  ValueIndexSpec spec;
  bool has_value = false;
  for (const auto& [key, value] : json.items()) {
    if (key == "types" && value.is_array()) {
      for (const auto& type : value) {
        if (!type.is_string()) return no_spec("types are strings");
        spec.types.push_back(type.get<std::string>());
      }
    } else if (key == "source" && (value == "payload" || value == "metadata")) {
      spec.metadata = value == "metadata";
    } else if (key == "path" && value.is_string()) {
      spec.path = value.get<std::string>();
    } else if (key == "value" && value.is_string() && value_type_of(value.get<std::string>())) {
      spec.value = *value_type_of(value.get<std::string>());
      has_value = true;
    } else {
      return no_spec("not with " + key + " " + value.dump().substr(0, 100));
    }
  }
  if (!has_value) return no_spec("which type of values is missing: text, integer, number, boolean or time");
  return checked_value_index(std::move(spec));
}

Result<ValueIndexSpec> checked_value_index(ValueIndexSpec spec) {
  if (spec.types.empty()) return no_spec("which event types is missing");
  const auto path = JsonPath::parse(spec.path);
  if (!path) return refuse(path.error());
  spec.path = path->text();
  const auto query = Query{}.types(spec.types).canonical();
  EVERSHARD_TRY(query.check());
  spec.types = query.items().front().types;
  return spec;
}

Result<std::string> ValueIndexKind::check(const std::string&, const std::string& spec) const {
  const auto read = read_value_index_spec(spec);
  if (!read) return refuse(read.error());
  for (const auto& type : read->types) EVERSHARD_TRY(check_known_type(type));
  return value_index_spec(*read);
}

Result<std::unique_ptr<Processor>> ValueIndexKind::make(const std::string&, const std::string& spec) const {
  auto read = read_value_index_spec(spec);
  if (!read) return refuse(std::move(read).error());
  auto path = JsonPath::parse(read->path);
  if (!path) return refuse(std::move(path).error());
  return std::make_unique<ValueIndexProcessor>(*std::move(read), *std::move(path),
                                               reader_ ? reader_() : PayloadAsJson());
}

std::string FoundValue::page_end() const { return hex(key); }

Result<PagedValues> read_values(const storage::ProjectionView& rows, ValueType type, const ValueRange& range,
                                std::size_t limit) {
  if (range.equal && (range.from || range.until || range.to))
    return refuse(ErrorCode::invalid_argument, "a value index is read by one value, or by a range");
  if (range.until && range.to)
    return refuse(ErrorCode::invalid_argument, "a range ends at `to`, inclusive, or at `until`, exclusive");
  storage::RowRange keys;
  const auto end_behind = [](std::string key) {
    return storage::RowRange::prefix(key).until;
  };  // of all positions of that value
  if (range.equal) {
    auto key = value_key(type, *range.equal);
    if (!key) return refuse(std::move(key).error());
    keys = storage::RowRange::prefix(*key);
  }
  if (range.from) {
    auto key = value_key(type, *range.from);
    if (!key) return refuse(std::move(key).error());
    keys.from = *std::move(key);
  }
  if (range.until) {
    auto key = value_key(type, *range.until);
    if (!key) return refuse(std::move(key).error());
    keys.until = *std::move(key);
  }
  if (range.to) {
    auto key = value_key(type, *range.to);
    if (!key) return refuse(std::move(key).error());
    keys.until = end_behind(*std::move(key));
  }
  const bool backwards = range.direction == Direction::backwards;
  if (!range.after.empty()) {
    const auto after = bytes_of_hex(range.after);
    if (!after || after->empty())
      return refuse(ErrorCode::invalid_argument, "no page ended at " + in_quotes(range.after.substr(0, 100)));
    if (backwards) {
      if (keys.until.empty() || *after < keys.until) keys.until = *after;
    } else {
      keys.from = std::max(keys.from, *after + '\0');
    }
  }
  PagedValues page;
  const auto cursor = rows.cursor(keys, backwards);
  while (cursor->next()) {
    if (page.found.size() == limit) {
      page.next = page.found.empty() ? std::string() : page.found.back().page_end();
      break;
    }
    const auto key = cursor->key();
    auto value = read_value_key(type, key);
    if (!value) return refuse(std::move(value).error());
    if (key.size() != value->bytes + 8) return refuse(ErrorCode::corruption, "a row of a value index cannot be read");
    page.found.push_back(
        {std::move(value->json), GlobalPosition{read_big_endian(key.substr(value->bytes))}, std::string(key)});
  }
  if (cursor->error()) return refuse(*cursor->error());
  return page;
}

}  // namespace evershard::actors
