#include "evershard/storage/rocks/disk_space.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <map>
#include <mutex>
#include <optional>
#include <system_error>
#include <utility>

#include "evershard/storage/files/descriptor.hpp"

namespace evershard::storage {
namespace {

constexpr std::uint64_t mebibyte = 1u << 20;
/// The first bytes of files, a new manifest, zeros ahead of a log.
constexpr std::uint64_t room_for_the_rest = 12 * mebibyte;
constexpr std::uint64_t room_for_first_bytes = 2 * mebibyte;

std::optional<std::uint64_t> free_on_disk_of(const std::filesystem::path& folder) {
  struct statvfs disk {};
  if (::statvfs(folder.c_str(), &disk) != 0) return std::nullopt;
  return static_cast<std::uint64_t>(disk.f_bavail) * disk.f_frsize;
}

/// Without the zeros that are put ahead of what is written.
std::uint64_t bytes_in_log(const std::filesystem::path& path) {
  const Descriptor log(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  struct stat found {};
  if (!log.is_open() || ::fstat(log.number(), &found) != 0) return 0;
  std::array<char, 64u << 10> piece{};
  for (auto end = static_cast<std::uint64_t>(found.st_size); end != 0;) {
    const auto from = end - std::min<std::uint64_t>(end, piece.size());
    const auto read = ::pread(log.number(), piece.data(), end - from, static_cast<off_t>(from));
    if (read <= 0) return end;
    const auto size = static_cast<std::size_t>(read);
    if (piece[0] == 0 && std::memcmp(piece.data(), piece.data() + 1, size - 1) == 0) {
      end = from;
      continue;
    }
    const auto last = std::find_if(piece.rend() - read, piece.rend(), [](char byte) { return byte != 0; });
    if (last != piece.rend()) return from + static_cast<std::uint64_t>(piece.rend() - last);
    end = from;
  }
  return 0;
}

}  // namespace

std::shared_ptr<DiskSpace::Disk> DiskSpace::disk_of(const std::filesystem::path& folder) {
  static std::mutex mutex;
  static std::map<dev_t, std::weak_ptr<Disk>> disks;
  struct stat found {};
  if (::stat(folder.c_str(), &found) != 0) return std::make_shared<Disk>();
  const std::lock_guard lock(mutex);
  auto& known = disks[found.st_dev];
  auto disk = known.lock();
  if (!disk) known = disk = std::make_shared<Disk>();
  return disk;
}

DiskSpace::DiskSpace(std::filesystem::path folder, std::uint64_t reserve_bytes)
    : folder_(std::move(folder)), reserve_(reserve_bytes), disk_(disk_of(folder_)) {
  poll(0);
}

DiskSpace::~DiskSpace() { set_unwritten(0); }

void DiskSpace::set_unwritten(std::uint64_t bytes) {
  const auto before = unwritten_.exchange(bytes, std::memory_order_relaxed);
  disk_->unwritten.fetch_add(bytes - before, std::memory_order_relaxed);  // modulo 2^64: less is added, too
}

void DiskSpace::poll(std::uint64_t unwritten_bytes) {
  set_unwritten(unwritten_bytes);
  if (const auto free = free_on_disk_of(folder_)) free_.store(*free, std::memory_order_relaxed);
}

void DiskSpace::wrote(std::uint64_t bytes) {
  set_unwritten(unwritten_.load(std::memory_order_relaxed) + bytes);
  const auto free = free_.load(std::memory_order_relaxed);
  free_.store(free - std::min(free, bytes), std::memory_order_relaxed);
}

std::uint64_t DiskSpace::free_bytes() const { return free_.load(std::memory_order_relaxed); }

std::uint64_t DiskSpace::needed_bytes() const {
  return std::max(reserve_, disk_->unwritten.load(std::memory_order_relaxed) + room_for_the_rest);
}

bool DiskSpace::has_room_to_merge() const {
  const auto free = free_on_disk_of(folder_);
  return !free || *free >= disk_->unwritten.load(std::memory_order_relaxed) + room_for_the_rest;
}

RoomToOpen room_to_open(const std::filesystem::path& database) {
  RoomToOpen room;
  const auto free = free_on_disk_of(database);
  if (!free) return room;
  room.free = *free;
  room.needed = room_for_first_bytes;
  std::error_code ignored;
  for (std::filesystem::directory_iterator at(database, ignored), end; at != end; at.increment(ignored)) {
    if (at->path().extension() == ".log") room.needed += bytes_in_log(at->path());
  }
  return room;
}

}  // namespace evershard::storage
