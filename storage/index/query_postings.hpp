// A query as positions: items are OR, tags and concerned aggregates AND, types are filtered in passing.

#pragma once

#include <memory>

#include "evershard/protocol/query.hpp"
#include "evershard/sharding/term_hash.hpp"
#include "evershard/storage/index/posting_cursor.hpp"
#include "evershard/storage/journal/rows.hpp"
#include "evershard/storage/journal/view.hpp"

namespace evershard::storage {

/// Every match in the walk's range, each once, and what cannot be told from a match without its record.
/// Shape: the query was checked, and is not all().
std::unique_ptr<PostingSource> query_postings(const Rows& rows, const View& view, const Query& query,
                                              const sharding::TermHasher& hasher, const Walk& walk);

/// Whether only a collision of hashes can make a posting no match: not so for a type with nothing but an aggregate.
bool decided_by_index(const Query& query);

}  // namespace evershard::storage
