// FaultEnv: a disk that fails on request: a sync that does not succeed, a full disk, loss of power.

#pragma once

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <map>
#include <memory>
#include <mutex>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include <rocksdb/env.h>
#include <rocksdb/file_system.h>

namespace evershard::storage {

/// RocksDB's files on the real file system, with the faults below and a record of what was synced.
class FaultFiles final : public rocksdb::FileSystemWrapper {
 public:
  FaultFiles() : FileSystemWrapper(rocksdb::FileSystem::Default()) {}
  [[nodiscard]] const char* Name() const override { return "FaultFiles"; }

  rocksdb::IOStatus NewWritableFile(const std::string& name, const rocksdb::FileOptions& options,
                                    std::unique_ptr<rocksdb::FSWritableFile>* result,
                                    rocksdb::IODebugContext* debug) override {
    if (auto fault = write_fault(); !fault.ok()) return fault;
    auto status = target()->NewWritableFile(name, options, result, debug);
    return wrapped(name, 0, std::move(status), result);
  }
  rocksdb::IOStatus ReopenWritableFile(const std::string& name, const rocksdb::FileOptions& options,
                                       std::unique_ptr<rocksdb::FSWritableFile>* result,
                                       rocksdb::IODebugContext* debug) override {
    if (auto fault = write_fault(); !fault.ok()) return fault;
    auto status = target()->ReopenWritableFile(name, options, result, debug);
    std::error_code ignored;
    return wrapped(name, std::filesystem::file_size(name, ignored), std::move(status), result);
  }
  rocksdb::IOStatus NewRandomRWFile(const std::string& name, const rocksdb::FileOptions& options,
                                    std::unique_ptr<rocksdb::FSRandomRWFile>* result,
                                    rocksdb::IODebugContext* debug) override {
    if (auto fault = write_fault(name); !fault.ok()) return fault;
    auto status = target()->NewRandomRWFile(name, options, result, debug);
    if (status.ok()) *result = std::make_unique<RandomFile>(*this, name, std::move(*result));
    return status;
  }
  rocksdb::IOStatus RenameFile(const std::string& from, const std::string& to, const rocksdb::IOOptions& options,
                               rocksdb::IODebugContext* debug) override {
    if (auto fault = write_fault(); !fault.ok()) return fault;
    auto status = target()->RenameFile(from, to, options, debug);
    if (status.ok()) carry(from, to, true);
    return status;
  }
  rocksdb::IOStatus LinkFile(const std::string& from, const std::string& to, const rocksdb::IOOptions& options,
                             rocksdb::IODebugContext* debug) override {
    if (auto fault = write_fault(); !fault.ok()) return fault;
    auto status = target()->LinkFile(from, to, options, debug);
    if (status.ok()) carry(from, to, false);
    return status;
  }
  rocksdb::IOStatus DeleteFile(const std::string& name, const rocksdb::IOOptions& options,
                               rocksdb::IODebugContext* debug) override {
    if (auto fault = write_fault(); !fault.ok()) return fault;
    return target()->DeleteFile(name, options, debug);
  }

  rocksdb::IOStatus NewDirectory(const std::string& name, const rocksdb::IOOptions& options,
                                 std::unique_ptr<rocksdb::FSDirectory>* result,
                                 rocksdb::IODebugContext* debug) override {
    auto status = target()->NewDirectory(name, options, result, debug);
    if (status.ok() && lazy) *result = std::make_unique<LazyDirectory>();
    return status;
  }

  // What FaultEnv asks for.
  std::atomic<bool> lazy{false};
  std::atomic<bool> power_lost{false};
  std::atomic<bool> full{false};
  std::atomic<bool> log_full{false};
  std::atomic<bool> random_full{false};
  std::atomic<int> syncs_to_fail{0};
  std::atomic<bool> broken{false};  ///< every sync fails until mended
  std::uint64_t sectors_lost_over_zeros = 0;

