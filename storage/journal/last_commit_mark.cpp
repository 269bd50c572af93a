#include "evershard/storage/journal/last_commit_mark.hpp"

#include <array>
#include <cerrno>
#include <cstring>
#include <string>

#include <fcntl.h>
#include <unistd.h>
#include <xxhash.h>

namespace evershard::storage {
namespace {

constexpr std::size_t slot_bytes = 32;
constexpr off_t slot_at[] = {0, 512};
constexpr std::size_t file_bytes = 1024;
constexpr char magic[] = {'E', 'V', 'M', 'K'};
constexpr std::uint32_t version = 1;
using Slot = std::array<unsigned char, slot_bytes>;

void put(unsigned char* at, std::uint64_t value, int bytes) {
  for (int i = 0; i < bytes; ++i) at[i] = static_cast<unsigned char>(value >> (8 * (bytes - 1 - i)));
}

std::uint64_t take(const unsigned char* at, int bytes) {
  std::uint64_t value = 0;
  for (int i = 0; i < bytes; ++i) value = value << 8 | at[i];
  return value;
}

Slot encode(const LastCommitMark::Value& value) {
  Slot slot{};
  std::memcpy(slot.data(), magic, sizeof magic);
  put(&slot[4], version, 4);
  put(&slot[8], value.cut.value, 8);
  put(&slot[16], value.watermark.value, 8);
  put(&slot[24], XXH64(slot.data(), 24, 0), 8);
  return slot;
}

std::optional<LastCommitMark::Value> decode(const Slot& slot) {
  if (std::memcmp(slot.data(), magic, sizeof magic) != 0 || take(&slot[4], 4) != version) return std::nullopt;
  if (take(&slot[24], 8) != XXH64(slot.data(), 24, 0)) return std::nullopt;
  return LastCommitMark::Value{CutNumber{take(&slot[8], 8)}, GlobalPosition{take(&slot[16], 8)}};
}

Refused failed(const std::filesystem::path& path, const char* doing) {
  return refuse(ErrorCode::io, std::string("cannot ") + doing + " " + path.string() + ": " + std::strerror(errno));
}

}  // namespace

Result<std::optional<LastCommitMark::Value>> LastCommitMark::read(const std::filesystem::path& path) {
  int file = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (file < 0) {
    if (errno == ENOENT) return std::nullopt;
    return failed(path, "open");
  }
  std::optional<Value> newest;
  for (auto at : slot_at) {
    Slot slot{};
    auto got = ::pread(file, slot.data(), slot.size(), at);
    if (got < 0) {
      auto error = failed(path, "read");
      ::close(file);
      return error;
    }
    auto value = decode(slot);
    if (value && (!newest || value->watermark > newest->watermark)) newest = value;
  }
  ::close(file);
  return newest;
}

Result<std::unique_ptr<LastCommitMark>> LastCommitMark::open(const std::filesystem::path& path) {
  int file = ::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0644);
  if (file < 0) return failed(path, "open");
  std::unique_ptr<LastCommitMark> mark(new LastCommitMark(file));
  auto size = ::lseek(file, 0, SEEK_END);
  if (size < static_cast<off_t>(file_bytes)) {
    std::array<char, file_bytes> zeros{};
    if (::pwrite(file, zeros.data(), zeros.size(), 0) != static_cast<ssize_t>(zeros.size()) || ::fsync(file) != 0)
      return failed(path, "write");
  }
  return mark;
}

LastCommitMark::~LastCommitMark() { ::close(file_); }

void LastCommitMark::update(const Value& value) {
  auto slot = encode(value);
  if (::pwrite(file_, slot.data(), slot.size(), slot_at[writes_++ % 2]) != static_cast<ssize_t>(slot.size()))
    ++failures_;
}

}  // namespace evershard::storage
