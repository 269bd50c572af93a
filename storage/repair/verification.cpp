#include "evershard/storage/repair/verification.hpp"

#include <algorithm>
#include <limits>
#include <tuple>

#include "evershard/protocol/hex.hpp"
#include "evershard/protocol/in_quotes.hpp"
#include "evershard/sharding/route.hpp"
#include "evershard/sharding/stream_hash.hpp"
#include "evershard/storage/index/reader.hpp"
#include "evershard/storage/journal/identity.hpp"
#include "evershard/storage/journal/keys.hpp"
#include "evershard/storage/journal/latest_snapshot.hpp"
#include "evershard/storage/journal/removal_row.hpp"
#include "evershard/storage/journal/row_log.hpp"
#include "evershard/storage/journal/waiting_row.hpp"
#include "evershard/storage/order/applied.hpp"
#include "evershard/storage/order/leadership_row.hpp"
#include "evershard/storage/order/recovered_order.hpp"
#include "evershard/storage/order/refused_rows.hpp"

namespace evershard::storage {
namespace {

constexpr std::size_t damaged_state_max = 100;

std::string positions(GlobalPosition from, std::uint64_t count) {
  if (count == 1) return "position " + std::to_string(from.value);
  return "positions " + std::to_string(from.value) + " to " + std::to_string(from.value + count - 1);
}

}  // namespace

// -- the truth

Result<void> Verification::truth(const Progress& progress) {
  TruthWalk walk(subject_.rows, subject_.shards, *this,
                 subject_.view.whole ? sharding::CutOf::store : sharding::CutOf::node);
  EVERSHARD_TRY(walk.run(GlobalPosition{1}, subject_.view.watermark + 1, progress));
  std::ranges::sort(missing_, {}, &Missing::from);
  std::ranges::sort(removed_);
  return {};
}

void Verification::cut(const sharding::Cut& cut) {
  if (subject_.view.whole) return;
  for (const auto& segment : cut.segments)
    if (!segment.is_elsewhere()) {
      auto& end = placed_[segment.shard];
      end = std::max(end, segment.end);
    }
}

void Verification::event(GlobalPosition position, const EventLocation& location, const EventView& event) {
  if (position > subject_.view.watermark) return;
  ++events_;
  if (event.state == EventState::removed) removed_.push_back(position);
  if (position > subject_.indexed) return;
  entries_.give(event, position, location, FamilySet::indexes(), [&](const IndexEntry& entry) {
    // A tail's directory is its streams.
    if (entry.family != Family::directory || position <= subject_.view.mark) sums_.add(entry);
  });
}

void Verification::missing(GlobalPosition from, std::uint64_t count, const std::string& why) {
  note_missing(from, count, false, why);
}

void Verification::missing_cut(GlobalPosition from, std::uint64_t count, const std::string& why) {
  note_missing(from, count, true, "their cut is missing: " + why);
}

void Verification::note_missing(GlobalPosition from, std::uint64_t count, bool cut, const std::string& why) {
  findings_.add(positions(from, count) + " cannot be read: " + why, count);
  if (!missing_.empty() && missing_.back().cut == cut && missing_.back().from + missing_.back().count == from)
    missing_.back().count += count;
  else
    missing_.push_back({from, count, cut});
}

// -- indexes

bool Verification::is_missing(GlobalPosition position) const {
  auto behind = std::ranges::upper_bound(missing_, position, {}, &Missing::from);
  return behind != missing_.begin() && position < std::prev(behind)->from + std::prev(behind)->count;
}

/// What the truth cannot tell is not compared: entries of events that are missing, postings of removed ones.
bool Verification::counts(const IndexEntry& entry) const {
  if (entry.family == Family::directory) return true;
  if (entry.position > subject_.indexed || (!missing_.empty() && is_missing(entry.position))) return false;
  return entry.family != Family::postings || removed_.empty() || !std::ranges::binary_search(removed_, entry.position);
}

void Verification::index_error(std::string sentence, std::uint64_t errors) {
  indexes_differ_ = true;
  findings_.add(std::move(sentence), errors);
}

Result<void> Verification::indexes(const Progress& progress) {
  collect_tail_streams();
  constexpr std::array families{Family::streams, Family::postings, Family::ids, Family::directory, Family::runs};
  for (std::size_t i = 0; i < families.size(); ++i) {
    auto part = [&](std::uint64_t, std::uint64_t) { return !progress || progress(i, families.size()); };
    EVERSHARD_TRY(sealed(
        families[i],
        [&](const IndexEntry& entry) {
          if (counts(entry)) sums_.subtract(entry);
        },
        true, part));
    if (families[i] == Family::streams) go_to_term(std::nullopt);
    for (const auto& tail : *subject_.view.tails)
      give_entries(*tail, subject_.indexed, families[i], [&](const IndexEntry& entry) {
        if (counts(entry)) sums_.subtract(entry);
      });
    if (!unreadable_[static_cast<std::size_t>(families[i])]) EVERSHARD_TRY(compare(families[i], part));
  }
  if (behind_mark_ > GlobalPosition{0})
    index_error("the indexes have events up to position " + std::to_string(behind_mark_.value) +
                ", and their mark says up to position " + std::to_string(subject_.view.mark.value));
  indexes_right_ = !indexes_differ_;
  return report(progress, families.size(), families.size());
}

/// Rows at or below the mark. What a seal adds meanwhile is the tails'. With a mark of 0 the indexes are made anew by
/// whoever opens the store next, whatever they have.
Result<void> Verification::sealed(Family family, const EntrySink& sink, bool first_pass, const Progress& progress) {
  RowEntries rows;
  const auto mark = subject_.view.mark;
  const bool looks_behind = first_pass && subject_.still && mark > GlobalPosition{0};
  const auto until = looks_behind ? GlobalPosition{std::numeric_limits<std::uint64_t>::max()} : mark;
  const EntrySink up_to_mark = [&](const IndexEntry& entry) {
    if (entry.position <= mark) return sink(entry);
    behind_mark_ = std::max(behind_mark_, entry.position);
  };
  auto cursor = subject_.rows.cursor(family, {.prefix = {}, .scan = true});
  std::uint64_t n = 0;
  for (cursor->seek({}); cursor->valid(); cursor->next()) {
    if (n++ % rows_between_reports == 0) EVERSHARD_TRY(report(progress, 0, 1));
    StreamRow stream;
    auto given = rows.give(family, cursor->key(), cursor->value(), until, looks_behind ? up_to_mark : sink, &stream);
    if (!first_pass) continue;
    ++index_rows_;
    if (!given)
      index_error("family " + std::string(name_of(family)) + ", row " + hex(cursor->key(), 64) + ": " +
                  given.error().what);
    else if (family == Family::streams && stream.first <= subject_.view.mark)
      stream_row(stream);
  }
  if (auto status = cursor->status(); !status) {
    if (status.error().code == ErrorCode::unavailable) return status;
    unreadable_[static_cast<std::size_t>(family)] = true;
    if (first_pass)
      index_error("family " + std::string(name_of(family)) + " cannot be read to its end: " + status.error().what);
  }
  return {};
}

// -- seq_nrs

void Verification::collect_tail_streams() {
  for (const auto& tail : *subject_.view.tails) {
    if (subject_.indexed < tail->first()) continue;
    auto until =
        static_cast<std::uint32_t>(std::min<std::uint64_t>(subject_.indexed - tail->first() + 1, tail->events()));
    for (std::uint32_t i = 0, n = tail->streams().size(); i < n; ++i) {
      const auto& stream = tail->streams()[i];
      auto events = stream.events.lower_bound(until, stream.events.size());
      if (events > 0)
        tail_streams_.push_back({stream.term, stream.aggregate_text, stream.first_seq_nr, events,
                                 tail->first() + stream.events.at(0), tail->first() + stream.events.at(events - 1)});
    }
  }
  std::ranges::sort(tail_streams_, [](const auto& a, const auto& b) {
    return std::tie(a.term, a.text, a.first) < std::tie(b.term, b.text, b.first);
  });
}

void Verification::stream_row(const StreamRow& row) {
  go_to_term(row.term);
  check_stream(row.aggregate_text, row.first_seq_nr, row.events, row.first, row.last);
}

/// First the tails' part of the term at hand, and of those before `term` that have no rows.
void Verification::go_to_term(std::optional<sharding::Term> term) {
  for (; tail_streams_at_ < tail_streams_.size(); ++tail_streams_at_) {
    const auto& stream = tail_streams_[tail_streams_at_];
    if (term && stream.term >= *term) break;
    if (stream.term != term_) streams_.clear();
    term_ = stream.term;
    check_stream(stream.text, stream.first_seq_nr, stream.events, stream.first, stream.last);
  }
  if (term == term_) return;
  streams_.clear();
  term_ = term.value_or(0);
}

void Verification::check_stream(std::string_view text, SeqNr first_seq_nr, std::uint64_t events, GlobalPosition first,
                                GlobalPosition last) {
  auto known = streams_.find(text);
  if (known == streams_.end()) known = streams_.emplace(std::string(text), StreamEnd{}).first;
  auto& end = known->second;
  if (first_seq_nr != end.next)
    findings_.add("stream " + in_quotes(text) + " goes on with seq_nr " + std::to_string(first_seq_nr.value) +
                  " at position " + std::to_string(first.value) + ", expected was " + std::to_string(end.next.value));
  if (first <= end.last)
    findings_.add("stream " + in_quotes(text) + " goes back from position " + std::to_string(end.last.value) + " to " +
                  std::to_string(first.value));
  end = {first_seq_nr + events, last};
}

// -- state

Result<void> Verification::state(const Progress& progress) {
  // Before the snapshots, which come first. Where a row is damaged, it is found below.
  if (auto covered = covered_rows(subject_.rows, subject_.shards)) covered_ = *std::move(covered);
  auto cursor = subject_.rows.cursor(Family::state, {.prefix = {}, .scan = true});
  std::uint64_t n = 0;
  for (cursor->seek({}); cursor->valid(); cursor->next()) {
    if (n++ % rows_between_reports == 0) EVERSHARD_TRY(report(progress, 0, 1));
    auto row = state_row(cursor->key(), cursor->value());
    if (row) continue;
    if (row.error().code == ErrorCode::unavailable) return row;
    auto sentence = "family state, row " + hex(cursor->key(), 64) + ": " + row.error().what;
    const auto key = keys::decode_state(cursor->key());
    if (key && key->kind == keys::StateKey::Kind::snapshot && row.error().code == ErrorCode::corruption)
      damaged_snapshots_.emplace_back(cursor->key());
    else if (damaged_state_.size() < damaged_state_max)
      damaged_state_.push_back(sentence);
    findings_.add(std::move(sentence));
  }
  if (auto status = cursor->status(); !status) {
    if (status.error().code == ErrorCode::unavailable) return status;
    findings_.add("family state cannot be read to its end: " + status.error().what);
  }
  check_covered();
  return {};
}

/// What says up to which offset cuts cover a shard is written with each of them: it reaches as far as those that are
/// here. Without it the shard would be taken for one that has had no event yet.
void Verification::check_covered() {
  for (const auto& [shard, end] : placed_) {
    const auto row = covered_.find(shard);
    if (row != covered_.end() && (row->second.end >= end || row->second.damaged)) continue;
    auto sentence =
        "family state, the row of how far cuts cover shard " + std::to_string(shard.value) +
        (row == covered_.end() ? " is missing" : " says up to offset " + std::to_string(row->second.end.value - 1)) +
        ": cuts have placed its events up to offset " + std::to_string(end.value - 1);
    if (damaged_state_.size() < damaged_state_max) damaged_state_.push_back(sentence);
    findings_.add(std::move(sentence));
  }
}

/// A node was told to keep a shard no longer before it had been given all: a snapshot may have come without the events
/// below it, and goes when the node learns a shard. A shard that no cut covers here never was this node's.
bool Verification::keeps_no_longer(ShardId shard) const {
  const auto row = covered_.find(shard);
  return !subject_.view.whole && (row == covered_.end() || row->second.damaged);
}

/// Of other owners' rows only they know what is right.
Result<void> Verification::named_row(std::string_view name, std::string_view value) {
  const auto key = keys::checkpoint(name);
  if (key == leadership_key()) {
    const auto leadership = decode_leadership(value);
    return leadership ? Result<void>() : refuse(leadership.error());
  }
  if (key.starts_with(refused_prefix())) {
    const auto cut = decode_refused(key, value);
    return cut ? Result<void>() : refuse(cut.error());
  }
  if (name.starts_with(snapshot_base_prefix)) {
    const auto aggregate = AggregateId::parse(name.substr(snapshot_base_prefix.size()));
    if (!aggregate) return refuse(ErrorCode::corruption, "a row of a snapshot's base names no aggregate");
    const auto base = decode_snapshot_base(value, *aggregate);
    return base ? Result<void>() : refuse(base.error());
  }
  if (name.starts_with(row_log_of_prefix)) {
    const auto at = decode_row_log_of(key, value);
    return at ? Result<void>() : refuse(at.error());
  }
  return removal_row(name, value);
}

Result<void> Verification::removal_row(std::string_view name, std::string_view value) {
  if (name.starts_with(intent_prefix)) {
    const auto body = checked_intent(value);
    return body ? Result<void>() : refuse(body.error());
  }
  if (name.starts_with(row_log_whole_prefix)) {
    const auto shard = decode_row_log_whole(name, value);
    return shard ? Result<void>() : refuse(shard.error());
  }
  if (name.starts_with(row_log_prefix) && !name.starts_with(row_log_of_prefix)) {
    const auto shard = shard_of_row_log(name);
    if (!shard) return refuse(ErrorCode::corruption, "an entry of a row log is of no shard");
    const auto entry = decode_row_log(*shard, value);
    if (!entry) return refuse(entry.error());
    if (keys::checkpoint(name) != row_log_key(*shard, entry->at))
      return refuse(ErrorCode::corruption, "an entry of a row log lies in another one's place");
    return {};
  }
  for (const auto prefix : {removed_prefix, removing_prefix}) {
    if (!name.starts_with(prefix)) continue;
    auto aggregate = AggregateId::parse(name.substr(prefix.size()));
    if (!aggregate)
      return refuse(ErrorCode::corruption, "what is removed is of no aggregate: " + aggregate.error().what);
    auto row = decode_removal(value, *aggregate);
    if (!row) return refuse(std::move(row).error());
  }
  return {};
}

Result<void> Verification::state_row(std::string_view key, std::string_view value) {
  auto decoded = keys::decode_state(key);
  if (!decoded) return refuse(std::move(decoded).error());
  auto corrupt = [](std::string why) { return refuse(ErrorCode::corruption, std::move(why)); };
  switch (decoded->kind) {
    case keys::StateKey::Kind::identity: {
      auto identity = decode_identity(value);
      if (!identity) return refuse(std::move(identity).error());
      return {};
    }
    case keys::StateKey::Kind::applied: {
      auto applied = decode_applied(value);
      if (!applied) return refuse(std::move(applied).error());
      if (applied->watermark < subject_.view.watermark)
        return corrupt("it says position " + std::to_string(applied->watermark.value) + ", the order is at " +
                       std::to_string(subject_.view.watermark.value));
      return {};
    }
    case keys::StateKey::Kind::covered: {
      auto covered = decode_covered(value);
      if (!covered) return refuse(std::move(covered).error());
      covered_.insert_or_assign(decoded->shard, *std::move(covered));
      return {};
    }
    case keys::StateKey::Kind::waiting: {
      auto row = decode_waiting(value);
      if (!row) return refuse(std::move(row).error());
      return {};
    }
    case keys::StateKey::Kind::checkpoint:
      return named_row(decoded->name, value);
    case keys::StateKey::Kind::snapshot:
      break;
  }
  ++snapshots_;
  auto name = "the snapshot of " + in_quotes(decoded->aggregate.text());
  auto snapshot = whole_snapshot(subject_.rows, decoded->aggregate, value);
  if (!snapshot && snapshot.error().code != ErrorCode::corruption) return refuse(std::move(snapshot).error());
  if (!snapshot) return corrupt(name + ": " + snapshot.error().what);
  if (decoded->retained && *decoded->retained != snapshot->version)
    return corrupt(name + " of version " + std::to_string(snapshot->version.value) + " is kept as version " +
                   std::to_string(decoded->retained->value));
  // Of later ones, and where an index ends before, nothing can be said; nor by an index that is damaged itself: it
  // would take a snapshot for none that may be all that is left of its events.
  if (!indexes_right_ || snapshot->position > subject_.indexed || is_missing(snapshot->position)) return {};
  if (keeps_no_longer(sharding::shard_of(sharding::stream_hash(decoded->aggregate), subject_.shards))) return {};
  auto head = Reader(subject_.rows, subject_.hasher, subject_.shards).head(subject_.view, decoded->aggregate);
  if (!head)
    return refuse(head.error().code == ErrorCode::unavailable ? ErrorCode::unavailable : ErrorCode::io,
                  name + ": its aggregate's version cannot be read: " + head.error().what);
  if (head->version < snapshot->version)
    return corrupt(name + " is of version " + std::to_string(snapshot->version.value) + ", the stream ends at " +
                   std::to_string(head->version.value));
  return {};
}

}  // namespace evershard::storage
