#include "evershard/doors/http/read_asked.hpp"

#include <chrono>
#include <initializer_list>
#include <utility>
#include <vector>

#include "evershard/api/json/event_json.hpp"
#include "evershard/api/json/json_value.hpp"
#include "evershard/api/json/query_json.hpp"
#include "evershard/doors/http/shown.hpp"
#include "evershard/protocol/in_quotes.hpp"

namespace evershard::http {
namespace {

Result<std::uint64_t> checked_limit(std::uint64_t limit) {
  if (limit > limit_max)
    return refuse(ErrorCode::invalid_argument,
                  "limit: at most " + std::to_string(limit_max) + ", not " + std::to_string(limit));
  return limit;
}

Result<Direction> direction_named(std::string_view name) {
  if (name == "forwards") return Direction::forwards;
  if (name == "backwards") return Direction::backwards;
  return refuse(ErrorCode::invalid_argument,
                "direction: " + in_quotes(name, 40) + " is neither forwards nor backwards");
}

template <class T, class To>
Result<void> into(Result<T> value, To& to) {
  if (!value) return refuse(std::move(value).error());
  to = *std::move(value);
  return {};
}

/// What bounds a read by a number: in a target's parameters and in a body alike.
struct Bound {
  std::string_view name;
  void (*put)(ReadAsked& read, std::uint64_t number);
};
constexpr Bound bounds[] = {
    {"after", [](ReadAsked& read, std::uint64_t n) { read.options.after = GlobalPosition{n}; }},
    {"before", [](ReadAsked& read, std::uint64_t n) { read.options.before = GlobalPosition{n}; }},
    {"up_to", [](ReadAsked& read, std::uint64_t n) { read.options.up_to = GlobalPosition{n}; }},
    {"limit", [](ReadAsked& read, std::uint64_t n) { read.limit = n; }},
    {"per_aggregate", [](ReadAsked& read, std::uint64_t n) { read.options.per_aggregate = n; }},
    {"per_aggregate_from",
     [](ReadAsked& read, std::uint64_t n) { read.options.per_aggregate_from = GlobalPosition{n}; }},
    {"at_least", [](ReadAsked& read, std::uint64_t n) { read.at_least = GlobalPosition{n}; }},
};

/// The names of all bounds, of the direction, and of what a route takes beside them.
std::vector<std::string_view> names_and(std::initializer_list<std::string_view> others) {
  std::vector<std::string_view> names(others);
  for (const auto& bound : bounds) names.push_back(bound.name);
  names.push_back("direction");
  return names;
}

Result<ReadAsked> read_body(std::string_view body) {
  auto root = JsonValue::parse(body);
  if (!root) return refuse(std::move(root).error());
  ReadAsked read;
  bool asked = false;
  EVERSHARD_TRY(root->for_each_member([&](std::string_view key, const JsonValue& value) -> Result<void> {
    if (key == "query") {
      asked = true;
      return into(read_query(value), read.query);
    }
    if (key == "direction") {
      auto name = value.string();
      if (!name) return refuse(std::move(name).error());
      return into(direction_named(*name), read.options.direction);
    }
    for (const auto& bound : bounds) {
      if (key != bound.name) continue;
      auto number = value.number();
      if (!number) return refuse(std::move(number).error());
      bound.put(read, *number);
      return {};
    }
    return root->unknown_key(key, names_and({"query"}));
  }));
  if (!asked) return root->wrong("query is missing");
  EVERSHARD_TRY(checked_limit(read.limit));
  return read;
}

/// What is common to a read of positions and of one aggregate.
struct Given {
  JsonText json;
  std::size_t events = 0;
  bool more = false;
  GlobalPosition watermark;
  GlobalPosition last;
  SeqNr last_seq_nr;
};

/// `stream`: limited to one event more than `limit`, which tells whether there are more.
Result<void> collect(EventStream stream, std::uint64_t limit, const PayloadTypes& types, std::size_t bytes_max,
                     Given& given) {
  given.json.begin_object().key("events").begin_array();
  while (!given.more) {
    auto page = stream.next_page();
    if (!page) {
      if (given.events == 0) return refuse(std::move(page).error());
      given.more = true;  // whoever goes on is told
      break;
    }
    given.watermark = page->watermark;
    for (const auto& event : page->events) {
      if (given.events == limit || (given.events > 0 && given.json.text().size() >= bytes_max)) {
        given.more = true;
        break;
      }
      const auto before = given.json.text().size();
      write_event(given.json, event, types);
      EVERSHARD_TRY(spend_shown(given.json, before));
      ++given.events;
      given.last = event.position;
      given.last_seq_nr = event.seq_nr;
    }
    if (page->complete) break;
  }
  given.json.end_array().key("watermark").number(given.watermark.value).key("complete").boolean(!given.more);
  return {};
}

}  // namespace

Result<std::uint64_t> limit_of(const Parameters& parameters) {
  auto limit = parameters.number("limit");
  if (!limit) return refuse(std::move(limit).error());
  return checked_limit(limit->value_or(limit_default));
}

Result<Direction> direction_of(const Parameters& parameters) {
  auto name = parameters.text("direction");
  if (!name) return refuse(std::move(name).error());
  return *name ? direction_named(**name) : Direction::forwards;
}

Result<Query> query_of(const Parameters& parameters) {
  QueryItem item;
  item.types = parameters.values("type");
  item.tags = parameters.values("tag");
  for (const auto& text : parameters.values("concerning")) {
    auto id = AggregateId::parse(text);
    if (!id) return refuse(id.error().code, "concerning: " + id.error().what);
    item.concerning.push_back(*std::move(id));
  }
  if (item == QueryItem{}) return Query::all();
  auto query = Query::of({std::move(item)});
  EVERSHARD_TRY(query.check());
  return query;
}

Result<ReadAsked> read_asked_of(const Asked& asked, ReadBy by) {
  const auto& parameters = asked.target.parameters;
  if (by == ReadBy::body) {
    EVERSHARD_TRY(parameters.only({}));
    auto read = read_body(asked.request.body);
    if (read) read->cost = true;
    return read;
  }
  ReadAsked read;
  if (by == ReadBy::parameters) {
    EVERSHARD_TRY(parameters.only(names_and({"type", "tag", "concerning"})));
    EVERSHARD_TRY(into(query_of(parameters), read.query));
    read.cost = true;
  } else {
    EVERSHARD_TRY(parameters.only(names_and({})));
    read.query = Query::all();
  }
  for (const auto& bound : bounds) {
    std::optional<std::uint64_t> number;
    EVERSHARD_TRY(into(parameters.number(bound.name), number));
    if (number) bound.put(read, *number);
  }
  EVERSHARD_TRY(checked_limit(read.limit));
  EVERSHARD_TRY(into(direction_of(parameters), read.options.direction));
  return read;
}

Result<FollowAsked> follow_asked_of(const Asked& asked) {
  const auto& parameters = asked.target.parameters;
  EVERSHARD_TRY(parameters.only({"after", "from", "type", "tag", "concerning"}));
  FollowAsked follow;
  EVERSHARD_TRY(into(query_of(parameters), follow.query));
  std::optional<std::string> from;
  EVERSHARD_TRY(into(parameters.text("from"), from));
  EVERSHARD_TRY(into(parameters.position("after"), follow.after));
  if (from && *from != "now")
    return refuse(ErrorCode::invalid_argument, "from: only now; a position is given as after");
  if (from && follow.after) return refuse(ErrorCode::invalid_argument, "either after or from");
  if (!from && !follow.after) follow.after = GlobalPosition{0};
  if (const auto last = asked.request.field("last-event-id"); !last.empty()) {
    auto position = read_number(last, "Last-Event-ID");
    if (!position) return refuse(std::move(position).error());
    follow.after = GlobalPosition{*position};
  }
  return follow;
}

Result<GivenEvents> give_events(EventStore& store, const ReadAsked& read, const PayloadTypes& types,
                                std::size_t bytes_max) {
  const auto began = std::chrono::steady_clock::now();
  auto options = read.options;
  options.limit = read.limit + 1;
  Given given;
  EVERSHARD_TRY(collect(store.read(read.query, options), read.limit, types, bytes_max, given));
  auto& json = given.json;
  json.key("next");
  const bool forwards = read.options.direction == Direction::forwards;
  if (!given.more) {
    json.raw("null");
  } else {
    const auto from = given.events > 0 ? std::optional(given.last)
                      : forwards       ? std::optional(read.options.after)
                                       : read.options.before;
    json.begin_object();
    if (from) json.key(forwards ? "after" : "before").number(from->value);
    if (read.options.per_aggregate) {
      // What was given counts when it goes on.
      const auto began = forwards ? read.options.after : read.options.before.value_or(given.watermark + 1);
      json.key("per_aggregate_from").number(read.options.per_aggregate_from.value_or(began).value);
    }
    json.end_object();
  }
  if (read.cost) {
    const auto micros =
        std::chrono::duration_cast<std::chrono::microseconds>(std::chrono::steady_clock::now() - began).count();
    json.key("cost")
        .begin_object()
        .key("micros")
        .number(static_cast<std::uint64_t>(micros))
        .key("matches")
        .number(given.events)
        .end_object();
  }
  json.end_object();
  return GivenEvents{json.take(), given.events};
}

Result<GivenEvents> give_events(EventStore& store, const StreamAsked& read, const PayloadTypes& types,
                                std::size_t bytes_max) {
  auto options = read.options;
  options.limit = read.limit + 1;
  Given given;
  EVERSHARD_TRY(collect(store.read(read.aggregate, options), read.limit, types, bytes_max, given));
  auto& json = given.json;
  json.key("next");
  if (!given.more) {
    json.raw("null");
  } else {
    json.begin_object();
    const bool forwards = read.options.direction == Direction::forwards;
    if (given.events > 0)
      json.key("from").number(forwards ? given.last_seq_nr.value + 1 : given.last_seq_nr.value - 1);
    else if (read.options.from)
      json.key("from").number(read.options.from->value);
    json.end_object();
  }
  json.end_object();
  return GivenEvents{json.take(), given.events};
}

Result<void> add_parameters(std::string_view body, Parameters& to) {
  const auto root = JsonValue::parse(body);
  if (!root) return refuse(root.error());
  return root->for_each_member([&](std::string_view key, const JsonValue& value) -> Result<void> {
    const auto add = [&](const JsonValue& one) -> Result<void> {
      switch (one.kind()) {
        case JsonValue::Kind::number:
        case JsonValue::Kind::boolean:
          to.add(std::string(key), std::string(one.raw()));
          return {};
        case JsonValue::Kind::string:
          break;
        default:
          return one.wrong("a parameter is a text, a number, true, false, or a list of them");
      }
      auto text = one.string();
      if (!text) return refuse(std::move(text).error());
      if (text->find('\0') != std::string::npos) return one.wrong("has a NUL");
      to.add(std::string(key), *std::move(text));
      return {};
    };
    return value.kind() == JsonValue::Kind::array ? value.for_each_element(add) : add(value);
  });
}

}  // namespace evershard::http
