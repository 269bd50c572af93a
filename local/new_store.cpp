#include "evershard/local/new_store.hpp"

#include <system_error>
#include <utility>

#include "evershard/storage/directory_kind.hpp"
#include "evershard/storage/journal/last_commit_mark.hpp"
#include "evershard/storage/open.hpp"

namespace evershard {
namespace {

using storage::DirectoryKind;

bool nothing_was_stored(const std::filesystem::path& data_dir) {
  // MARK follows every commit; where it is missing, the store was never complete.
  const auto mark = storage::LastCommitMark::read(data_dir / "MARK");
  return mark && (!*mark || (*mark)->watermark == GlobalPosition{0});
}

}  // namespace

NewStore::NewStore(std::filesystem::path data_dir) : data_dir_(std::move(data_dir)) {
  made_here_ = !data_dir_.empty() && storage::kind_in(data_dir_) == DirectoryKind::nothing;
  std::error_code unknown;
  for (auto at = std::filesystem::absolute(data_dir_, unknown).lexically_normal();
       made_here_ && at.has_relative_path() && !std::filesystem::exists(at, unknown) && !unknown; at = at.parent_path())
    new_dirs_.push_back(at);
}

NewStore::~NewStore() {
  if (!made_here_) return;
  // A node's part may have been shipped something already: `node` there, not `store`.
  const auto found = storage::content_of(data_dir_);
  const bool ours = found && (found->kind == DirectoryKind::store || found->kind == DirectoryKind::begun);
  std::error_code ignored;
  if (ours && nothing_was_stored(data_dir_) && !std::filesystem::exists(data_dir_ / "TYPES", ignored) &&
      storage::check_not_open(data_dir_))
    for (const auto* made : {"db", "MARK", "OWNER", "sealing", "projections", "documents"})
      std::filesystem::remove_all(data_dir_ / made, ignored);
  for (const auto& made : new_dirs_) std::filesystem::remove(made, ignored);  // where nothing is in it
}

}  // namespace evershard
