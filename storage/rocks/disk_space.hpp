// DiskSpace: whether the disk has room for what is still to be written, asked now and then and answered at once.

#pragma once

#include <atomic>
#include <cstdint>
#include <filesystem>
#include <memory>

namespace evershard::storage {

/// What a database has in memory is to be written still: memtables, tails that are not sealed. So much has to stay
/// free, whatever the reserve says, for a RocksDB that cannot write what it has in memory writes nothing any more, and
/// one with assertions aborts. Databases of one process on one disk know of each other.
///
/// One thread polls, any thread looks.
class DiskSpace {
 public:
  DiskSpace(std::filesystem::path folder, std::uint64_t reserve_bytes);
  ~DiskSpace();
  DiskSpace(const DiskSpace&) = delete;

  /// `unwritten_bytes`: what its database has in memory alone. Cost: one statvfs, about 1 us. A figure that the system
  /// does not give stays as it was.
  void poll(std::uint64_t unwritten_bytes);
  /// To a log, since the last poll: that much less is free, and it is to be written once more.
  void wrote(std::uint64_t bytes);

  [[nodiscard]] std::uint64_t free_bytes() const;
  /// The reserve, or more where more is still to be written.
  [[nodiscard]] std::uint64_t needed_bytes() const;
  [[nodiscard]] bool below_reserve() const { return free_bytes() < needed_bytes(); }
  /// Asked now: a merge would take the room of what is still to be written.
  [[nodiscard]] bool has_room_to_merge() const;

 private:
  /// Of one disk.
  struct Disk {
    std::atomic<std::uint64_t> unwritten{0};
  };
  [[nodiscard]] static std::shared_ptr<Disk> disk_of(const std::filesystem::path& folder);
  void set_unwritten(std::uint64_t bytes);

  const std::filesystem::path folder_;
  const std::uint64_t reserve_;
  const std::shared_ptr<Disk> disk_;
  std::atomic<std::uint64_t> free_{~std::uint64_t{0}};
  std::atomic<std::uint64_t> unwritten_{0};
};

/// Before a database is opened: what its logs hold is written to tables by that, and nothing of it goes before.
struct RoomToOpen {
  std::uint64_t free = 0;
  std::uint64_t needed = 0;
  [[nodiscard]] bool there() const { return free >= needed; }
};
[[nodiscard]] RoomToOpen room_to_open(const std::filesystem::path& database);

}  // namespace evershard::storage
