// IndexEntry: one thing an index says of one event: the same, whether it is told by the journal, a sealed row or a
// tail.

#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>

#include "evershard/protocol/event_id.hpp"
#include "evershard/protocol/result.hpp"
#include "evershard/sharding/term_hash.hpp"
#include "evershard/storage/index/tail_index.hpp"
#include "evershard/storage/journal/location.hpp"
#include "evershard/storage/journal/records.hpp"
#include "evershard/storage/journal/rows.hpp"

namespace evershard::storage {

struct IndexEntry {
  Family family{};
  GlobalPosition position;   ///< directory: that of the first event, or 0 where a row says it
  EventLocation location;    ///< directory: the shard alone. runs: the offset, with index 0
  std::uint64_t key = 0;     ///< term of a posting, a stream, a directory's row; first half of an id
  std::uint64_t more = 0;    ///< a posting's type; a stream's or aggregate's text, hashed; second half of an id
  std::uint64_t number = 0;  ///< seq_nr in a stream; 1: the id is a command's key

  /// Equal entries have equal hashes; sums of them tell two sets apart. Cost: 20 ns.
  [[nodiscard]] std::uint64_t hash() const;
  /// `the posting of term 00ff00ff00ff00ff at position 17 (shard 3, offset 5)`
  [[nodiscard]] std::string described() const;
};

using EntrySink = std::function<void(const IndexEntry&)>;

/// Which families' entries are wanted.
class FamilySet {
 public:
  static FamilySet indexes();
  static FamilySet of(Family family) { return FamilySet(bit(family)); }
  [[nodiscard]] bool has(Family family) const { return (bits_ & bit(family)) != 0; }

 private:
  explicit FamilySet(std::uint32_t bits) : bits_(bits) {}
  static std::uint32_t bit(Family family) { return 1u << static_cast<unsigned>(family); }
  std::uint32_t bits_;
};

/// What an event in the journal gives. Keeps its buffers from event to event.
class EventEntries {
 public:
  explicit EventEntries(const sharding::TermHasher& hasher) : hasher_(hasher) {}
  void give(const EventView& event, GlobalPosition position, const EventLocation& location, FamilySet families,
            const EntrySink& sink);

 private:
  const sharding::TermHasher hasher_;
  std::vector<sharding::Term> terms_;
  std::string text_;
};

/// What a stream's row says beside its entries.
struct StreamRow {
  sharding::Term term = 0;
  std::string_view aggregate_text;
  SeqNr first_seq_nr;
  std::uint64_t events = 0;
  GlobalPosition first, last;
};

/// What a sealed row holds of positions up to `up_to`: the numbers in a damaged row have no bound of their own.
/// `stream`: filled for streams, with the row's own bytes. Errors: corruption: key or value cannot be decoded, or do
/// not belong together
class RowEntries {
 public:
  Result<void> give(Family family, std::string_view key, std::string_view value, GlobalPosition up_to,
                    const EntrySink& sink, StreamRow* stream = nullptr);

 private:
  std::vector<Posting> postings_;
  std::vector<sharding::Run> runs_;
  StreamChunk chunk_;
};

/// What a tail holds of one family, up to a position. Beside its writer.
void give_entries(const TailIndex& tail, GlobalPosition up_to, Family family, const EntrySink& sink);

std::uint64_t hash_of_text(std::string_view text);

}  // namespace evershard::storage
