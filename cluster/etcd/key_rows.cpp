#include "evershard/cluster/etcd/key_rows.hpp"

#include "evershard/protocol/in_quotes.hpp"
#include "evershard/services/erasure/key_names.hpp"

namespace evershard::cluster {
namespace {

constexpr char form_version = 1;
constexpr std::string_view erased_text = "destroyed ";

Refused damaged(std::string_view name, const std::string& why) {
  return refuse(ErrorCode::corruption, "the row " + in_quotes(name, 300) + " in etcd is damaged: " + why);
}

/// What stands behind the version.
Result<std::string_view> body_of(std::string_view name, std::string_view row) {
  if (row.empty()) return damaged(name, "it is empty");
  if (row.front() != form_version)
    return damaged(name, "its form is " + std::to_string(static_cast<unsigned char>(row.front())) +
                             ", this program knows " + std::to_string(form_version));
  return row.substr(1);
}

std::string bytes_of(const KeyId& id) { return {reinterpret_cast<const char*>(id.bytes.data()), id.bytes.size()}; }

}  // namespace

std::string KeyRows::sealed(const std::string& name, std::string_view bytes) const {
  return std::string{form_version} + master_.seal(name, bytes);
}

Result<std::string> KeyRows::opened(const std::string& name, std::string_view row) const {
  const auto body = body_of(name, row);
  if (!body) return refuse(body.error());
  auto bytes = master_.open(name, *body);
  // The check row has told that it is the same one: whatever this row is, it is not ours.
  if (!bytes) return refuse(ErrorCode::corruption, std::move(bytes).error().what);
  return bytes;
}

std::string KeyRows::check_row() const { return std::string{form_version} + bytes_of(master_.id()); }

Result<void> KeyRows::check_master(std::string_view row) const {
  const auto body = body_of(check(), row);
  if (!body) return refuse(body.error());
  if (body->size() != master_.id().bytes.size()) return damaged(check(), "it has not its length");
  if (*body != bytes_of(master_.id()))
    return refuse(ErrorCode::invalid_argument,
                  "the master key is not the one that the keys of subjects in etcd are sealed with, under " +
                      in_quotes(all(), 300) + ": every coordinator needs the same one");
  return {};
}

std::string KeyRows::secret_row(const std::string& name, std::string_view secret) const {
  auto kept = kept_bytes_of(secret);
  auto row = sealed(name, kept);
  wipe(kept);
  return row;
}

Result<std::string> KeyRows::secret_of(const std::string& name, std::string_view row) const {
  auto kept = opened(name, row);
  if (!kept) return kept;
  auto secret = secret_in(*kept);
  wipe(*kept);
  if (!secret) return damaged(name, "what is sealed is no secret");
  return *std::move(secret);
}

std::string KeyRows::erased_row(const KeyId& id, Timestamp at) const {
  return sealed(erased(id), std::string(erased_text) + at.text());
}

Result<void> KeyRows::check_erased(const KeyId& id, std::string_view row) const {
  const auto text = opened(erased(id), row);
  if (!text) return refuse(text.error());
  if (!text->starts_with(erased_text)) return damaged(erased(id), "it says something else");
  return {};
}

std::optional<KeyId> KeyRows::erased_id(std::string_view name) const {
  const auto begin = erasures();
  return name.starts_with(begin) ? KeyId::parse(name.substr(begin.size())) : std::nullopt;
}

}  // namespace evershard::cluster
