// StreamWalk: one aggregate's entries, by seq_nr or by position: its sealed chunks up to the mark, then the tails.

#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "evershard/sharding/term_hash.hpp"
#include "evershard/storage/index/posting_cursor.hpp"
#include "evershard/storage/index/tail_index.hpp"
#include "evershard/storage/journal/rows.hpp"
#include "evershard/storage/journal/view.hpp"

namespace evershard::storage {

struct NumberedEntry {
  SeqNr seq_nr;
  GlobalPosition position;
  EventLocation location;
  sharding::Term type = 0;  ///< 0: not known here
};

/// The aggregate's text was compared: an aggregate with the same hash is another one. One thread.
class StreamWalk {
 public:
  /// Entries at positions up to `up_to` and the view's watermark.
  StreamWalk(const Rows& rows, const View& view, sharding::Term stream, std::string aggregate_text,
             GlobalPosition up_to);

  /// The last entry; nothing: the aggregate is absent. Errors: corruption, io
  Result<std::optional<NumberedEntry>> last();
  /// The last entry at or before a position, and the first entry at or after a position.
  Result<std::optional<NumberedEntry>> last_until(GlobalPosition position);
  Result<std::optional<NumberedEntry>> first_from(GlobalPosition position);
  /// Those from `seq_nr` on in this direction: some, or none if it is not there. Replaces `block`.
  /// Errors: corruption, io; corruption also where it should be there: an index rebuilt over a damaged record lacks it
  Result<void> fill(SeqNr seq_nr, Direction direction, std::vector<NumberedEntry>& block);

 private:
  struct TailPart {
    const TailIndex* tail;
    const PositionList* events;
    SeqNr first_seq_nr;
    std::uint32_t count;

    [[nodiscard]] NumberedEntry entry(std::uint32_t i) const;
  };

  [[nodiscard]] bool on_row() const;
  /// Onto our own chunk, over others' under the same hash. False: there is none that way.
  Result<bool> skip_others(Direction direction);
  /// Onto the chunk in which `seq_nr` would be.
  Result<bool> find_chunk(SeqNr seq_nr);
  Result<void> decode();
  Result<void> fill_sealed(SeqNr seq_nr, Direction direction, std::vector<NumberedEntry>& block);
  Result<std::optional<NumberedEntry>> last_sealed(GlobalPosition position);
  Result<void> check_end(SeqNr seq_nr);

  const Rows& rows_;
  sharding::Term stream_;
  std::string text_;
  std::string prefix_;
  GlobalPosition sealed_last_;   // rows above this position are not looked at
  std::vector<TailPart> tails_;  // ascending
  View view_;
  std::unique_ptr<RowCursor> cursor_;
  // The chunk under the cursor, once decoded.
  bool on_chunk_ = false;
  SeqNr chunk_first_;
  StreamChunk chunk_;
  std::optional<SeqNr> last_seq_nr_;  // once known; 0: absent
};

/// A stream as positions: for "concerning", together with the postings of `also`.
std::unique_ptr<PostingSource> stream_postings(const Rows& rows, const View& view, sharding::Term stream,
                                               std::string aggregate_text, const Walk& walk);

}  // namespace evershard::storage
