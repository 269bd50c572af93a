// Numbers in stored values: varints, zigzag, little-endian fixed widths; read within bounds, whatever the bytes.
//
// Source: docs/internals/on-disk-format.md, "Numbers".

#pragma once

#include <array>
#include <bit>
#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>

namespace evershard::storage {

static_assert(std::endian::native == std::endian::little, "fixed widths are copied as they are");

inline constexpr std::size_t varint_bytes_max = 10;

constexpr std::size_t varint_size(std::uint64_t value) {
  return (static_cast<std::size_t>(std::bit_width(value | 1)) + 6) / 7;
}

/// Seven bits a byte, the lowest first; the top bit says that more follow. Returns: behind the last byte.
inline char* put_varint(char* at, std::uint64_t value) {
  while (value >= 0x80) {
    *at++ = static_cast<char>(value | 0x80);
    value >>= 7;
  }
  *at++ = static_cast<char>(value);
  return at;
}

inline void append_varint(std::string& out, std::uint64_t value) {
  for (; value >= 0x80; value >>= 7) out += static_cast<char>(value | 0x80);
  out += static_cast<char>(value);
}

template <class T>
char* put_fixed(char* at, T value) {
  std::memcpy(at, &value, sizeof value);
  return at + sizeof value;
}

template <class T>
void append_fixed(std::string& out, T value) {
  std::array<char, sizeof(T)> buffer;
  put_fixed(buffer.data(), value);
  out.append(buffer.data(), buffer.size());
}

template <class T>
T get_fixed(const char* at) {
  T value;
  std::memcpy(&value, at, sizeof value);
  return value;
}

inline char* put_bytes(char* at, std::string_view bytes) {
  if (!bytes.empty()) std::memcpy(at, bytes.data(), bytes.size());
  return at + bytes.size();
}

/// Small in either direction. Of differences modulo 2^64, so that every pair of numbers has one.
constexpr std::uint64_t zigzag(std::uint64_t difference) {
  return (difference << 1) ^ (std::uint64_t{0} - (difference >> 63));
}
constexpr std::uint64_t unzigzag(std::uint64_t value) { return (value >> 1) ^ (std::uint64_t{0} - (value & 1)); }

/// The part of get_varint() behind the first byte.
const char* get_long_varint(const char* at, const char* end, std::uint64_t& value);

/// Returns: behind the last byte; nullptr where the bytes end, the number has more than 64 bits, or it has a shorter
/// form.
inline const char* get_varint(const char* at, const char* end, std::uint64_t& value) {
  if (at != end) [[likely]] {
    const auto byte = static_cast<unsigned char>(*at);
    if (byte < 0x80) [[likely]] {
      value = byte;
      return at + 1;
    }
  }
  return get_long_varint(at, end, value);
}

/// Takes numbers and bytes from the front. After the first thing that is not there, everything is zero and ok() is
/// false.
class ByteReader {
 public:
  explicit ByteReader(std::string_view bytes) : at_(bytes.data()), end_(bytes.data() + bytes.size()) {}

  [[nodiscard]] bool ok() const { return at_ != nullptr; }
  [[nodiscard]] bool done() const { return ok() && at_ == end_; }  ///< nothing is left, nothing was missing
  [[nodiscard]] std::size_t left() const { return ok() ? static_cast<std::size_t>(end_ - at_) : 0; }

  std::uint64_t varint() {
    std::uint64_t value = 0;
    if (!ok()) return 0;
    at_ = get_varint(at_, end_, value);
    return ok() ? value : 0;
  }
  /// A varint of at most `most`.
  std::uint64_t varint(std::uint64_t most) {
    const std::uint64_t value = varint();
    if (value <= most) return value;
    fail();
    return 0;
  }
  template <class T>
  T fixed() {
    const std::string_view taken = bytes(sizeof(T));
    return taken.empty() ? T{} : get_fixed<T>(taken.data());
  }
  std::string_view bytes(std::uint64_t size) {
    if (size > left()) {
      fail();
      return {};
    }
    const std::string_view taken(at_, size);
    at_ += size;
    return taken;
  }
  std::string_view rest() { return bytes(left()); }
  void fail() { at_ = end_ = nullptr; }

 private:
  const char* at_;
  const char* end_;
};

}  // namespace evershard::storage
