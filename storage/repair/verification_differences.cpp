// The second pass of Verification: which entries it is that make a sum differ.

#include <algorithm>
#include <iterator>

#include "evershard/protocol/in_quotes.hpp"
#include "evershard/sharding/stream_hash.hpp"
#include "evershard/storage/index/reader.hpp"
#include "evershard/storage/journal/keys.hpp"
#include "evershard/storage/repair/verification.hpp"

namespace evershard::storage {
namespace {

// What is held of the stretches looked at: some hundred thousand events, or one stretch of a store with billions of
// them.
constexpr std::uint64_t compared_events_max = 262'144;
constexpr std::size_t examples_max = 8;  // of a family, of a kind: there is room for those of the others

struct HashedEntry {
  std::uint64_t hash;
  IndexEntry entry;
};
using Entries = std::vector<HashedEntry>;

bool before(const HashedEntry& a, const HashedEntry& b) { return a.hash < b.hash; }

/// What the truth says of one family.
class EntriesOf final : public TruthVisitor {
 public:
  EntriesOf(Family family, const sharding::TermHasher& hasher, EntrySink sink)
      : family_(family), entries_(hasher), sink_(std::move(sink)) {}
  void event(GlobalPosition position, const EventLocation& location, const EventView& event) override {
    entries_.give(event, position, location, FamilySet::of(family_), sink_);
  }

 private:
  Family family_;
  EventEntries entries_;
  EntrySink sink_;
};

Entries only_in(const Entries& these, const Entries& those) {
  Entries found;
  std::ranges::set_difference(these, those, std::back_inserter(found), before);
  std::ranges::sort(found, {}, [](const HashedEntry& of) { return of.entry.position; });
  return found;
}

}  // namespace

Result<void> Verification::compare(Family family, const Progress& progress) {
  std::vector<std::size_t> stretches;
  for (std::size_t i = 0; i < IndexSums::stretches; ++i)
    if (!sums_.balanced(family, i)) stretches.push_back(i);
  if (stretches.empty()) return {};
  if (family == Family::directory) return compare_directory(progress);

  auto looked_at =
      std::min<std::size_t>(stretches.size(), std::max<std::uint64_t>(1, compared_events_max / sums_.stretch_events()));
  auto more = stretches.size() - looked_at;
  stretches.resize(looked_at);
  EVERSHARD_TRY(compare_stretches(family, stretches, progress));
  if (more > 0)
    index_error("family " + std::string(name_of(family)) + " differs from the journal in " + std::to_string(more) +
                    " more stretches of " + std::to_string(sums_.stretch_events()) + " positions",
                more);
  return {};
}

Result<void> Verification::compare_stretches(Family family, const std::vector<std::size_t>& stretches,
                                             const Progress& progress) {
  Entries expected, actual;
  auto take = [&](const IndexEntry& entry) {
    if (counts(entry) && std::ranges::binary_search(stretches, entry.position.value / sums_.stretch_events()))
      actual.push_back({entry.hash(), entry});
  };
  for (auto stretch : stretches) {
    auto from = std::max(sums_.first_of(stretch), GlobalPosition{1});
    auto until = std::min(sums_.first_of(stretch + 1), subject_.indexed + 1);
    // A cut reaches over the border: what lies beyond is of another stretch.
    EntriesOf truth(family, subject_.hasher, [&](const IndexEntry& entry) {
      if (from <= entry.position && entry.position < until && counts(entry)) expected.push_back({entry.hash(), entry});
    });
    EVERSHARD_TRY(TruthWalk(subject_.rows, subject_.shards, truth,
                            subject_.view.whole ? sharding::CutOf::store : sharding::CutOf::node)
                      .run(from, until, progress));
  }
  EVERSHARD_TRY(sealed(family, take, false, progress));
  for (const auto& tail : *subject_.view.tails) give_entries(*tail, subject_.indexed, family, take);
  std::ranges::sort(expected, before);
  std::ranges::sort(actual, before);

  auto name = "family " + std::string(name_of(family));
  auto say = [&](const Entries& entries, const std::string& verb, const std::string& ending) {
    auto named = std::min(entries.size(), examples_max);
    for (std::size_t i = 0; i < named; ++i) index_error(name + verb + entries[i].entry.described() + ending);
    if (auto more = entries.size() - named; more > 0)
      index_error(name + verb + std::to_string(more) + " more entries" + ending, more);
  };
  say(only_in(expected, actual), " lacks ", "");
  say(only_in(actual, expected), " has ", ", which the journal does not say");
  return {};
}

/// Its first event stands behind the view: a seal wrote it while the view was looked at.
bool Verification::is_newer(sharding::Term stream) const {
  const auto prefix = keys::stream_prefix(stream);
  auto rows = subject_.rows.cursor(Family::streams, {.prefix = prefix});
  rows->seek(prefix);
  if (!rows->valid()) return false;
  auto key = keys::decode_stream(rows->key());
  return key && key->stream == stream && key->first > subject_.view.mark;
}

/// Beside the streams, which were compared with the journal before.
Result<void> Verification::compare_directory(const Progress& progress) {
  Reader reader(subject_.rows, subject_.hasher, subject_.shards);
  auto listed = subject_.rows.cursor(Family::directory, {.prefix = {}, .scan = true});
  std::uint64_t n = 0;
  for (listed->seek({}); listed->valid(); listed->next()) {
    if (n++ % rows_between_reports == 0) EVERSHARD_TRY(report(progress, 0, 1));
    auto key = keys::decode_directory(listed->key());
    auto entry = decode_directory_entry(listed->value());
    if (!key || !entry) continue;  // said before
    auto text = key->aggregate.text();
    if (entry->stream != subject_.hasher.aggregate(text) ||
        entry->shard != sharding::shard_of(sharding::stream_hash(text), subject_.shards)) {
      index_error("family directory leads from " + in_quotes(text) + " to another stream or shard");
      continue;
    }
    auto head = reader.head(subject_.view, key->aggregate);
    if (!head) {
      if (head.error().code == ErrorCode::unavailable) return refuse(std::move(head).error());
      continue;
    }
    if (head->version == SeqNr{0} && !is_newer(entry->stream))
      index_error("family directory lists " + in_quotes(text) + ", which has no events");
  }

  auto streams = subject_.rows.cursor(Family::streams, {.prefix = {}, .scan = true});
  for (streams->seek({}); streams->valid(); streams->next()) {
    if (n++ % rows_between_reports == 0) EVERSHARD_TRY(report(progress, 0, 1));
    auto key = keys::decode_stream(streams->key());
    // What cannot be read the first pass has found.
    if (!key || key->first_seq_nr != SeqNr{1} || key->first > subject_.view.mark) continue;
    std::size_t events = 0;
    auto text = decode_stream_owner(streams->value(), events);
    auto aggregate = text ? AggregateId::parse(*text) : Result<AggregateId>(refuse(text.error()));
    if (!aggregate) continue;  // the same
    auto wanted = keys::directory(*aggregate);
    std::string_view keys[] = {wanted};
    auto row = subject_.rows.get(Family::directory, keys);
    if (!row) return refuse(std::move(row).error());
    if (!(*row)->found(0)) index_error("family directory lacks " + in_quotes(*text));
  }
  return {};
}

}  // namespace evershard::storage
