#define XXH_INLINE_ALL
#include "evershard/sharding/term_hash.hpp"

#include <xxhash.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <string>

#include "evershard/protocol/limits.hpp"

namespace evershard::sharding {

namespace {

void sort_unique(std::vector<Term>& terms) {
  std::sort(terms.begin(), terms.end());
  terms.erase(std::unique(terms.begin(), terms.end()), terms.end());
}

}  // namespace

Term TermHasher::hash(unsigned char kind, std::string_view bytes) const {
  // The longest term that was checked is an aggregate's text.
  std::array<char, 1 + aggregate_type_bytes_max + 1 + aggregate_value_bytes_max> behind_kind;
  Term term = 0;
  if (1 + bytes.size() <= behind_kind.size()) {
    behind_kind[0] = static_cast<char>(kind);
    if (!bytes.empty()) std::memcpy(behind_kind.data() + 1, bytes.data(), bytes.size());
    term = XXH3_64bits_withSeed(behind_kind.data(), 1 + bytes.size(), key_);
  } else {
    std::string longer(1, static_cast<char>(kind));
    longer += bytes;
    term = XXH3_64bits_withSeed(longer.data(), longer.size(), key_);
  }
  term &= mask_;
  return term != 0 ? term : 1;
}

TermQuery terms_of(const Query& query, const TermHasher& hasher) {
  TermQuery terms;
  terms.everything = query.is_all();
  if (terms.everything) return terms;
  for (const QueryItem& item : query.items()) {
    TermQuery::Item hashed;
    for (const std::string& type : item.types) hashed.types.push_back(hasher.type(type));
    for (const Tag& tag : item.tags) hashed.all.push_back(hasher.tag(tag));
    for (const AggregateId& aggregate : item.concerning) hashed.all.push_back(hasher.aggregate(aggregate.text()));
    sort_unique(hashed.types);
    sort_unique(hashed.all);
    if (std::find(terms.items.begin(), terms.items.end(), hashed) == terms.items.end()) {
      terms.items.push_back(std::move(hashed));
    }
  }
  return terms;
}

}  // namespace evershard::sharding
