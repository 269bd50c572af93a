#include "evershard/cluster/removal/retention_intent.hpp"

#include <cstdint>
#include <limits>
#include <utility>

#include "evershard/protocol/messages.hpp"
#include "evershard/storage/journal/checksum.hpp"
#include "evershard/storage/journal/keys.hpp"
#include "evershard/storage/journal/varint.hpp"
#include "evershard/v1/retention_homes.pb.h"

namespace evershard::cluster {
namespace {

constexpr char intent_version = 1;

}  // namespace

std::string intent_key(const Append& append) {
  return storage::keys::checkpoint(std::string(intent_prefix) + append.request_id->text());
}

std::string encode_intent(const RetentionIntent& intent) {
  v1::RetentionIntent message;
  messages::put(intent.append, *message.mutable_append());
  for (const auto& write : intent.rows.state) {
    auto& row = *message.add_rows();
    row.set_key(write.key);
    if (write.value) row.set_value(*write.value);
  }
  for (const auto& going : intent.rows.snapshots_to_go) {
    auto& snapshots = *message.add_snapshots_to_go();
    messages::put(going.aggregate, *snapshots.mutable_aggregate());
    snapshots.set_below(going.below.value);
    snapshots.set_latest(going.latest);
  }
  if (intent.shard) message.set_shard(intent.shard->value);
  std::string bytes(1, intent_version);
  bytes += message.SerializeAsString();
  storage::append_fixed(bytes, storage::checksum(bytes));
  return bytes;
}

Result<RetentionIntent> decode_intent(std::string_view bytes) {
  const auto damaged_intent = [](const char* why) {
    return refuse(ErrorCode::corruption, std::string("what is to be removed by an append is not known: ") + why);
  };
  const auto checked = storage::checked_intent(bytes);
  if (!checked) return refuse(checked.error());
  const auto body = *checked;
  if (body.front() != intent_version)
    return refuse(ErrorCode::invalid_argument,
                  "what is to be removed by an append is kept in a form this program does not know: open the store "
                  "with a newer one");
  v1::RetentionIntent message;
  if (!message.ParseFromArray(body.data() + 1, static_cast<int>(body.size() - 1)))
    return damaged_intent("its row cannot be read");
  RetentionIntent intent;
  if (!messages::get(*message.mutable_append(), intent.append) || !intent.append.request_id)
    return damaged_intent("its append cannot be read");
  for (auto& row : *message.mutable_rows()) {
    auto& write = intent.rows.state.emplace_back();
    write.key = std::move(*row.mutable_key());
    if (row.has_value()) write.value = std::move(*row.mutable_value());
  }
  for (const auto& snapshots : message.snapshots_to_go())
    intent.rows.snapshots_to_go.push_back(
        {{snapshots.aggregate().type(), snapshots.aggregate().value()}, SeqNr{snapshots.below()}, snapshots.latest()});
  if (message.has_shard()) {
    if (message.shard() > std::numeric_limits<std::uint16_t>::max()) return damaged_intent("it names no shard");
    intent.shard = ShardId{static_cast<std::uint16_t>(message.shard())};
  }
  return intent;
}

}  // namespace evershard::cluster
