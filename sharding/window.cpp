#include "evershard/sharding/window.hpp"

#include <algorithm>

#include "evershard/protocol/check.hpp"

namespace evershard::sharding {

namespace {

constexpr unsigned slot_bits_min = 10;
constexpr std::size_t terms_per_event = 8;
constexpr std::size_t terms_compared_max = 8;
constexpr std::uint64_t steps_of_a_match = 4;

std::uint32_t fingerprint_of(Term term) { return static_cast<std::uint32_t>((term * 0x9E3779B97F4A7C15ull) >> 32); }

}  // namespace

DigestWindow::DigestWindow(GlobalPosition from, std::size_t events_max)
    : generations_{DigestGeneration(std::max<std::size_t>(events_max / 2, 1),
                                    std::max<std::size_t>(events_max / 2, 1) * terms_per_event),
                   DigestGeneration(std::max<std::size_t>(events_max / 2, 1),
                                    std::max<std::size_t>(events_max / 2, 1) * terms_per_event)} {
  for (auto& generation : generations_) generation.clear(from);
}

void DigestWindow::add(GlobalPosition position, std::span<const Term> terms) {
  EVERSHARD_CHECK(position == last() + 1, "the window takes every position in sequence");
  if (!newer().has_room(terms.size())) {
    newer_ = 1 - newer_;
    generations_[newer_].clear(position - 1);
  }
  generations_[newer_].add(terms);
}

void DigestWindow::skip(GlobalPosition position) {
  EVERSHARD_CHECK(position == last() + 1, "the window takes every position in sequence");
  for (auto& generation : generations_) generation.clear(position);
}

std::optional<GlobalPosition> DigestWindow::first_match(const TermQuery& query, GlobalPosition after,
                                                        MatchBudget& budget) const {
  EVERSHARD_CHECK(after >= from(), "a condition is judged only as far back as the window reaches");
  if (after >= last()) return std::nullopt;
  if (query.everything) return after + 1;
  for (const DigestGeneration* generation : {&older(), &newer()}) {
    std::optional<GlobalPosition> first;
    for (const TermQuery::Item& item : query.items) {
      const auto match = generation->first_match(item, after, budget);
      if (budget.steps == 0) return last();
      if (match && (!first || *match < *first)) first = match;
    }
    if (first) return first;
  }
  return std::nullopt;
}

DigestGeneration::DigestGeneration(std::size_t events_max, std::size_t terms_max)
    : events_max_(events_max),
      terms_max_(terms_max),
      slots_(std::size_t{1} << slot_bits_min),
      slot_bits_(slot_bits_min) {
  // Address space, not memory: pages are taken as they are written, and nothing is ever copied to a larger place.
  occurrences_.reserve(terms_max_);
  first_of_.reserve(events_max_);
}

void DigestGeneration::clear(GlobalPosition from) {
  if (slots_used_ * 16 > slots_.size()) {
    std::fill(slots_.begin(), slots_.end(), Slot{});
  } else {
    // Few terms in a large table. From a term's home up to the next empty slot: what is emptied of a cluster is always
    // its end, so no term is missed.
    const std::size_t mask = slots_.size() - 1;
    for (const Occurrence& occurrence : occurrences_) {
      for (std::size_t i = slot_of(fingerprint_of(occurrence.term)); slots_[i].last != 0; i = (i + 1) & mask)
        slots_[i] = {};
    }
  }
  slots_used_ = 0;
  from_ = from;
  occurrences_.clear();
  first_of_.clear();
}

// One event always fits: a window that is empty must take whatever comes.
bool DigestGeneration::has_room(std::size_t terms) const {
  return events() == 0 || (events() < events_max_ && occurrences_.size() + terms <= terms_max_);
}

void DigestGeneration::add(std::span<const Term> terms) {
  for (const Term term : terms) __builtin_prefetch(&slots_[slot_of(fingerprint_of(term))], 1);
  const auto event = static_cast<Index>(events());
  first_of_.push_back(static_cast<Index>(occurrences_.size()));
  for (const Term term : terms) {
    occurrences_.push_back({term, 0, event});
    remember(term, static_cast<Index>(occurrences_.size()));
  }
}

void DigestGeneration::remember(Term term, Index occurrence) {
  const std::uint32_t fingerprint = fingerprint_of(term);
  const std::size_t mask = slots_.size() - 1;
  for (std::size_t i = slot_of(fingerprint);; i = (i + 1) & mask) {
    Slot& slot = slots_[i];
    if (slot.last == 0) {
      slot = {fingerprint, occurrence};
      if (++slots_used_ * 4 > slots_.size() * 3) grow();
      return;
    }
    if (slot.fingerprint == fingerprint && occurrences_[slot.last - 1].term == term) {
      occurrences_[occurrence - 1].before = slot.last;
      slot.last = occurrence;
      return;
    }
  }
}

DigestGeneration::Index DigestGeneration::last_of(Term term) const {
  const std::uint32_t fingerprint = fingerprint_of(term);
  const std::size_t mask = slots_.size() - 1;
  for (std::size_t i = slot_of(fingerprint);; i = (i + 1) & mask) {
    const Slot& slot = slots_[i];
    if (slot.last == 0) return 0;
    if (slot.fingerprint == fingerprint && occurrences_[slot.last - 1].term == term) return slot.last;
  }
}

void DigestGeneration::grow() {
  std::vector<Slot> larger(slots_.size() * 2);
  ++slot_bits_;
  const std::size_t mask = larger.size() - 1;
  for (const Slot& slot : slots_) {
    if (slot.last == 0) continue;
    std::size_t i = slot_of(slot.fingerprint);
    while (larger[i].last != 0) i = (i + 1) & mask;
    larger[i] = slot;
  }
  slots_ = std::move(larger);
}

std::optional<GlobalPosition> DigestGeneration::first_match(const TermQuery::Item& item, GlobalPosition after,
                                                            MatchBudget& budget) const {
  if (after >= last() || !budget.take(1 + item.types.size() + item.all.size())) return std::nullopt;
  const Index event_from = after > from_ ? static_cast<Index>(after - from_) : 0;
  std::optional<Index> first;
  const auto look_at = [&](Term term, bool sure) {
    for (Index i = last_of(term); i != 0; i = occurrences_[i - 1].before) {
      const Index event = occurrences_[i - 1].event;
      if (event < event_from || !budget.take(sure ? 1 : steps_of_a_match)) return;
      if ((!first || event < *first) && (sure || matches(item, event))) first = event;
    }
  };
  if (item.all.empty()) {
    for (const Term type : item.types) look_at(type, true);
  } else if (const Term term = rarest(item, event_from, budget); term != 0) {
    look_at(term, item.types.empty() && item.all.size() == 1);
  }
  if (!first) return std::nullopt;
  return from_ + *first + 1;
}

bool DigestGeneration::matches(const TermQuery::Item& item, Index event) const {
  const std::size_t begin = first_of_[event];
  const std::size_t end = event + 1 < first_of_.size() ? first_of_[event + 1] : occurrences_.size();
  const auto has = [&](Term term) {
    for (std::size_t i = begin; i != end; ++i) {
      if (occurrences_[i].term == term) return true;
    }
    return false;
  };
  return (item.types.empty() || std::any_of(item.types.begin(), item.types.end(), has)) &&
         std::all_of(item.all.begin(), item.all.end(), has);
}

// The term of the item whose chain ends first, all walked in step; 0 if one does not occur at all. A type alone counts
// too: it is as good as a tag where it is the only one.
Term DigestGeneration::rarest(const TermQuery::Item& item, Index event_from, MatchBudget& budget) const {
  struct Chain {
    Term term;
    Index at;
  };
  std::array<Chain, terms_compared_max> chains;
  std::size_t count = 0;
  const auto compare = [&](Term term) {
    const Index last = last_of(term);
    if (last == 0 || occurrences_[last - 1].event < event_from) return false;
    if (count < chains.size()) chains[count++] = {term, last};
    return true;
  };
  if (item.types.size() == 1 && !compare(item.types.front())) return 0;
  for (const Term term : item.all) {
    if (!compare(term)) return 0;
  }
  if (count == 1) return chains[0].term;
  for (;;) {
    if (!budget.take(count)) return 0;
    for (std::size_t i = 0; i != count; ++i) {
      const Index before = occurrences_[chains[i].at - 1].before;
      if (before == 0 || occurrences_[before - 1].event < event_from) return chains[i].term;
      chains[i].at = before;
    }
  }
}

}  // namespace evershard::sharding
