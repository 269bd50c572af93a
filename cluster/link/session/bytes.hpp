// ByteWriter and ByteReader: little-endian numbers and counted bytes, as all that the link itself puts on the wire is
// made of.

#pragma once

#include <concepts>
#include <cstdint>
#include <string>
#include <string_view>

namespace evershard::cluster {

class ByteWriter {
 public:
  /// Appends to `out`.
  explicit ByteWriter(std::string& out) : out_(out) {}

  template <std::unsigned_integral T>
  ByteWriter& number(T value) {
    char bytes[sizeof(T)];
    for (std::size_t i = 0; i < sizeof(T); ++i) bytes[i] = static_cast<char>(value >> (8 * i));
    out_.append(bytes, sizeof bytes);
    return *this;
  }
  ByteWriter& raw(std::string_view bytes) {
    out_.append(bytes);
    return *this;
  }
  /// Shape: at most 65,535 bytes
  ByteWriter& text(std::string_view bytes) { return number(static_cast<std::uint16_t>(bytes.size())).raw(bytes); }

 private:
  std::string& out_;
};

/// What does not fit reads as 0 or nothing, and the reader says so from then on: one look at the end is enough.
class ByteReader {
 public:
  explicit ByteReader(std::string_view bytes) : rest_(bytes) {}

  template <std::unsigned_integral T>
  T number() {
    const auto bytes = raw(sizeof(T));
    T value = 0;
    for (std::size_t i = bytes.size(); i-- > 0;)
      value = static_cast<T>(static_cast<std::uint64_t>(value) << 8 | static_cast<unsigned char>(bytes[i]));
    return value;
  }
  std::string_view raw(std::size_t count) {
    if (count > rest_.size()) {
      short_ = true;
      rest_ = {};
      return {};
    }
    const auto bytes = rest_.substr(0, count);
    rest_.remove_prefix(count);
    return bytes;
  }
  std::string_view text() { return raw(number<std::uint16_t>()); }

  /// A number or a text was read beyond the end of the bytes.
  [[nodiscard]] bool ran_short() const { return short_; }
  [[nodiscard]] std::size_t left() const { return rest_.size(); }

 private:
  std::string_view rest_;
  bool short_ = false;
};

}  // namespace evershard::cluster
