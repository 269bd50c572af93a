#include "evershard/services/erasure/key_folder.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <system_error>
#include <utility>

#include "evershard/protocol/in_quotes.hpp"
#include "evershard/storage/files/descriptor.hpp"
#include "evershard/storage/files/synced.hpp"

namespace evershard::cluster {
namespace {

constexpr const char* secret_name = "SECRET";
constexpr const char* key_extension = ".key";
constexpr const char* erased_extension = ".erased";
constexpr std::size_t known_max = 10'000;
/// Another process may have destroyed a key: so long it may still be used here.
constexpr auto look_again_after = std::chrono::seconds(1);

Refused failed(const std::string& what, const std::filesystem::path& path, int why) {
  return refuse(ErrorCode::io, what + " " + in_quotes(path.string(), 300) + ": " + std::strerror(why));
}

/// Whole or not at all, and never over one that is there: two processes may make the same file.
Result<void> create_synced(const std::filesystem::path& path, std::string_view bytes) {
  auto part = path;
  part += "." + EventId::random().text() + ".part";
  EVERSHARD_TRY(storage::write_synced(part, O_CREAT | O_EXCL, 0600, bytes));
  const bool linked = ::link(part.c_str(), path.c_str()) == 0;
  const int why = errno;
  ::unlink(part.c_str());
  if (!linked && why != EEXIST) return failed("cannot create", path, why);
  return storage::sync_path(path.parent_path());
}

Result<bool> is_there(const std::filesystem::path& path) {
  struct stat found {};
  if (::stat(path.c_str(), &found) == 0) return true;
  if (errno == ENOENT) return false;
  return failed("cannot look at", path, errno);
}

Result<std::optional<std::string>> read_file(const std::filesystem::path& path) {
  const storage::Descriptor file(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  if (!file.is_open() && errno == ENOENT) return std::nullopt;
  if (!file.is_open()) return failed("cannot read", path, errno);
  std::string bytes(256, '\0');
  std::size_t size = 0;
  while (size < bytes.size()) {
    const auto got = ::read(file.number(), bytes.data() + size, bytes.size() - size);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return failed("cannot read", path, errno);
    if (got == 0) break;
    size += static_cast<std::size_t>(got);
  }
  bytes.resize(size);
  return bytes;
}

/// Where a path leads, also where nothing of it is there yet.
Result<std::filesystem::path> place_of(const std::filesystem::path& path) {
  std::error_code error;
  const auto absolute = std::filesystem::absolute(path, error);
  auto place = error ? absolute : std::filesystem::weakly_canonical(absolute, error);
  if (error) return refuse(ErrorCode::io, "cannot look at " + in_quotes(path.string(), 300) + ": " + error.message());
  place = place.lexically_normal();
  return place.has_filename() ? place : place.parent_path();  // `shop/` is `shop`
}

Result<bool> lies_within(const std::filesystem::path& folder, const std::filesystem::path& outer) {
  const auto inner = place_of(folder);
  if (!inner) return refuse(inner.error());
  const auto of = place_of(outer);
  if (!of) return refuse(of.error());
  return std::mismatch(of->begin(), of->end(), inner->begin(), inner->end()).first == of->end();
}

Result<bool> has_keys(const std::filesystem::path& folder) {
  std::error_code error;
  std::filesystem::directory_iterator at(folder, error);
  for (; !error && at != std::filesystem::directory_iterator(); at.increment(error)) {
    const auto extension = at->path().extension();
    if (extension == key_extension || extension == erased_extension) return true;
  }
  if (error) return refuse(ErrorCode::io, "cannot list " + in_quotes(folder.string(), 300) + ": " + error.message());
  return false;
}

}  // namespace

Result<std::unique_ptr<KeyFolder>> KeyFolder::open(std::filesystem::path folder, const std::filesystem::path& data_dir,
                                                   Missing missing) {
  const auto within = data_dir.empty() ? Result<bool>(false) : lies_within(folder, data_dir);
  if (!within) return refuse(within.error());
  if (*within) {
    return refuse(ErrorCode::invalid_argument,
                  "the keys' directory " + in_quotes(folder.string(), 300) +
                      " lies within the data directory: backups would keep keys that are destroyed");
  }
  std::error_code error;
  if (missing == Missing::refuse &&
      std::filesystem::status(folder, error).type() == std::filesystem::file_type::not_found) {
    return refuse(ErrorCode::not_found,
                  "there is no directory of keys " + in_quotes(folder.string(), 300) +
                      ": is it the right directory? Where keys are to begin there, `mkdir -m 700` makes it");
  }
  error.clear();
  if (std::filesystem::create_directories(folder, error)) ::chmod(folder.c_str(), 0700);
  if (error) return refuse(ErrorCode::io, "cannot create " + in_quotes(folder.string(), 300) + ": " + error.message());
  struct stat found {};
  if (::stat(folder.c_str(), &found) != 0) return failed("cannot look at", folder, errno);
  if ((found.st_mode & 0077) != 0) {
    return refuse(ErrorCode::invalid_argument, "others than its owner may use the keys' directory " +
                                                   in_quotes(folder.string(), 300) + ": chmod 700");
  }
  auto secret = read_file(folder / secret_name);
  if (!secret) return refuse(std::move(secret).error());
  if (!*secret) {
    const auto keys = has_keys(folder);
    if (!keys) return refuse(keys.error());
    if (*keys)
      return refuse(ErrorCode::corruption, "there are keys in " + in_quotes(folder.string(), 300) + ", and the file " +
                                               secret_name + " that names them is missing");
    EVERSHARD_TRY(create_synced(folder / secret_name, kept_bytes_of(new_secret())));
    secret = read_file(folder / secret_name);
    if (!secret) return refuse(std::move(secret).error());
  }
  const auto checked = *secret ? secret_in(**secret) : std::nullopt;
  if (!checked) return refuse(ErrorCode::corruption, in_quotes((folder / secret_name).string(), 300) + " is damaged");
  std::unique_ptr<KeyFolder> opened(new KeyFolder(std::move(folder), *checked));
  EVERSHARD_TRY(opened->count_erased());
  return opened;
}

/// Those that were destroyed before are nobody's news: nothing was opened with them here.
Result<void> KeyFolder::count_erased() {
  std::error_code error;
  std::filesystem::directory_iterator at(folder_, error);
  for (; !error && at != std::filesystem::directory_iterator(); at.increment(error)) {
    if (at->path().extension() != erased_extension) continue;
    if (const auto id = KeyId::parse(at->path().stem().string())) destroyed_.insert(*id);
  }
  if (error) return refuse(ErrorCode::io, "cannot list " + in_quotes(folder_.string(), 300) + ": " + error.message());
  return {};
}

std::uint64_t KeyFolder::erasures() const {
  const std::lock_guard lock(mutex_);
  return erasures_;
}

void KeyFolder::note_erased(const KeyId& id) {
  {
    const std::lock_guard lock(mutex_);
    if (!destroyed_.insert(id).second) return;
    known_.erase(id);
    ++erasures_;
  }
  erased();
}

/// Behind the look that found it: what was destroyed before it was made was noticed by that look.
HeldKey KeyFolder::as_of_now(HeldKey key) const {
  key.erasures = erasures();
  return key;
}

Result<bool> KeyFolder::is_erased(const KeyId& id) {
  auto there = is_there(file(id, erased_extension));
  if (there && *there) note_erased(id);
  return there;
}

/// The first one that is not destroyed; whether it is there is another question.
Result<KeyId> KeyFolder::newest(std::string_view subject) {
  for (std::uint32_t generation = 0;; ++generation) {
    const auto id = names_.id_of(subject, generation);
    auto erased = is_erased(id);
    if (!erased) return refuse(std::move(erased).error());
    if (!*erased) return id;
  }
}

std::optional<HeldKey> KeyFolder::remembered(const KeyId& id, bool fresh_only) {
  const std::lock_guard lock(mutex_);
  const auto known = known_.find(id);
  if (known == known_.end() || (fresh_only && Clock::now() - known->second.looked >= look_again_after))
    return std::nullopt;
  return known->second.key;
}

void KeyFolder::remember(const HeldKey& key) {
  const auto [known, added] = known_.try_emplace(key.id, Known{key, {}});
  known->second.looked = Clock::now();
  if (!added || known_.size() <= known_max) return;
  const auto next = std::next(known);  // ids are random: so is the one that stands beside it
  known_.erase(next == known_.end() ? known_.begin() : next);
}

Result<HeldKey> KeyFolder::key_for(std::string_view subject) {
  for (;;) {
    auto id = newest(subject);
    if (!id) return refuse(std::move(id).error());
    if (auto known = remembered(*id, false)) return as_of_now(*std::move(known));
    auto made = is_there(file(*id, key_extension));
    if (!made) return refuse(std::move(made).error());
    if (!*made) {
      const std::lock_guard one_at_a_time(changing_);
      auto erased = is_erased(*id);  // if it is destroyed, nothing would ever remove a file made now
      if (!erased) return refuse(std::move(erased).error());
      if (*erased) continue;
      // Never over a file that is there: of two callers that make the key at once, both get the same key.
      EVERSHARD_TRY(create_synced(file(*id, key_extension), kept_bytes_of(new_secret())));
    }
    auto key = look(*id);
    if (!key) return refuse(std::move(key).error());
    if (*key) return as_of_now(**std::move(key));
    // Destroyed meanwhile: its subject begins anew.
  }
}

Result<std::optional<HeldKey>> KeyFolder::find(const KeyId& id) {
  if (auto known = remembered(id, true)) return known;
  return look(id);
}

Result<std::optional<HeldKey>> KeyFolder::look(const KeyId& id) {
  auto erased = is_erased(id);
  if (!erased) return refuse(std::move(erased).error());
  if (*erased) return std::nullopt;
  auto key = remembered(id, false);
  if (!key) {
    auto bytes = read_file(file(id, key_extension));
    if (!bytes) return refuse(std::move(bytes).error());
    auto secret = *bytes ? secret_in(**bytes) : std::nullopt;
    if (!secret) {
      erased = is_erased(id);  // between the two looks
      if (!erased) return refuse(std::move(erased).error());
      if (*erased) return std::nullopt;
      return refuse(ErrorCode::corruption, "the key " + id.text() + (*bytes ? " is damaged" : " is not") + " in " +
                                               in_quotes(folder_.string(), 300) +
                                               (*bytes ? "" : ", and was not destroyed: is it the right directory?"));
    }
    key = held_key(id, *std::move(secret));
  }
  const std::lock_guard lock(mutex_);
  if (destroyed_.contains(id)) return std::nullopt;
  remember(*key);
  return key;
}

Result<std::optional<KeyId>> KeyFolder::current(std::string_view subject) {
  auto id = newest(subject);
  if (!id) return refuse(std::move(id).error());
  auto made = is_there(file(*id, key_extension));
  if (!made) return refuse(std::move(made).error());
  if (*made) return *id;
  // Who mistyped the directory got a new one, and must not take its silence for an erasure.
  const auto keys = has_keys(folder_);
  if (!keys) return refuse(keys.error());
  if (!*keys)
    return refuse(ErrorCode::not_found,
                  "there are no keys at all in " + in_quotes(folder_.string(), 300) + ": is it the right directory?");
  return std::nullopt;
}

/// Marked first: from then on it counts as destroyed, whatever a crash leaves of it; then its bytes go.
Result<void> KeyFolder::destroy(const KeyId& id) {
  const std::lock_guard one_at_a_time(changing_);
  EVERSHARD_TRY(create_synced(file(id, erased_extension), "destroyed " + Timestamp::now().text() + "\n"));
  note_erased(id);
  const auto path = file(id, key_extension);
  auto there = is_there(path);
  if (!there) return refuse(std::move(there).error());
  if (!*there) return {};
  EVERSHARD_TRY(storage::write_synced(path, 0, 0600, std::string(kept_bytes, '\0')));
  if (::unlink(path.c_str()) != 0 && errno != ENOENT) return failed("cannot remove", path, errno);
  return storage::sync_path(folder_);
}

}  // namespace evershard::cluster
