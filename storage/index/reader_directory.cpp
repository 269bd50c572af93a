// The aggregates' directory: sealed rows and the tails' new aggregates, merged in order of type and value.

#include <algorithm>
#include <iterator>
#include <tuple>
#include <utility>

#include "evershard/sharding/stream_hash.hpp"
#include "evershard/storage/index/read_work.hpp"
#include "evershard/storage/index/reader.hpp"
#include "evershard/storage/index/stream_walk.hpp"
#include "evershard/storage/index/tail_index.hpp"
#include "evershard/storage/journal/keys.hpp"

namespace evershard::storage {
namespace {

constexpr std::uint64_t head_units = 2'000;  ///< of spend(): a head is looked up

struct Wanted {
  std::optional<std::string_view> type;
  const std::optional<AggregateId>& after;

  [[nodiscard]] bool has(const AggregateId& aggregate) const {
    return (!type || aggregate.type == *type) && (!after || *after < aggregate);
  }
};

/// The first `limit` aggregates that began in a tail, in order. They have no order there: all are looked at.
std::vector<AggregateId> begun_in_tails(const View& view, const Wanted& wanted, std::size_t limit) {
  std::vector<AggregateId> heap;  // the last one on top
  for (std::size_t i = 0; view.tails && i < view.tails->size(); ++i) {
    const auto& streams = (*view.tails)[i]->streams();
    for (std::uint32_t n = 0, end = streams.size(); n < end; ++n) {
      if (streams[n].first_seq_nr != SeqNr{1}) continue;
      const std::string_view text = streams[n].aggregate_text;
      const std::size_t dash = text.find('-');
      const std::string_view type = text.substr(0, dash), value = text.substr(dash + 1);
      if (wanted.type && type != *wanted.type) continue;
      if (heap.size() == limit &&
          std::pair<std::string_view, std::string_view>(heap.front().type, heap.front().value) < std::pair(type, value))
        continue;
      AggregateId aggregate{std::string(type), std::string(value)};
      if (!wanted.has(aggregate)) continue;
      heap.push_back(std::move(aggregate));
      std::push_heap(heap.begin(), heap.end());
      if (heap.size() <= limit) continue;
      std::pop_heap(heap.begin(), heap.end());
      heap.pop_back();
    }
  }
  std::sort_heap(heap.begin(), heap.end());
  return heap;
}

}  // namespace

// A row or a tail's entry says that an aggregate is there at some time; whether it is there for this view, its head
// says.
Result<std::vector<AggregateInfo>> Reader::aggregates(const View& view, std::optional<std::string_view> type,
                                                      std::optional<AggregateId> after, std::size_t limit) const {
  std::vector<AggregateInfo> infos;
  const Wanted wanted{type, after};
  auto add = [&](const AggregateId& aggregate) -> Result<void> {
    EVERSHARD_TRY(spend(head_units));
    auto found = head(view, aggregate);
    if (!found) return refuse(std::move(found).error());
    if (found->version == SeqNr{0}) return {};
    const ShardId shard = sharding::shard_of(sharding::stream_hash(aggregate), shards_);
    infos.push_back({aggregate, found->version, found->last_position, shard});
    return {};
  };

  const std::string prefix = type ? keys::directory_type_prefix(*type) : std::string();
  auto cursor = rows_.cursor(Family::directory, {.prefix = prefix});
  const std::string from = after ? keys::directory(*after) : prefix;
  cursor->seek(std::max(from, prefix));
  auto sealed = [&]() -> Result<std::optional<AggregateId>> {
    for (; cursor->valid() && cursor->key().starts_with(prefix); cursor->next()) {
      auto key = keys::decode_directory(cursor->key());
      if (!key) return refuse(std::move(key).error());
      if (wanted.has(key->aggregate)) return std::move(key->aggregate);
    }
    EVERSHARD_TRY(cursor->status());
    return std::nullopt;
  };

  auto next_sealed = sealed();
  while (infos.size() < limit) {
    // As many of the tails' as may still be needed; some of them may turn out to be above the watermark.
    const std::size_t batch = limit - infos.size();
    const std::vector<AggregateId> begun = begun_in_tails(view, wanted, batch);
    for (const AggregateId& aggregate : begun) {
      while (next_sealed && *next_sealed && **next_sealed < aggregate && infos.size() < limit) {
        EVERSHARD_TRY(add(**next_sealed));
        cursor->next();
        next_sealed = sealed();
      }
      if (!next_sealed) return refuse(std::move(next_sealed).error());
      if (infos.size() == limit) return infos;
      if (*next_sealed && **next_sealed == aggregate) {
        cursor->next();
        next_sealed = sealed();
      }
      EVERSHARD_TRY(add(aggregate));
    }
    if (begun.size() < batch) break;
    after = begun.back();
  }
  while (infos.size() < limit) {
    if (!next_sealed) return refuse(std::move(next_sealed).error());
    if (!*next_sealed) break;
    EVERSHARD_TRY(add(**next_sealed));
    cursor->next();
    next_sealed = sealed();
  }
  return infos;
}

}  // namespace evershard::storage
