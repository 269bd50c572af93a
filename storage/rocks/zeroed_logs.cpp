#include "evershard/storage/rocks/zeroed_logs.hpp"

#include <algorithm>
#include <array>
#include <condition_variable>
#include <filesystem>
#include <mutex>
#include <string>
#include <system_error>
#include <thread>
#include <utility>

#include <linux/magic.h>
#include <rocksdb/env.h>
#include <rocksdb/file_system.h>
#include <sys/vfs.h>

#include "evershard/storage/rocks/zero_frontier.hpp"

namespace evershard::storage {
namespace {

using rocksdb::IODebugContext;
using rocksdb::IOOptions;
using rocksdb::IOStatus;
using rocksdb::Slice;

constexpr std::size_t zeros_a_write = 64u << 10;
constexpr long xfs_magic = 0x58465342;  // not in the kernel's list of them

/// Whether the file system writes changed blocks in their old place.
bool writes_in_place(const std::string& file) {
  struct statfs found {};
  const auto folder = std::filesystem::path(file).parent_path();
  if (::statfs(folder.c_str(), &found) != 0) return false;
  return found.f_type == EXT4_SUPER_MAGIC || found.f_type == xfs_magic;
}

class ZeroedLog final : public rocksdb::FSWritableFileOwnerWrapper {
 public:
  ZeroedLog(std::unique_ptr<rocksdb::FSWritableFile> file, std::shared_ptr<rocksdb::FileSystem> files, std::string name,
            std::size_t zeros_max)
      : FSWritableFileOwnerWrapper(std::move(file)),
        files_(std::move(files)),
        name_(std::move(name)),
        frontier_(zeros_max) {}
  ~ZeroedLog() override { end_filling(); }

  IOStatus Append(const Slice& data, const IOOptions& options, IODebugContext* debug) override {
    take(data.size());
    return FSWritableFileOwnerWrapper::Append(data, options, debug);
  }
  IOStatus Append(const Slice& data, const IOOptions& options, const rocksdb::DataVerificationInfo& verification,
                  IODebugContext* debug) override {
    take(data.size());
    return FSWritableFileOwnerWrapper::Append(data, options, verification, debug);
  }
  IOStatus Truncate(std::uint64_t size, const IOOptions& options, IODebugContext* debug) override {
    end_filling();
    return FSWritableFileOwnerWrapper::Truncate(size, options, debug);
  }
  /// Without its zeros, as far as the disk allows.
  IOStatus Close(const IOOptions& options, IODebugContext* debug) override {
    end_filling();
    // Zeros that stay behind a log are passed over when it is read.
    if (frontier_.ends_in_zeros()) (void)FSWritableFileOwnerWrapper::Truncate(frontier_.written(), options, debug);
    return FSWritableFileOwnerWrapper::Close(options, debug);
  }

 private:
  using Lock = std::unique_lock<std::mutex>;

  void take(std::size_t bytes) {
    Lock lock(mutex_);
    filled_.wait(lock, [&] { return frontier_.write(bytes); });
    if (ended_ || !frontier_.wants_zeros()) return;
    if (filler_.joinable()) return wanted_.notify_one();
    try {
      filler_ = std::thread([this] { fill(); });
    } catch (const std::system_error&) {
      frontier_.give_up();
    }
  }

  void end_filling() {
    {
      const Lock lock(mutex_);
      ended_ = true;
    }
    wanted_.notify_one();
    if (filler_.joinable()) filler_.join();
  }

  void fill() {
    std::unique_ptr<rocksdb::FSRandomRWFile> file;
    bool fails = !files_->NewRandomRWFile(name_, rocksdb::FileOptions(), &file, nullptr).ok();
    Lock lock(mutex_);
    while (!ended_ && !fails) {
      const auto range = frontier_.fill();
      if (!range) {
        wanted_.wait(lock);
        continue;
      }
      lock.unlock();
      fails = !put_zeros(*file, *range);
      lock.lock();
      if (fails) break;
      frontier_.filled();
      filled_.notify_all();
      // On the disk before they are written over: else the sync of what is written has to bring them there.
      lock.unlock();
      fails = !file->Sync(IOOptions(), nullptr).ok();
      lock.lock();
    }
    frontier_.give_up();
    filled_.notify_all();
  }

  static bool put_zeros(rocksdb::FSRandomRWFile& file, const ZeroFrontier::Range& range) {
    static constexpr std::array<char, zeros_a_write> zeros{};
    for (auto at = range.from; at < range.until; at += zeros.size()) {
      const auto bytes = std::min<std::uint64_t>(zeros.size(), range.until - at);
      if (!file.Write(at, Slice(zeros.data(), bytes), IOOptions(), nullptr).ok()) return false;
    }
    return true;
  }

  const std::shared_ptr<rocksdb::FileSystem> files_;
  const std::string name_;
  std::mutex mutex_;
  std::condition_variable filled_;  ///< for the writer
  std::condition_variable wanted_;  ///< for the filler
  ZeroFrontier frontier_;
  bool ended_ = false;
  std::thread filler_;  ///< once there is something to fill
};

class ZeroedLogFiles final : public rocksdb::FileSystemWrapper {
 public:
  ZeroedLogFiles(const std::shared_ptr<rocksdb::FileSystem>& files, std::size_t zeros_max, bool everywhere)
      : FileSystemWrapper(files), files_(files), zeros_max_(zeros_max), everywhere_(everywhere) {}
  [[nodiscard]] const char* Name() const override { return "evershard.ZeroedLogFiles"; }

  IOStatus NewWritableFile(const std::string& name, const rocksdb::FileOptions& options,
                           std::unique_ptr<rocksdb::FSWritableFile>* result, IODebugContext* debug) override {
    auto status = target()->NewWritableFile(name, options, result, debug);
    if (!status.ok() || !name.ends_with(".log") || (*result)->use_direct_io() ||
        !(everywhere_ || writes_in_place(name)))
      return status;
    *result = std::make_unique<ZeroedLog>(std::move(*result), files_, name, zeros_max_);
    return status;
  }

 private:
  const std::shared_ptr<rocksdb::FileSystem> files_;
  const std::size_t zeros_max_;
  const bool everywhere_;
};

}  // namespace

std::shared_ptr<rocksdb::Env> with_zeroed_logs(rocksdb::Env* base, std::size_t zeros_max, bool everywhere) {
  auto* const env = base != nullptr ? base : rocksdb::Env::Default();
  if (zeros_max == 0) return {std::shared_ptr<void>(), env};
  return rocksdb::NewCompositeEnv(std::make_shared<ZeroedLogFiles>(env->GetFileSystem(), zeros_max, everywhere));
}

}  // namespace evershard::storage
