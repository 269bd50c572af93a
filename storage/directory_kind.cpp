#include "evershard/storage/directory_kind.hpp"

#include <algorithm>
#include <memory>
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

/// A cut log has the one family that every database has. A database that was only begun has that family too, and no
/// rows.
bool has_rows(const std::filesystem::path& data_dir) {
  rocksdb::DB* opened = nullptr;
  rocksdb::Options looking;
  looking.info_log = no_log();
  if (!rocksdb::DB::OpenForReadOnly(looking, (data_dir / "db").string(), &opened).ok()) return true;
  const std::unique_ptr<rocksdb::DB> database(opened);
  const std::unique_ptr<rocksdb::Iterator> rows(database->NewIterator({}));
  rows->SeekToFirst();
  return rows->Valid() || !rows->status().ok();
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
    case DirectoryKind::begun:
      return "what was begun, and has nothing in it";
    case DirectoryKind::foreign:
      return "a database that is none of Evershard's";
  }
  return "";
}

namespace {

/// Whatever its name: what is being copied is opened before it has one.
DirectoryKind kind_of_database(const std::filesystem::path& data_dir) {
  if (!holds_a_database(data_dir)) return DirectoryKind::nothing;
  const auto families = families_in(data_dir);
  // MARK is made when a store is complete: what has one was more than begun, whatever is left of it.
  std::error_code unknown;
  if (families && families->size() == 1 && !std::filesystem::exists(data_dir / "MARK", unknown))
    return has_rows(data_dir) ? DirectoryKind::cut_log : DirectoryKind::begun;
  if (families && families->size() > 1 &&
      !(has_family(*families, Family::journal) && has_family(*families, Family::order) &&
        has_family(*families, Family::state)))
    return std::filesystem::exists(data_dir / "MARK", unknown) || has_family(*families, Family::journal)
               ? DirectoryKind::store
               : DirectoryKind::foreign;
  return is_truth_only(data_dir) ? DirectoryKind::truth_only : DirectoryKind::store;
}

}  // namespace

DirectoryKind kind_in(const std::filesystem::path& data_dir) {
  const auto kind = kind_of_database(data_dir);
  auto named = std::filesystem::absolute(data_dir).lexically_normal();
  if (!named.has_filename()) named = named.parent_path();
  return kind != DirectoryKind::nothing && named.extension() == ".part" ? DirectoryKind::unfinished : kind;
}

Result<void> refuse_unfinished(const std::filesystem::path& data_dir) {
  if (kind_in(data_dir) != DirectoryKind::unfinished) return {};
  return refuse_what_is_no_store(data_dir, DirectoryKind::unfinished);
}

Result<void> check_entry(const std::filesystem::path& data_dir) {
  std::error_code error;
  // Only whether it can be looked at counts.
  static_cast<void>(std::filesystem::status(data_dir / "db", error));
  if (!error || error == std::errc::no_such_file_or_directory || error == std::errc::not_a_directory) return {};
  return refuse(ErrorCode::io, data_dir.string() + " cannot be entered: " + error.message());
}

Result<DirectoryContent> content_of(const std::filesystem::path& data_dir) {
  EVERSHARD_TRY(check_entry(data_dir));
  DirectoryContent content;
  content.kind = kind_in(data_dir);
  if (content.kind != DirectoryKind::store && content.kind != DirectoryKind::truth_only) return content;
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
    case DirectoryKind::begun:
      return refuse(ErrorCode::not_found, "there is no store in " + data_dir.string() +
                                              ": its making was broken off, and goes on when it is made again");
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

Result<bool> may_be_opened(const std::filesystem::path& data_dir, DirectoryKind wanted, bool create) {
  EVERSHARD_TRY(check_entry(data_dir));
  const auto kind = kind_of_database(data_dir);
  if (kind == wanted) return true;
  const bool is_new = kind == DirectoryKind::nothing || kind == DirectoryKind::begun;
  if (!is_new) {
    EVERSHARD_TRY(refuse_what_is_no_store(data_dir, kind));
    EVERSHARD_TRY(refuse_truth_only(data_dir));
    return refuse(ErrorCode::invalid_argument, data_dir.string() + " holds " + name_of(kind) + ", not " +
                                                   (wanted == DirectoryKind::store ? "a store" : name_of(wanted)));
  }
  if (!create) {
    EVERSHARD_TRY(refuse_what_is_no_store(data_dir, kind));
    return refuse(ErrorCode::not_found, "there is nothing in " + data_dir.string());
  }
  if (const auto around = store_around(data_dir))
    return refuse(ErrorCode::invalid_argument, data_dir.string() + " lies in the directory of a store, " +
                                                   around->string() + ": nothing is made there");
  if (const auto inside = stores_inside(data_dir); !inside.empty())
    return refuse(ErrorCode::invalid_argument,
                  "nothing is made in " + data_dir.string() + ", beside directories that hold something: " + inside);
  return kind == DirectoryKind::begun;
}

std::optional<std::filesystem::path> store_around(const std::filesystem::path& folder) {
  std::error_code unknown;
  auto at = std::filesystem::weakly_canonical(folder, unknown);
  if (unknown) return std::nullopt;
  if (!at.has_filename()) at = at.parent_path();
  while (at.has_relative_path()) {
    at = at.parent_path();
    if (holds_a_database(at)) return at;
  }
  return std::nullopt;
}

}  // namespace evershard::storage
