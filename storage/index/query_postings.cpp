#include "evershard/storage/index/query_postings.hpp"

#include <algorithm>
#include <vector>

#include "evershard/storage/index/posting_algebra.hpp"
#include "evershard/storage/index/stream_walk.hpp"
#include "evershard/storage/index/term_postings.hpp"

namespace evershard::storage {

std::unique_ptr<PostingSource> query_postings(const Rows& rows, const View& view, const Query& query,
                                              const sharding::TermHasher& hasher, const Walk& walk) {
  using Sources = std::vector<std::unique_ptr<PostingSource>>;
  auto postings = [&](sharding::Term term) { return term_postings(rows, view, term, walk); };
  Sources items;
  for (const QueryItem& item : query.items()) {
    std::vector<sharding::Term> types;
    for (const std::string& type : item.types) types.push_back(hasher.type(type));
    Sources all;
    for (const Tag& tag : item.tags) all.push_back(postings(hasher.tag(tag)));
    for (const AggregateId& aggregate : item.concerning) {
      std::string text = aggregate.text();
      const sharding::Term term = hasher.aggregate(text);
      Sources either;
      either.push_back(postings(term));
      either.push_back(stream_postings(rows, view, term, std::move(text), walk));
      all.push_back(union_of(std::move(either), walk));
    }
    if (all.empty()) {
      for (const sharding::Term type : types) items.push_back(postings(type));
    } else if (all.size() == 1 && types.empty()) {
      items.push_back(std::move(all.front()));
    } else {
      items.push_back(std::make_unique<IntersectionPostings>(std::move(all), std::move(types), walk));
    }
  }
  return union_of(std::move(items), walk);
}

bool decided_by_index(const Query& query) {
  return std::none_of(query.items().begin(), query.items().end(), [](const QueryItem& item) {
    return !item.types.empty() && item.tags.empty() && !item.concerning.empty();
  });
}

}  // namespace evershard::storage
