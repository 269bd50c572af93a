#include "evershard/storage/repair/store_copy.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <fstream>
#include <iterator>
#include <string>
#include <string_view>

#include <fcntl.h>
#include <unistd.h>

#include "evershard/storage/directory_kind.hpp"
#include "evershard/storage/journal/last_commit_mark.hpp"
#include "evershard/storage/order/recovered_order.hpp"
#include "evershard/storage/refusals.hpp"
#include "evershard/storage/repair/fork.hpp"
#include "evershard/storage/repair/truth_only.hpp"
#include "evershard/storage/rocks/rocks_rows.hpp"
#include "evershard/storage/rocks/rocks_status.hpp"

namespace evershard::storage {
namespace {

constexpr const char* types_file = "TYPES";
constexpr std::array<std::string_view, 9> made_by_copying{
    "db", "db.tmp", "MARK", "OWNER", "sealing", types_file, truth_only_file, StoreCopy::parts, StoreCopy::backup_mark};

Refused failed(const std::string& doing, const std::error_code& error) {
  return refuse(ErrorCode::io, doing + ": " + error.message());
}

Result<void> replace_rest(const std::filesystem::path& part) {
  std::error_code error;
  if (!std::filesystem::exists(part, error)) return {};
  if (!std::filesystem::is_directory(part, error))
    return invalid(part.string() + " is in the way: copies are made there");
  for (const auto& entry : std::filesystem::directory_iterator(part, error)) {
    auto name = entry.path().filename().string();
    if (std::find(made_by_copying.begin(), made_by_copying.end(), name) == made_by_copying.end())
      return invalid(part.string() + " is in the way: copies are made there, and it holds " + name);
  }
  std::filesystem::remove_all(part, error);
  if (error) return failed("cannot remove " + part.string(), error);
  return {};
}

}  // namespace

Result<std::vector<DatabaseFile>> files_of_closed(const std::filesystem::path& database) {
  std::vector<DatabaseFile> files;
  std::error_code error;
  for (std::filesystem::directory_iterator at(database, error), end; !error && at != end; at.increment(error)) {
    auto name = at->path().filename().string();
    if (!at->is_regular_file(error) || name == "LOCK" || name.starts_with("LOG") || name.ends_with(".dbtmp")) continue;
    files.push_back({at->path(), at->file_size(error)});
  }
  if (error) return failed("cannot list " + database.string(), error);
  std::ranges::sort(files, {}, &DatabaseFile::path);
  return files;
}

Result<std::string> types_beside(const std::filesystem::path& folder) {
  const auto path = folder / types_file;
  std::error_code error;
  if (!std::filesystem::exists(path, error)) return std::string();
  std::ifstream file(path, std::ios::binary);
  std::string text(std::istreambuf_iterator<char>(file), {});
  if (!file) return refuse(ErrorCode::io, "cannot read " + path.string());
  return text;
}

Result<void> copy_durably(const std::filesystem::path& from, const std::filesystem::path& to) {
  std::error_code error;
  std::filesystem::copy_file(from, to, error);
  if (error)
    return refuse(ErrorCode::io, "cannot copy " + from.string() + " to " + to.string() + ": " + error.message());
  return sync_path(to);
}

Result<std::filesystem::path> target_of_copy(std::filesystem::path target) {
  target = std::filesystem::absolute(target).lexically_normal();
  if (!target.has_filename()) target = target.parent_path();
  std::error_code error;
  if (std::filesystem::exists(target, error)) {
    if (!std::filesystem::is_directory(target, error)) return invalid(target.string() + " is no folder");
    if (!std::filesystem::is_empty(target, error)) return invalid(target.string() + " is not empty");
  }
  if (target.extension() == ".part")
    return invalid(target.string() + ": a name in .part is kept for unfinished copies");
  if (const auto store = store_around(target))
    return invalid(target.string() + " lies in the directory of a store, " + store->string() +
                   ": copies are made elsewhere");
  return target;
}

Result<StoreCopy> StoreCopy::begin(std::filesystem::path path) {
  auto target = target_of_copy(std::move(path));
  if (!target) return refuse(std::move(target).error());
  auto part = *target;
  part += ".part";
  EVERSHARD_TRY(replace_rest(part));
  std::error_code error;
  std::filesystem::create_directories(part, error);
  if (error) return failed("cannot create " + part.string(), error);
  return StoreCopy(*std::move(target), std::move(part));
}

StoreCopy::~StoreCopy() {
  std::error_code ignored;
  if (!part_.empty()) std::filesystem::remove_all(part_, ignored);
}

Result<void> StoreCopy::carry_from(const std::filesystem::path& source_folder) const {
  std::error_code error;
  if (!std::filesystem::exists(source_folder / types_file, error)) return {};
  return copy_durably(source_folder / types_file, part_ / types_file);
}

Result<void> StoreCopy::carry(std::string_view types) const {
  if (types.empty()) return {};
  return write_synced(part_ / types_file, O_CREAT | O_TRUNC, 0644, types);
}

Result<void> StoreCopy::mark_as_backup() const {
  return write_synced(part_ / backup_mark, O_CREAT | O_TRUNC, 0644, "restore it before it goes on as a store\n");
}

Result<GlobalPosition> StoreCopy::settle(rocksdb::Env* env) {
  StoreOptions options;
  options.create = false;
  options.block_cache_bytes = 8u << 20;
  options.env = env;
  auto rocks = RocksOptions(options).for_opening();
  std::unique_ptr<RocksFamilies> opened;
  EVERSHARD_TRY(checked(RocksFamilies::open(rocks, database().string(), /*read_only=*/false, opened),
                        "cannot open the copy " + database().string()));
  std::shared_ptr<const RocksFamilies> families = std::move(opened);
  auto identity = give_new_fork(*families);
  if (!identity) return refuse(std::move(identity).error());
  auto state = recover_order(RocksRows(families), *identity);
  if (!state) return refuse(std::move(state).error());
  auto mark = LastCommitMark::open(part_ / "MARK");
  if (!mark) return refuse(std::move(mark).error());
  for (int slot = 0; slot < 2; ++slot) (*mark)->update({state->last_cut, state->watermark});
  if ((*mark)->failures() > 0) return refuse(ErrorCode::io, "cannot write " + (part_ / "MARK").string());
  EVERSHARD_TRY(sync_path(part_ / "MARK"));
  EVERSHARD_TRY(sync_path(part_));
  return state->watermark;
}

Result<void> StoreCopy::finish() {
  std::error_code error;
  std::filesystem::rename(part_, target_, error);  // over an empty folder too; over nothing else
  if (error == std::errc::directory_not_empty || error == std::errc::file_exists)
    return invalid(target_.string() + " is not empty");
  if (error) return failed("cannot rename " + part_.string() + " to " + target_.string(), error);
  part_.clear();
  return sync_path(target_.parent_path());
}

}  // namespace evershard::storage
