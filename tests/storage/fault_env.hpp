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
                                    std::unique_ptr<rocksdb::FSWritableFile>* result, rocksdb::IODebugContext* debug) override {
    if (auto fault = write_fault(); !fault.ok()) return fault;
    auto status = target()->NewWritableFile(name, options, result, debug);
    return wrapped(name, 0, std::move(status), result);
  }
  rocksdb::IOStatus ReopenWritableFile(const std::string& name, const rocksdb::FileOptions& options,
                                       std::unique_ptr<rocksdb::FSWritableFile>* result, rocksdb::IODebugContext* debug) override {
    if (auto fault = write_fault(); !fault.ok()) return fault;
    auto status = target()->ReopenWritableFile(name, options, result, debug);
    std::error_code ignored;
    return wrapped(name, std::filesystem::file_size(name, ignored), std::move(status), result);
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
  rocksdb::IOStatus DeleteFile(const std::string& name, const rocksdb::IOOptions& options, rocksdb::IODebugContext* debug) override {
    if (auto fault = write_fault(); !fault.ok()) return fault;
    return target()->DeleteFile(name, options, debug);
  }

  rocksdb::IOStatus NewDirectory(const std::string& name, const rocksdb::IOOptions& options, std::unique_ptr<rocksdb::FSDirectory>* result,
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
  std::atomic<int> syncs_to_fail{0};
  std::atomic<bool> broken{false};  ///< every sync fails until mended

  /// Cuts every file down to what was synced and, at random, some of what was not; the rest may hold a hole.
  void lose_unsynced(std::uint64_t seed) {
    std::mt19937_64 random(seed);
    std::lock_guard lock(mutex_);
    for (const auto& [name, synced] : synced_) {
      std::error_code error;
      auto size = std::filesystem::file_size(name, error);
      if (error || size <= synced) continue;
      auto kept = synced + random() % (size - synced + 1);
      std::filesystem::resize_file(name, kept, error);
      if (kept - synced > 16 && random() % 2 == 0) {
        std::fstream file(name, std::ios::in | std::ios::out | std::ios::binary);
        file.seekp(static_cast<std::streamoff>(synced + random() % (kept - synced - 8)));
        file.write("\0\0\0\0\0\0\0\0", 8);
      }
    }
    synced_.clear();
  }

 private:
  class File final : public rocksdb::FSWritableFileOwnerWrapper {
   public:
    File(FaultFiles& files, std::string name, std::unique_ptr<rocksdb::FSWritableFile>&& file)
        : FSWritableFileOwnerWrapper(std::move(file)), files_(files), name_(std::move(name)) {}

    rocksdb::IOStatus Append(const rocksdb::Slice& data, const rocksdb::IOOptions& options, rocksdb::IODebugContext* debug) override {
      if (auto fault = files_.write_fault(name_); !fault.ok()) return fault;
      return FSWritableFileOwnerWrapper::Append(data, options, debug);
    }
    rocksdb::IOStatus Append(const rocksdb::Slice& data, const rocksdb::IOOptions& options,
                             const rocksdb::DataVerificationInfo& verification, rocksdb::IODebugContext* debug) override {
      if (auto fault = files_.write_fault(name_); !fault.ok()) return fault;
      return FSWritableFileOwnerWrapper::Append(data, options, verification, debug);
    }
    rocksdb::IOStatus Sync(const rocksdb::IOOptions& options, rocksdb::IODebugContext* debug) override {
      if (auto fault = files_.sync_fault(name_); !fault.ok()) return fault;
      if (files_.lazy) return rocksdb::IOStatus::OK();
      std::error_code ignored;
      auto size = std::filesystem::file_size(name_, ignored);
      auto status = FSWritableFileOwnerWrapper::Sync(options, debug);
      if (status.ok()) files_.synced(name_, size);
      return status;
    }
    rocksdb::IOStatus Fsync(const rocksdb::IOOptions& options, rocksdb::IODebugContext* debug) override { return Sync(options, debug); }
    rocksdb::IOStatus Truncate(std::uint64_t size, const rocksdb::IOOptions& options, rocksdb::IODebugContext* debug) override {
      if (files_.power_lost) return rocksdb::IOStatus::IOError("the power is gone");  // closing a log would cut its tail off
      return FSWritableFileOwnerWrapper::Truncate(size, options, debug);
    }

   private:
    FaultFiles& files_;
    const std::string name_;
  };

  class LazyDirectory final : public rocksdb::FSDirectory {
    rocksdb::IOStatus Fsync(const rocksdb::IOOptions&, rocksdb::IODebugContext*) override { return rocksdb::IOStatus::OK(); }
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
  rocksdb::IOStatus wrapped(const std::string& name, std::uint64_t size, rocksdb::IOStatus status, std::unique_ptr<rocksdb::FSWritableFile>* result) {
    if (!status.ok()) return status;
    synced(name, size);
    *result = std::make_unique<File>(*this, name, std::move(*result));
    return status;
  }
  void synced(const std::string& name, std::uint64_t size) {
    std::lock_guard lock(mutex_);
    synced_[name] = size;
  }
  void carry(const std::string& from, const std::string& to, bool move) {
    std::lock_guard lock(mutex_);
    auto known = synced_.find(from);
    if (known == synced_.end()) return;
    synced_[to] = known->second;
    if (move) synced_.erase(known);
  }

  std::mutex mutex_;
  std::map<std::string, std::uint64_t> synced_;  // by file: how much of it would survive
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
  /// From now on nothing reaches the disk. Then close the store, and lose_unsynced().
  void cut_power() { files_->power_lost = true; }
  /// What a disk may look like afterwards; the power is back.
  void lose_unsynced(std::uint64_t seed) {
    files_->lose_unsynced(seed);
    files_->power_lost = false;
  }

 private:
  std::shared_ptr<FaultFiles> files_;
  std::unique_ptr<rocksdb::Env> env_;
};

}  // namespace evershard::storage
