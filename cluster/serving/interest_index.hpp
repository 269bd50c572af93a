// InterestIndex: which of many queries an event matches, without asking each of them.

#pragma once

#include <cstdint>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "evershard/protocol/event.hpp"
#include "evershard/protocol/query.hpp"

namespace evershard::serving {

/// A query waits under one term of each of its items, the rarest kind it has: an aggregate, else a tag, else each of its types.
/// Cost: of an event, by its own terms and the queries waiting under them; queries that have nothing to do with it cost nothing.
class InterestIndex {
 public:
  using Id = std::uint64_t;

  void add(Id id, Query query);
  void remove(Id id);
  [[nodiscard]] bool empty() const { return queries_.empty(); }
  [[nodiscard]] std::size_t size() const { return queries_.size(); }

  /// Whether somebody has to be asked event by event.
  [[nodiscard]] bool needs_events() const { return !by_term_.empty(); }
  /// Those who want everything.
  [[nodiscard]] const std::unordered_set<Id>& of_everything() const { return of_all_; }
  /// Adds those whose query matches, each once.
  void matching(const RecordedEvent& event, std::unordered_set<Id>& found) const;
  [[nodiscard]] std::vector<Id> everybody() const;

 private:
  static std::vector<std::string> terms_of(const Query& query);
  void look(const std::string& term, const RecordedEvent& event, std::unordered_set<Id>& found) const;

  std::unordered_map<Id, Query> queries_;
  std::unordered_set<Id> of_all_;
  std::unordered_map<std::string, std::unordered_set<Id>> by_term_;
};

}  // namespace evershard::serving
