// What replicas tell each other.

#include "evershard/cluster/peers/peer_fields.hpp"
#include "evershard/cluster/peers/peer_messages.hpp"
#include "evershard/protocol/messages.hpp"

namespace evershard::cluster {
namespace {

namespace pb = evershard::v1;
using namespace peer_fields;

void put_rows(const std::vector<storage::ShippedRows::Row>& from,
              google::protobuf::RepeatedPtrField<pb::ShippedRow>& to) {
  for (const auto& row : from) {
    auto& put_row = *to.Add();
    put_row.set_first(row.first.value);
    put_row.set_row(row.bytes);
  }
}

void get_rows(google::protobuf::RepeatedPtrField<pb::ShippedRow>& from, std::vector<storage::ShippedRows::Row>& to) {
  to.reserve(static_cast<std::size_t>(from.size()));
  for (auto& row : from) to.push_back({ShardOffset{row.first()}, std::move(*row.mutable_row())});
}

void put_ends(const storage::RowLogEnds& from, google::protobuf::RepeatedPtrField<pb::RowLogEnd>& to) {
  for (const auto& [epoch, number] : from) {
    auto& end = *to.Add();
    end.set_epoch(epoch.value);
    end.set_number(number);
  }
}

storage::RowLogEnds ends_of(const google::protobuf::RepeatedPtrField<pb::RowLogEnd>& from) {
  storage::RowLogEnds ends;
  for (const auto& end : from) ends[Epoch{end.epoch()}] = end.number();
  return ends;
}

}  // namespace

std::string encode(const Ship& ship) {
  pb::Ship message;
  for (const auto& [epoch, rows] : ship.shards) {
    auto& put_shard = *message.add_shards();
    put_shard.set_shard(rows.shard.value);
    put_shard.set_epoch(epoch.value);
    put_shard.set_first(rows.first.value);
    put_shard.set_end(rows.end.value);
    put_shard.set_settled(rows.settled.value);
    put_rows(rows.records, *put_shard.mutable_records());
    put_rows(rows.waiting, *put_shard.mutable_waiting());
  }
  return message.SerializeAsString();
}

Result<Ship> decode_ship(std::string_view bytes) {
  pb::Ship message;
  if (!parse(bytes, message)) return malformed("range of a journal");
  Ship ship;
  for (auto& shard : *message.mutable_shards()) {
    auto& [epoch, rows] = ship.shards.emplace_back();
    if (!shard_of(shard.shard(), rows.shard)) return malformed("range of a journal");
    epoch = Epoch{shard.epoch()};
    rows.first = ShardOffset{shard.first()};
    rows.end = ShardOffset{shard.end()};
    rows.settled = ShardOffset{shard.settled()};
    get_rows(*shard.mutable_records(), rows.records);
    get_rows(*shard.mutable_waiting(), rows.waiting);
  }
  return ship;
}

std::string encode(const FollowerTold& followed) {
  pb::Followed message;
  message.set_again(followed.again);
  message.set_process(followed.process);
  for (const auto& shard : followed.shards) {
    auto& put_shard = *message.add_shards();
    put_shard.set_shard(shard.shard.value);
    put_shard.set_epoch(shard.epoch.value);
    put_shard.set_tail(shard.tail.value);
    put_ends(shard.rows, *put_shard.mutable_rows());
    put_shard.set_rows_unsure(!shard.rows_whole);
    put_shard.set_takes_differences(shard.bases.has_value());
    if (shard.bases)
      for (const auto base : *shard.bases) put_shard.add_bases(base);
  }
  return message.SerializeAsString();
}

Result<FollowerTold> decode_followed(std::string_view bytes) {
  pb::Followed message;
  if (!parse(bytes, message)) return malformed("word of a follower");
  FollowerTold followed;
  followed.again = message.again();
  followed.process = message.process();
  for (const auto& shard : message.shards()) {
    auto& told = followed.shards.emplace_back();
    if (!shard_of(shard.shard(), told.shard)) return malformed("word of a follower");
    told.epoch = Epoch{shard.epoch()};
    told.tail = ShardOffset{shard.tail()};
    told.rows = ends_of(shard.rows());
    told.rows_whole = !shard.rows_unsure();
    if (shard.takes_differences()) told.bases.emplace(shard.bases().begin(), shard.bases().end());
  }
  return followed;
}

std::string encode(const RowLogPart& part) {
  pb::RowLogPart message;
  message.set_shard(part.shard.value);
  message.set_epoch(part.epoch.value);
  message.set_after_epoch(part.after.epoch.value);
  message.set_after_number(part.after.number);
  for (const auto& row : part.rows) message.add_rows(row);
  for (const auto& snapshot : part.snapshots) {
    auto& put_snapshot = *message.add_snapshots();
    messages::put(snapshot.aggregate, *put_snapshot.mutable_aggregate());
    put_snapshot.set_row(snapshot.row);
    put_snapshot.set_base(snapshot.base);
    put_snapshot.set_difference(snapshot.difference);
  }
  message.set_more(part.more);
  message.set_whole(part.whole);
  return message.SerializeAsString();
}

Result<RowLogPart> decode_row_log_part(std::string_view bytes) {
  pb::RowLogPart message;
  RowLogPart part;
  if (!parse(bytes, message) || !shard_of(message.shard(), part.shard)) return malformed("part of a row log");
  part.epoch = Epoch{message.epoch()};
  part.after = {Epoch{message.after_epoch()}, message.after_number()};
  for (auto& row : *message.mutable_rows()) part.rows.push_back(std::move(row));
  for (auto& snapshot : *message.mutable_snapshots())
    part.snapshots.push_back({{std::move(*snapshot.mutable_aggregate()->mutable_type()),
                               std::move(*snapshot.mutable_aggregate()->mutable_value())},
                              std::move(*snapshot.mutable_row()),
                              std::move(*snapshot.mutable_base()),
                              std::move(*snapshot.mutable_difference())});
  part.more = message.more();
  part.whole = message.whole();
  return part;
}

std::string encode(const RowLogAsked& asked) {
  pb::RowLogAsked message;
  message.set_shard(asked.shard.value);
  message.set_after_epoch(asked.after.epoch.value);
  message.set_after_number(asked.after.number);
  return message.SerializeAsString();
}

Result<RowLogAsked> decode_row_log_asked(std::string_view bytes) {
  pb::RowLogAsked message;
  RowLogAsked asked;
  if (!parse(bytes, message) || !shard_of(message.shard(), asked.shard)) return malformed("question for a row log");
  asked.after = {Epoch{message.after_epoch()}, message.after_number()};
  return asked;
}

std::string encode(const JournalAsked& asked) {
  pb::JournalAsked message;
  message.set_shard(asked.shard.value);
  message.set_from(asked.from.value);
  return message.SerializeAsString();
}

Result<JournalAsked> decode_journal_asked(std::string_view bytes) {
  pb::JournalAsked message;
  JournalAsked asked;
  if (!parse(bytes, message) || !shard_of(message.shard(), asked.shard)) return malformed("question for a journal");
  asked.from = ShardOffset{message.from()};
  return asked;
}

std::string encode_journal(storage::ShippedRows rows) { return encode(Ship{{{Epoch{}, std::move(rows)}}}); }

Result<storage::ShippedRows> decode_journal(std::string_view bytes) {
  auto ship = decode_ship(bytes);
  if (!ship) return refuse(std::move(ship).error());
  if (ship->shards.size() != 1) return malformed("range of a journal");
  return std::move(ship->shards.front().rows);
}

std::string encode(const JournalSumAsked& asked) {
  pb::JournalSumAsked message;
  message.set_shard(asked.shard.value);
  message.set_from(asked.from.value);
  message.set_until(asked.until.value);
  message.set_snapshots(asked.snapshots);
  return message.SerializeAsString();
}

Result<JournalSumAsked> decode_journal_sum_asked(std::string_view bytes) {
  pb::JournalSumAsked message;
  JournalSumAsked asked;
  if (!parse(bytes, message) || !shard_of(message.shard(), asked.shard))
    return malformed("question for a journal's sum");
  asked.from = ShardOffset{message.from()};
  asked.until = ShardOffset{message.until()};
  asked.snapshots = message.snapshots();
  return asked;
}

std::string encode(const storage::JournalSum& sum) {
  pb::JournalSum message;
  message.set_until(sum.until.value);
  message.set_sum(sum.sum);
  put_ends(sum.rows, *message.mutable_rows());
  if (sum.snapshots) message.set_snapshots(*sum.snapshots);
  return message.SerializeAsString();
}

Result<storage::JournalSum> decode_journal_sum(std::string_view bytes) {
  pb::JournalSum message;
  if (!parse(bytes, message)) return malformed("journal's sum");
  storage::JournalSum sum{ShardOffset{message.until()}, message.sum(), ends_of(message.rows()), {}};
  if (message.has_snapshots()) sum.snapshots = message.snapshots();
  return sum;
}

std::string encode(const storage::PlacedSnapshot& snapshot, Epoch epoch) {
  pb::ShipSnapshot message;
  messages::put(snapshot.snapshot, *message.mutable_snapshot());
  message.set_position(snapshot.position.value);
  message.set_epoch(epoch.value);
  return message.SerializeAsString();
}

Result<std::pair<storage::PlacedSnapshot, Epoch>> decode_shipped_snapshot(std::string_view bytes) {
  pb::ShipSnapshot message;
  std::pair<storage::PlacedSnapshot, Epoch> shipped;
  if (!parse(bytes, message) || !messages::get(*message.mutable_snapshot(), shipped.first.snapshot))
    return malformed("snapshot");
  shipped.first.position = GlobalPosition{message.position()};
  shipped.second = Epoch{message.epoch()};
  return shipped;
}

std::string encode_history_asked(GlobalPosition after) {
  pb::NodeHistoryAsked message;
  message.set_after(after.value);
  return message.SerializeAsString();
}

Result<GlobalPosition> decode_history_asked(std::string_view bytes) {
  pb::NodeHistoryAsked message;
  if (!parse(bytes, message)) return malformed("request for history");
  return GlobalPosition{message.after()};
}

std::string encode(const NodeHistory& history) {
  pb::NodeHistory message;
  for (const auto& cut : history.cuts) message.add_cuts(sharding::encode(cut));
  message.set_last_cut(history.last_cut.value);
  message.set_watermark(history.watermark.value);
  for (const auto& end : history.ends) {
    auto& put_end = *message.add_ends();
    put_end.set_shard(end.shard.value);
    put_end.set_end(end.end.value);
    put_end.set_epoch(end.epoch.value);
    put_end.set_writer(end.writer);
  }
  for (const auto shard : history.shards) message.add_shards(shard.value);
  return message.SerializeAsString();
}

Result<NodeHistory> decode_history(std::string_view bytes) {
  pb::NodeHistory message;
  if (!parse(bytes, message)) return malformed("history");
  NodeHistory history;
  for (const auto& row : message.cuts()) {
    auto cut = sharding::decode_cut(row, sharding::CutOf::node);
    if (!cut) return refuse(std::move(cut).error());
    history.cuts.push_back(std::move(*cut));
  }
  history.last_cut = CutNumber{message.last_cut()};
  history.watermark = GlobalPosition{message.watermark()};
  for (const auto& end : message.ends()) {
    auto& got = history.ends.emplace_back();
    if (!shard_of(end.shard(), got.shard)) return malformed("history");
    got.end = ShardOffset{end.end()};
    got.epoch = Epoch{end.epoch()};
    got.writer = end.writer();
  }
  for (const auto shard : message.shards())
    if (!shard_of(shard, history.shards.emplace_back())) return malformed("history");
  return history;
}

}  // namespace evershard::cluster
