// Dice: random requests of every kind, now and then one that no store takes. For tests that compare two stores.

#pragma once

#include <chrono>
#include <cstdint>
#include <initializer_list>
#include <limits>
#include <random>
#include <string>
#include <vector>

#include "evershard/protocol/append.hpp"
#include "evershard/protocol/limits.hpp"
#include "evershard/protocol/query.hpp"
#include "evershard/protocol/snapshot.hpp"

namespace evershard {

class Dice {
 public:
  explicit Dice(std::uint64_t seed) : random_(seed) {}
  std::uint64_t below(std::uint64_t n) { return random_() % n; }
  bool one_in(std::uint64_t n) { return below(n) == 0; }
  template <class T>
  T any(std::initializer_list<T> values) {
    return values.begin()[below(values.size())];
  }

  /// Now and then one that no store takes.
  std::string bad_or(std::string good) {
    if (!one_in(60)) return good;
    return any<std::string>({"", std::string("nul\0byte", 8), "\xff\xfe", std::string(600, 'x'), "a-b-c", "\xc3"});
  }
  AggregateId aggregate() {
    return {bad_or(any<std::string>({"order", "küche", "x"})),
            bad_or(any<std::string>({"1", "2", "a/b", std::string(500, 'v')}))};
  }
  std::string type() { return bad_or(any<std::string>({"Placed", "Paid", "placed"})); }
  Tag tag() { return bad_or(any<std::string>({"a", "b", "customer:1", "{", "a\x01"})); }
  EventId id() {
    EventId id;
    for (auto& byte : id.bytes) byte = static_cast<std::uint8_t>(random_());
    return id;
  }
  GlobalPosition position(std::uint64_t head) {
    return GlobalPosition(one_in(30) ? ~std::uint64_t{0} : below(head + 5));
  }

  Event event(bool with_aggregate) {
    Event event;
    if (with_aggregate || !one_in(5)) event.aggregate = aggregate();
    event.type = type();
    for (auto n = below(4); n > 0; --n) event.tags.push_back(tag());
    if (one_in(6)) event.also = {aggregate(), aggregate()};
    event.payload = std::string(one_in(200) ? (1u << 20) + below(2) : one_in(20) ? 200'000 : below(40), '\x80');
    event.format =
        one_in(80) ? PayloadFormat{500} : any({PayloadFormat::unspecified, PayloadFormat::json, PayloadFormat{4'711}});
    if (one_in(4)) event.metadata = std::string(one_in(40) ? 70'000 : 20, 'm');
    event.occurred_at = Timestamp{one_in(80) ? std::numeric_limits<std::int64_t>::max()
                                             : static_cast<std::int64_t>(below(1'000'000'000))};
    return event;
  }
  Query query() {
    if (one_in(5)) return Query::all();
    std::vector<QueryItem> items(one_in(30) ? 0 : one_in(60) ? query_items_max + 6 : 1 + below(3));
    for (auto& item : items) {
      if (one_in(2)) item.types = {type(), type()};
      for (auto n = below(3); n > 0; --n) item.tags.push_back(tag());
      if (one_in(4) || (item.types.empty() && item.tags.empty() && !one_in(20))) item.concerning.push_back(aggregate());
    }
    return Query::of(std::move(items));
  }
  Append append(std::uint64_t head) {
    Append append;
    const bool named = !one_in(3);
    // Without a name the store makes the ids: then nothing may depend on them.
    for (auto n = one_in(40) ? 0 : 1 + below(one_in(10) ? 30 : 3); n > 0; --n) append.events.push_back(event(!named));
    if (named && one_in(2))
      append.request_id = one_in(20) ? EventId{} : id();
    else if (named)
      for (auto& event : append.events)
        if (!one_in(4) || &event == append.events.data()) event.id = id();
    if (one_in(60) && append.events.size() > 1) append.events[1].id = append.events[0].id;
    while (one_in(2))
      append.expect(aggregate(),
                    any({Version::exactly(SeqNr(below(4))), Version::any(), Version::none(), Version::exists()}));
    // Beyond the head each store refuses it by its own fork.
    while (one_in(3)) append.fail_if(query(), GlobalPosition(below(head + 1)));
    if (one_in(8)) append.snapshots.push_back(snapshot());
    if (one_in(20)) append.command = CommandRecord{aggregate(), bad_or("command"), "reply"};
    if (one_in(50)) append.event("no aggregate id", "T", "x");
    return append;
  }
  Snapshot snapshot() {
    Snapshot snapshot;
    snapshot.aggregate = aggregate();
    snapshot.version = SeqNr(below(5));
    snapshot.payload = std::string(one_in(60) ? (2u << 20) + 1 : below(50), 's');
    snapshot.schema_revision = static_cast<std::uint32_t>(below(3));
    if (!one_in(3)) snapshot.keep = static_cast<std::uint32_t>(below(4));
    if (one_in(10)) snapshot.ttl = std::chrono::seconds(one_in(5) ? -1 : 1'000'000);
    return snapshot;
  }

 private:
  std::mt19937_64 random_;
};

}  // namespace evershard