  /// Cuts every file down to what was synced and, at random, some of what was not; the rest may hold a hole. Where what
  /// was not synced was written over zeros, any of its sectors may be zeros still.
  void lose_unsynced(std::uint64_t seed) {
    std::mt19937_64 random(seed);
    std::lock_guard lock(mutex_);
    for (const auto& [name, known] : synced_) {
      std::error_code error;
      const auto size = std::filesystem::file_size(name, error);
      if (error) continue;
      const bool over_zeros = size > known.written;
      const auto kept = size <= known.size ? size : known.size + random() % (size - known.size + 1);
      if (kept < size) std::filesystem::resize_file(name, kept, error);
      const auto end = std::min<std::uint64_t>(kept, known.written);
      if (end <= known.synced) continue;
      std::fstream file(name, std::ios::in | std::ios::out | std::ios::binary);
      const auto zero = [&](std::uint64_t from, std::uint64_t until) {
        file.seekp(static_cast<std::streamoff>(from));
        file.write(std::string(until - from, '\0').data(), static_cast<std::streamsize>(until - from));
      };
      if (end - known.synced > 16 && random() % 2 == 0) {
        const auto hole = known.synced + random() % (end - known.synced - 8);
        zero(hole, hole + 8);
      }
      for (auto at = known.synced; over_zeros && at < end;) {
        const auto behind = std::min(end, (at / sector_bytes + 1) * sector_bytes);
        if (random() % 2 == 0) {
          zero(at, behind);
          ++sectors_lost_over_zeros;
        }
        at = behind;
      }
    }
    synced_.clear();
  }

 private:
  class File final : public rocksdb::FSWritableFileOwnerWrapper {
   public:
    File(FaultFiles& files, std::string name, std::uint64_t size, std::unique_ptr<rocksdb::FSWritableFile>&& file)
        : FSWritableFileOwnerWrapper(std::move(file)), files_(files), name_(std::move(name)), written_(size) {}

    rocksdb::IOStatus Append(const rocksdb::Slice& data, const rocksdb::IOOptions& options,
                             rocksdb::IODebugContext* debug) override {
      if (auto fault = files_.write_fault(name_); !fault.ok()) return fault;
      files_.wrote(name_, written_ += data.size());
      return FSWritableFileOwnerWrapper::Append(data, options, debug);
    }
    rocksdb::IOStatus Append(const rocksdb::Slice& data, const rocksdb::IOOptions& options,
                             const rocksdb::DataVerificationInfo& verification,
                             rocksdb::IODebugContext* debug) override {
      if (auto fault = files_.write_fault(name_); !fault.ok()) return fault;
      files_.wrote(name_, written_ += data.size());
      return FSWritableFileOwnerWrapper::Append(data, options, verification, debug);
    }
    rocksdb::IOStatus Sync(const rocksdb::IOOptions& options, rocksdb::IODebugContext* debug) override {
      if (auto fault = files_.sync_fault(name_); !fault.ok()) return fault;
      if (files_.lazy) return rocksdb::IOStatus::OK();
      std::error_code ignored;
      const auto size = std::filesystem::file_size(name_, ignored);
      const auto written = written_.load();
      auto status = FSWritableFileOwnerWrapper::Sync(options, debug);
      if (status.ok()) files_.synced(name_, size, written);
      return status;
    }
    rocksdb::IOStatus Fsync(const rocksdb::IOOptions& options, rocksdb::IODebugContext* debug) override {
      return Sync(options, debug);
    }
    rocksdb::IOStatus Truncate(std::uint64_t size, const rocksdb::IOOptions& options,
                               rocksdb::IODebugContext* debug) override {
      if (files_.power_lost) return rocksdb::IOStatus::IOError("the power is gone");
      return FSWritableFileOwnerWrapper::Truncate(size, options, debug);
    }
    /// What is beneath cuts off what lies behind the last byte, also while the power is gone: then the zeros come back.
    rocksdb::IOStatus Close(const rocksdb::IOOptions& options, rocksdb::IODebugContext* debug) override {
      std::error_code error;
      const auto size = std::filesystem::file_size(name_, error);
      auto status = FSWritableFileOwnerWrapper::Close(options, debug);
      if (files_.power_lost && !error) std::filesystem::resize_file(name_, size, error);
      return status;
    }

   private:
    FaultFiles& files_;
    const std::string name_;
    std::atomic<std::uint64_t> written_;
  };

  class RandomFile final : public rocksdb::FSRandomRWFileOwnerWrapper {
   public:
    RandomFile(FaultFiles& files, std::string name, std::unique_ptr<rocksdb::FSRandomRWFile>&& file)
        : FSRandomRWFileOwnerWrapper(std::move(file)), files_(files), name_(std::move(name)) {}
    rocksdb::IOStatus Write(std::uint64_t at, const rocksdb::Slice& data, const rocksdb::IOOptions& options,
                            rocksdb::IODebugContext* debug) override {
      if (auto fault = files_.write_fault(name_); !fault.ok()) return fault;
      if (files_.random_full) return rocksdb::IOStatus::NoSpace("the disk is full");
      return FSRandomRWFileOwnerWrapper::Write(at, data, options, debug);
    }
    rocksdb::IOStatus Sync(const rocksdb::IOOptions& options, rocksdb::IODebugContext* debug) override {
      return files_.lazy ? rocksdb::IOStatus::OK() : FSRandomRWFileOwnerWrapper::Sync(options, debug);
    }

