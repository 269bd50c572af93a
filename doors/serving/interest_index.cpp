#include "evershard/doors/serving/interest_index.hpp"

#include <utility>

namespace evershard::serving {

std::vector<InterestIndex::Term> InterestIndex::terms_of(const Query& query) {
  std::vector<Term> terms;
  for (const auto& item : query.items()) {
    if (!item.concerning.empty())
      terms.emplace_back(&InterestIndex::by_aggregate_, item.concerning.front().text());
    else if (!item.tags.empty())
      terms.emplace_back(&InterestIndex::by_tag_, item.tags.front());
    else
      for (const auto& type : item.types) terms.emplace_back(&InterestIndex::by_type_, type);
  }
  return terms;
}

void InterestIndex::add(Id id, Query query) {
  if (query.is_all()) of_all_.insert(id);
  for (auto& [by_term, term] : terms_of(query)) (this->*by_term)[std::move(term)].insert(id);
  queries_.emplace(id, std::move(query));
}

void InterestIndex::remove(Id id) {
  const auto found = queries_.find(id);
  if (found == queries_.end()) return;
  of_all_.erase(id);
  for (const auto& [by_term, term] : terms_of(found->second)) {
    auto& terms = this->*by_term;
    const auto waiting = terms.find(term);
    if (waiting == terms.end()) continue;  // the same term twice
    waiting->second.erase(id);
    if (waiting->second.empty()) terms.erase(waiting);
  }
  queries_.erase(found);
}

void InterestIndex::look(const ByTerm& by_term, std::string_view term, const RecordedEvent& event,
                         std::unordered_set<Id>& found) const {
  const auto waiting = by_term.find(term);
  if (waiting == by_term.end()) return;
  for (const auto id : waiting->second) {
    if (!found.contains(id) && queries_.at(id).matches(event)) found.insert(id);
  }
}

void InterestIndex::matching(const RecordedEvent& event, std::unordered_set<Id>& found) const {
  found.insert(of_all_.begin(), of_all_.end());
  if (!by_type_.empty()) look(by_type_, event.type, event, found);
  if (!by_tag_.empty()) {
    for (const auto& tag : event.tags) look(by_tag_, tag, event, found);
  }
  if (by_aggregate_.empty()) return;
  if (event.aggregate) look(by_aggregate_, event.aggregate->text(), event, found);
  for (const auto& aggregate : event.also) look(by_aggregate_, aggregate.text(), event, found);
}

std::vector<InterestIndex::Id> InterestIndex::everybody() const {
  std::vector<Id> ids;
  ids.reserve(queries_.size());
  for (const auto& [id, query] : queries_) ids.push_back(id);
  return ids;
}

}  // namespace evershard::serving
