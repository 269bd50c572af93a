// event_terms: what a query can name, of an event as it is stored.

#pragma once

#include <string>
#include <vector>

#include "evershard/sharding/term_hash.hpp"
#include "evershard/storage/journal/records.hpp"

namespace evershard::storage {

/// Type first, then tags and `also`, in the order stored; not the own aggregate's.
template <class Terms>
void add_terms(const EventView& event, const sharding::TermHasher& hasher, Terms& terms) {
  terms.push_back(hasher.type(event.type));
  for_each_tag(event, [&](std::string_view tag) { terms.push_back(hasher.tag(tag)); });
  std::string text;
  for_each_also(event, [&](std::string_view type, std::string_view value) {
    text.assign(type).append(1, '-').append(value);
    terms.push_back(hasher.aggregate(text));
  });
}

}  // namespace evershard::storage
