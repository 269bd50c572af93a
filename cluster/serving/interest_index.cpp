#include "evershard/cluster/serving/interest_index.hpp"

#include <utility>

namespace evershard::serving {
namespace {

std::string aggregate_term(const AggregateId& aggregate) { return 'a' + aggregate.text(); }
std::string tag_term(const Tag& tag) { return 'g' + tag; }
std::string type_term(const std::string& type) { return 't' + type; }

}  // namespace

std::vector<std::string> InterestIndex::terms_of(const Query& query) {
  std::vector<std::string> terms;
  for (const auto& item : query.items()) {
    if (!item.concerning.empty()) terms.push_back(aggregate_term(item.concerning.front()));
    else if (!item.tags.empty()) terms.push_back(tag_term(item.tags.front()));
    else for (const auto& type : item.types) terms.push_back(type_term(type));
  }
  return terms;
}

void InterestIndex::add(Id id, Query query) {
  if (query.is_all()) of_all_.insert(id);
  for (auto& term : terms_of(query)) by_term_[std::move(term)].insert(id);
  queries_.emplace(id, std::move(query));
}

void InterestIndex::remove(Id id) {
  const auto found = queries_.find(id);
  if (found == queries_.end()) return;
  of_all_.erase(id);
  for (const auto& term : terms_of(found->second)) {
    const auto waiting = by_term_.find(term);
    if (waiting == by_term_.end()) continue;  // the same term twice
    waiting->second.erase(id);
    if (waiting->second.empty()) by_term_.erase(waiting);
  }
  queries_.erase(found);
}

void InterestIndex::look(const std::string& term, const RecordedEvent& event, std::unordered_set<Id>& found) const {
  const auto waiting = by_term_.find(term);
  if (waiting == by_term_.end()) return;
  for (const auto id : waiting->second) {
    if (!found.contains(id) && queries_.at(id).matches(event)) found.insert(id);
  }
}

void InterestIndex::matching(const RecordedEvent& event, std::unordered_set<Id>& found) const {
  found.insert(of_all_.begin(), of_all_.end());
  look(type_term(event.type), event, found);
  for (const auto& tag : event.tags) look(tag_term(tag), event, found);
  if (event.aggregate) look(aggregate_term(*event.aggregate), event, found);
  for (const auto& aggregate : event.also) look(aggregate_term(aggregate), event, found);
}

std::vector<InterestIndex::Id> InterestIndex::everybody() const {
  std::vector<Id> ids;
  ids.reserve(queries_.size());
  for (const auto& [id, query] : queries_) ids.push_back(id);
  return ids;
}

}  // namespace evershard::serving
