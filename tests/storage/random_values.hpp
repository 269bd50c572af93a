// Values drawn from a seed, extremes among them: what the codecs are tried with.

#pragma once

#include <cstdint>
#include <random>
#include <string>
#include <vector>

#include "evershard/protocol/append.hpp"
#include "evershard/storage/journal/chunks.hpp"

namespace evershard::storage {

class RandomValues {
 public:
  explicit RandomValues(std::uint64_t seed) : random_(seed) {}

  std::uint64_t below(std::uint64_t end) { return random_() % end; }
  bool sometimes(std::uint64_t of = 2) { return below(of) == 0; }

  /// Of every magnitude: as many small ones as large ones.
  std::uint64_t number() { return random_() >> below(64); }
  std::uint16_t small_number() {
    return static_cast<std::uint16_t>(static_cast<std::uint16_t>(random_()) >> below(16));
  }

  std::string bytes(std::size_t size) {
    std::string made(size, '\0');
    for (char& c : made) c = static_cast<char>(random_());
    return made;
  }
  /// A checked name: printable, with '-' only where it is allowed.
  std::string name(std::size_t bytes_max, bool hyphens = true) {
    constexpr char letters[] = "abcdefghijklmnopqrstuvwxyzABC:/. \x01\x7f-";
    const std::size_t size = sometimes(8) ? bytes_max : 1 + below(std::min<std::size_t>(bytes_max, 12));
    std::string made(size, '\0');
    for (char& c : made) c = letters[below(sizeof letters - (hyphens ? 1 : 2))];
    return made;
  }
  EventId id() {
    EventId id;
    for (auto& byte : id.bytes) byte = static_cast<std::uint8_t>(random_());
    return id;
  }
  AggregateId aggregate() { return {name(128, false), name(512)}; }
  Timestamp time() {
    return {sometimes(8) ? Timestamp::first().micros : static_cast<std::int64_t>(below(253'402'300'799'999'999))};
  }

  Event event() {
    Event event;
    event.id = id();
    if (sometimes()) event.aggregate = aggregate();
    event.type = name(255);
    for (std::uint64_t i = sometimes(8) ? 64 : below(4); i > 0; --i) event.tags.push_back(name(255));
    for (std::uint64_t i = sometimes(8) ? 64 : below(3); i > 0; --i) event.also.push_back(aggregate());
    event.payload = bytes(sometimes(8) ? 5'000 : below(300));
    event.format = static_cast<PayloadFormat>(sometimes() ? below(5) : static_cast<std::uint32_t>(random_()));
    if (sometimes()) event.metadata = bytes(below(200));
    if (sometimes()) event.occurred_at = time();
    return event;
  }

  /// With ids of all events, as prepare hands it on.
  Append append() {
    Append append;
    for (std::uint64_t i = sometimes(8) ? 40 : 1 + below(4); i > 0; --i) append.events.push_back(event());
    for (std::size_t i = 1; i < append.events.size(); ++i) {
      if (sometimes()) append.events[i].aggregate = append.events[below(i)].aggregate;
    }
    if (sometimes()) append.request_id = id();
    const Event& one = append.events[below(append.events.size())];
    if (one.aggregate && sometimes()) append.command = CommandRecord{*one.aggregate, name(255), bytes(below(100))};
    return append;
  }

  EventLocation location() { return {ShardId{small_number()}, ShardOffset{number()}, small_number()}; }

  /// Ascending positions up to the largest there is, any shards, any records.
  std::vector<Posting> postings(std::size_t size) {
    std::vector<Posting> made(size);
    const std::uint64_t types = 1 + below(sometimes() ? 3 : 200);
    std::uint64_t position = number() / 2;
    for (Posting& posting : made) {
      posting = {GlobalPosition{position}, location(), 1 + below(types)};
      position += std::min<std::uint64_t>(number() / (2 * size), ~std::uint64_t{0} - position);
    }
    return made;
  }

 private:
  std::mt19937_64 random_;
};

}  // namespace evershard::storage
