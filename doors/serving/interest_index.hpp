// InterestIndex: which of many queries an event matches, without asking each of them.

#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <utility>
#include <vector>

#include "evershard/protocol/event.hpp"
#include "evershard/protocol/query.hpp"

namespace evershard::serving {

/// A query waits under one term of each of its items, the rarest kind it has: an aggregate, else a tag, else each of
/// its types. Cost: of an event, by its own terms and the queries waiting under them; queries that have nothing to do
/// with it cost nothing.
class InterestIndex {
 public:
  using Id = std::uint64_t;

  void add(Id id, Query query);
  void remove(Id id);
  [[nodiscard]] bool empty() const { return queries_.empty(); }
  [[nodiscard]] std::size_t size() const { return queries_.size(); }

  /// Whether somebody has to be asked event by event.
  [[nodiscard]] bool needs_events() const { return !by_type_.empty() || !by_tag_.empty() || !by_aggregate_.empty(); }
  /// Those who want everything.
  [[nodiscard]] const std::unordered_set<Id>& of_everything() const { return of_all_; }
  /// Adds those whose query matches, each once.
  void matching(const RecordedEvent& event, std::unordered_set<Id>& found) const;
  [[nodiscard]] std::vector<Id> everybody() const;

 private:
  struct TermHash {
    using is_transparent = void;
    std::size_t operator()(std::string_view term) const { return std::hash<std::string_view>{}(term); }
  };
  using ByTerm = std::unordered_map<std::string, std::unordered_set<Id>, TermHash, std::equal_to<>>;
  using Term = std::pair<ByTerm InterestIndex::*, std::string>;

  static std::vector<Term> terms_of(const Query& query);
  void look(const ByTerm& by_term, std::string_view term, const RecordedEvent& event,
            std::unordered_set<Id>& found) const;

  std::unordered_map<Id, Query> queries_;
  std::unordered_set<Id> of_all_;
  ByTerm by_type_, by_tag_, by_aggregate_;
};

}  // namespace evershard::serving