   private:
    FaultFiles& files_;
    const std::string name_;
  };

  class LazyDirectory final : public rocksdb::FSDirectory {
    rocksdb::IOStatus Fsync(const rocksdb::IOOptions&, rocksdb::IODebugContext*) override {
      return rocksdb::IOStatus::OK();
    }
  };

  rocksdb::IOStatus write_fault(const std::string& name = {}) const {
    if (power_lost) return rocksdb::IOStatus::IOError("the power is gone");
    if (full || (log_full && name.ends_with(".log"))) return rocksdb::IOStatus::NoSpace("the disk is full");
    return rocksdb::IOStatus::OK();
  }
  rocksdb::IOStatus sync_fault(const std::string& name) {
    if (power_lost) return rocksdb::IOStatus::IOError("the power is gone");
    if (!name.ends_with(".log")) return rocksdb::IOStatus::OK();
    if (broken) return rocksdb::IOStatus::IOError("EIO");
    for (int left = syncs_to_fail; left > 0;)
      if (syncs_to_fail.compare_exchange_weak(left, left - 1)) return rocksdb::IOStatus::IOError("EIO");
    return rocksdb::IOStatus::OK();
  }
  rocksdb::IOStatus wrapped(const std::string& name, std::uint64_t size, rocksdb::IOStatus status,
                            std::unique_ptr<rocksdb::FSWritableFile>* result) {
    if (!status.ok()) return status;
    wrote(name, size);
    synced(name, size, size);
    *result = std::make_unique<File>(*this, name, size, std::move(*result));
    return status;
  }
  void wrote(const std::string& name, std::uint64_t written) {
    std::lock_guard lock(mutex_);
    synced_[name].written = written;
  }
  void synced(const std::string& name, std::uint64_t size, std::uint64_t written) {
    std::lock_guard lock(mutex_);
    auto& known = synced_[name];
    known.size = size;
    known.synced = written;
  }
  void carry(const std::string& from, const std::string& to, bool move) {
    std::lock_guard lock(mutex_);
    auto known = synced_.find(from);
    if (known == synced_.end()) return;
    synced_[to] = known->second;
    if (move) synced_.erase(known);
  }

  static constexpr std::uint64_t sector_bytes = 512;
  struct Known {
    std::uint64_t written = 0;  ///< by who writes it from its beginning; zeros may lie behind that
    std::uint64_t synced = 0;   ///< so much of that would survive
    std::uint64_t size = 0;     ///< and so much of the file's length
  };
  std::mutex mutex_;
  std::map<std::string, Known> synced_;  // by file
};

/// Give `env()` to StoreOptions::env. Outlives the stores that use it.
class FaultEnv {
 public:
  FaultEnv() : files_(std::make_shared<FaultFiles>()), env_(rocksdb::NewCompositeEnv(files_)) {}
  [[nodiscard]] rocksdb::Env* env() const { return env_.get(); }

  /// The next syncs of the log fail with EIO.
  void fail_next_sync(int times = 1) { files_->syncs_to_fail = times; }
  void break_log() { files_->broken = true; }
  /// Nothing is synced from now on: for tests that open many stores and lose no power.
  void skip_syncs() { files_->lazy = true; }
  /// Every write fails with ENOSPC, until there is room again.
  void fill_disk() { files_->full = true; }
  void free_disk() { files_->full = files_->log_full = false; }
  /// The same of the log alone.
  void fill_log() { files_->log_full = true; }
  /// ENOSPC for what is written anywhere but at the end of a file.
  void refuse_random_writes() { files_->random_full = true; }
  /// From now on nothing reaches the disk. Then close the store, and lose_unsynced().
  void cut_power() { files_->power_lost = true; }
  /// What a disk may look like afterwards; the power is back.
  void lose_unsynced(std::uint64_t seed) {
    files_->lose_unsynced(seed);
    files_->power_lost = false;
  }
  /// How many sectors were zeros again after a loss of power.
  [[nodiscard]] std::uint64_t sectors_lost_over_zeros() const { return files_->sectors_lost_over_zeros; }

 private:
  std::shared_ptr<FaultFiles> files_;
  std::unique_ptr<rocksdb::Env> env_;
};

}  // namespace evershard::storage
