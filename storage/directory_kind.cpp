#include "evershard/storage/directory_kind.hpp"

#include <algorithm>
#include <system_error>
#include <vector>

#include <rocksdb/db.h>

#include "evershard/storage/journal/rows.hpp"
#include "evershard/storage/repair/truth_only.hpp"
#include "evershard/storage/rocks/rocks_families.hpp"
#include "evershard/storage/rocks/rocks_options.hpp"

namespace evershard::storage {
namespace {

bool holds_a_database(const std::filesystem::path& folder) {
  std::error_code ignored;
  for (std::filesystem::directory_iterator at(folder / "db", ignored), end; at != end; at.increment(ignored)) {
    const auto name = at->path().filename().string();
    if (name == "CURRENT" || name.ends_with(".sst") || name.starts_with("MANIFEST-")) return true;
  }
  // MARK is made when a store is complete: without a database it has lost it.
  return std::filesystem::exists(folder / "MARK", ignored);
}

/// Absent: they cannot be listed.
std::optional<std::vector<std::string>> families_in(const std::filesystem::path& data_dir) {
  std::vector<std::string> families;
  if (!rocksdb::DB::ListColumnFamilies({}, (data_dir / "db").string(), &families).ok()) return std::nullopt;
  return families;
}

bool has_family(const std::vector<std::string>& families, Family family) {
  return std::ranges::find(families, name_of(family)) != families.end();
}

/// "coordinator, node-1": directories in this one that hold what this one was asked for.
std::string stores_inside(const std::filesystem::path& data_dir) {
  std::vector<std::string> names;
  std::error_code ignored;
  for (std::filesystem::directory_iterator at(data_dir, ignored), end; at != end; at.increment(ignored))
    if (at->is_directory(ignored) && holds_a_database(at->path())) names.push_back(at->path().filename().string());
  std::ranges::sort(names);
  constexpr std::size_t named_max = 5;
  std::string text;
  for (std::size_t i = 0; i < std::min(names.size(), named_max); ++i) text += (i == 0 ? "" : ", ") + names[i];
  return names.size() > named_max ? text + ", ..." : text;
}

}  // namespace

const char* name_of(DirectoryKind kind) {
  switch (kind) {
    case DirectoryKind::nothing:
      return "nothing";
    case DirectoryKind::store:
      return "a store";
    case DirectoryKind::node:
      return "a node's part of a cluster's store";
    case DirectoryKind::cut_log:
      return "a coordinator's cut log";
    case DirectoryKind::truth_only:
      return "a backup of the truth only";
    case DirectoryKind::unfinished:
      return "a copy that was not finished";
    case DirectoryKind::foreign:
      return "a database that is none of Evershard's";
  }
  return "";
}

Result<DirectoryContent> content_of(const std::filesystem::path& data_dir) {
  DirectoryContent content;
  if (!holds_a_database(data_dir)) return content;
  auto named = std::filesystem::absolute(data_dir).lexically_normal();
  if (!named.has_filename()) named = named.parent_path();
  if (named.extension() == ".part") {
    content.kind = DirectoryKind::unfinished;
    return content;
  }
  const auto families = families_in(data_dir);
  if (families && families->size() == 1) {
    // A cut log has the one family that every database has. One whose store was never finished has it, too, and no
    // rows.
    content.kind = DirectoryKind::cut_log;
    return content;
  }
  if (families && !(has_family(*families, Family::journal) && has_family(*families, Family::order) &&
                    has_family(*families, Family::state))) {
    content.kind = DirectoryKind::foreign;
    return content;
  }
  content.kind = is_truth_only(data_dir) ? DirectoryKind::truth_only : DirectoryKind::store;
  StoreOptions options;
  options.data_dir = data_dir;
  options.create = false;
  options.block_cache_bytes = 8u << 20;
  const auto rocks = RocksOptions(options);
  auto identity = RocksFamilies::stored_identity(rocks.for_repair(), (data_dir / "db").string());
  if (!identity && identity.error().code != ErrorCode::invalid_argument)
    identity = RocksFamilies::stored_identity(rocks.forgiving(), (data_dir / "db").string());
  if (!identity) {
    if (identity.error().code == ErrorCode::invalid_argument) return refuse(std::move(identity).error());
    return content;
  }
  content.identity = *identity;
  if (content.kind == DirectoryKind::store && identity->node != 0) content.kind = DirectoryKind::node;
  return content;
}

Result<void> refuse_what_is_no_store(const std::filesystem::path& data_dir, DirectoryKind kind) {
  switch (kind) {
    case DirectoryKind::store:
    case DirectoryKind::node:
    case DirectoryKind::cut_log:
    case DirectoryKind::truth_only:
      return {};
    case DirectoryKind::unfinished:
      return refuse(ErrorCode::invalid_argument,
                    data_dir.string() + " is a copy that was not finished: nothing can be said of it; make it again");
    case DirectoryKind::foreign:
      return refuse(ErrorCode::invalid_argument,
                    data_dir.string() +
                        " holds a database that is none of Evershard's: no store, no node's part of one, no cut log");
    case DirectoryKind::nothing:
      break;
  }
  const auto inside = stores_inside(data_dir);
  return refuse(
      ErrorCode::not_found,
      "there is no store in " + data_dir.string() +
          (inside.empty() ? "" : "; there is something in directories below it, name one of them: " + inside));
}

}  // namespace evershard::storage
