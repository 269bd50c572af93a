#include "evershard/storage/journal/removal_row.hpp"

#include "evershard/protocol/in_quotes.hpp"
#include "evershard/storage/journal/checksum.hpp"
#include "evershard/storage/journal/keys.hpp"
#include "evershard/storage/journal/varint.hpp"

namespace evershard::storage {
namespace {

constexpr char removal_version = 1;
constexpr char of_aggregate = 1;

std::uint64_t removal_checksum(std::string_view body, const AggregateId& aggregate) {
  std::string bound(body);
  append_fixed(bound, checksum(aggregate.text()));
  return checksum(bound);
}

Error damaged_intent(const std::string& why) {
  return {ErrorCode::corruption, "what is to be removed by an append is not known: " + why};
}

}  // namespace

Result<std::string_view> checked_intent(std::string_view bytes) {
  constexpr std::size_t sum_bytes = sizeof(std::uint64_t);
  if (bytes.size() < 1 + sum_bytes) return refuse(damaged_intent("its row is cut short"));
  const auto body = bytes.substr(0, bytes.size() - sum_bytes);
  if (get_fixed<std::uint64_t>(bytes.data() + body.size()) != checksum(body))
    return refuse(damaged_intent("the checksum of its row does not match"));
  return body;
}

std::string removed_key(const AggregateId& aggregate) {
  return keys::checkpoint(std::string(removed_prefix) + aggregate.text());
}
std::string removing_key(const AggregateId& aggregate) {
  return keys::checkpoint(std::string(removing_prefix) + aggregate.text());
}

std::string encode_removal(const RemovalRow& row, const AggregateId& aggregate) {
  std::string bytes{removal_version, row.aggregate ? of_aggregate : char{0}};
  append_varint(bytes, row.before.value);
  append_varint(bytes, row.from.value);
  append_varint(bytes, row.last.value);
  append_varint(bytes, row.operation.size());
  bytes += row.operation;
  append_fixed(bytes, removal_checksum(bytes, aggregate));
  return bytes;
}

Result<RemovalRow> decode_removal(std::string_view bytes, const AggregateId& aggregate) {
  const auto damaged_row = [&](const char* why) {
    return refuse(ErrorCode::corruption, "what is removed of " + in_quotes(aggregate.text()) + " is not known: " + why);
  };
  constexpr std::size_t sum_bytes = sizeof(std::uint64_t);
  if (bytes.size() < 2 + sum_bytes) return damaged_row("its row is cut short");
  const auto body = bytes.substr(0, bytes.size() - sum_bytes);
  if (get_fixed<std::uint64_t>(bytes.data() + body.size()) != removal_checksum(body, aggregate))
    return damaged_row("the checksum of its row does not match");
  ByteReader reader(body);
  if (const auto version = reader.fixed<char>(); version != removal_version) {
    return refuse(ErrorCode::invalid_argument,
                  "what is removed of " + in_quotes(aggregate.text()) + " is kept in form " +
                      std::to_string(static_cast<unsigned char>(version)) + ", this program knows form " +
                      std::to_string(removal_version) + ": open the store with a newer one");
  }
  RemovalRow row;
  const auto flags = reader.fixed<char>();
  if ((flags & ~of_aggregate) != 0) return damaged_row("its row has flags this program does not know");
  row.aggregate = flags == of_aggregate;
  row.before = SeqNr{reader.varint()};
  row.from = SeqNr{reader.varint()};
  row.last = GlobalPosition{reader.varint()};
  row.operation = std::string(reader.bytes(reader.varint()));
  if (!reader.done()) return damaged_row("its row does not have its size");
  return row;
}

Result<RemovalRows> removal_rows(const Rows& rows, std::string_view name) {
  RemovalRows found;
  const auto prefix = keys::checkpoint(name);
  auto cursor = rows.cursor(Family::state, {.prefix = prefix});
  for (cursor->seek(prefix); cursor->valid() && cursor->key().starts_with(prefix); cursor->next()) {
    auto aggregate = AggregateId::parse(cursor->key().substr(prefix.size()));
    if (!aggregate) {
      found.damaged.push_back(
          {std::string(cursor->key()),
           {ErrorCode::corruption, "a row of what is removed names no aggregate: " + aggregate.error().what}});
      continue;
    }
    auto row = decode_removal(cursor->value(), *aggregate);
    if (row)
      found.rows.emplace_back(*std::move(aggregate), *std::move(row));
    else
      found.damaged.push_back({std::string(cursor->key()), std::move(row).error()});
  }
  EVERSHARD_TRY(cursor->status());
  return found;
}

namespace {

Result<std::optional<RemovalRow>> removal_at(const Rows& rows, const std::string& key, const AggregateId& aggregate) {
  const std::string_view wanted[] = {key};
  auto row = rows.get(Family::state, wanted);
  if (!row) return refuse(std::move(row).error());
  if (!(*row)->found(0)) return std::nullopt;
  auto decoded = decode_removal((*row)->value(0), aggregate);
  if (!decoded) return refuse(std::move(decoded).error());
  return *std::move(decoded);
}

}  // namespace

Result<std::optional<RemovalRow>> removed_of(const Rows& rows, const AggregateId& aggregate) {
  return removal_at(rows, removed_key(aggregate), aggregate);
}
Result<std::optional<RemovalRow>> removing_of(const Rows& rows, const AggregateId& aggregate) {
  return removal_at(rows, removing_key(aggregate), aggregate);
}

Result<std::optional<RemovingWrite>> removing_in(const StateWrite& write) {
  const auto prefix = keys::checkpoint(removing_prefix);
  if (!write.key.starts_with(prefix)) return std::optional<RemovingWrite>();
  auto aggregate = AggregateId::parse(write.key.substr(prefix.size()));
  if (!aggregate) return refuse(ErrorCode::corruption, "a row of what is being removed names no aggregate");
  RemovingWrite removing{*std::move(aggregate), {}};
  if (write.value) {
    auto row = decode_removal(*write.value, removing.aggregate);
    if (!row) return refuse(std::move(row).error());
    removing.row = *std::move(row);
  }
  return std::optional(std::move(removing));
}

}  // namespace evershard::storage
