// Terms: what a query can name, as 64-bit hashes under a key of the store's own.

#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "evershard/protocol/event_id.hpp"
#include "evershard/protocol/query.hpp"

namespace evershard::sharding {

/// A collision may cost a read or a second try, nothing else; the key keeps strangers from crafting one.
using Term = std::uint64_t;

/// Kinds never share a term: each is hashed behind a prefix byte of its own. An aggregate's term serves for its
/// stream, its own events and those that concern it.
class TermHasher {
 public:
  /// `mask` narrows every hash; tests use it to force collisions. Never 0 as a result.
  explicit TermHasher(std::uint64_t key, std::uint64_t mask = ~std::uint64_t{0}) : key_(key), mask_(mask) {}
  [[nodiscard]] Term type(std::string_view type) const { return hash(1, type); }
  [[nodiscard]] Term tag(std::string_view tag) const { return hash(2, tag); }
  [[nodiscard]] Term aggregate(std::string_view text) const { return hash(3, text); }
  /// Of an event, or of a request: no query names ids, but what a node of a cluster asks of the order.
  [[nodiscard]] Term id(const EventId& id) const {
    return hash(4, {reinterpret_cast<const char*>(id.bytes.data()), id.bytes.size()});
  }

 private:
  [[nodiscard]] Term hash(unsigned char kind, std::string_view bytes) const;
  std::uint64_t key_;
  std::uint64_t mask_;
};

/// A query as terms. An item matches if one of `types` (when there are any) and all of `all` are among an event's
/// terms.
struct TermQuery {
  struct Item {
    std::vector<Term> types;
    std::vector<Term> all;  ///< tags and concerned aggregates
    friend bool operator==(const Item&, const Item&) = default;
  };
  bool everything = false;
  std::vector<Item> items;
  friend bool operator==(const TermQuery&, const TermQuery&) = default;
};

/// Each term of an item once, ascending; each item once. Shape: the query was checked.
TermQuery terms_of(const Query& query, const TermHasher& hasher);

}  // namespace evershard::sharding
