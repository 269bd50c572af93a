#include "evershard/doors/serving/gzip.hpp"

#include <zlib.h>

#include <limits>

#include "evershard/protocol/check.hpp"

namespace evershard::serving {
namespace {

constexpr int gzip_window = MAX_WBITS + 16;
constexpr std::size_t trailer_bytes = 8, header_bytes = 10;
/// Deflate packs no better.
constexpr std::size_t ratio_max = 1'032;

Bytef* zlib_bytes(std::string_view bytes) { return reinterpret_cast<Bytef*>(const_cast<char*>(bytes.data())); }

Refused damaged(std::string_view packed) {
  return refuse(ErrorCode::invalid_argument, std::to_string(packed.size()) + " bytes are no gzip, or damaged");
}

}  // namespace

std::string gzip(std::string_view bytes) {
  z_stream stream{};
  EVERSHARD_CHECK(
      deflateInit2(&stream, Z_BEST_SPEED, Z_DEFLATED, gzip_window, MAX_MEM_LEVEL, Z_DEFAULT_STRATEGY) == Z_OK,
      "zlib has no memory");
  EVERSHARD_CHECK(bytes.size() <= std::numeric_limits<uInt>::max(), "an answer is no larger than that");
  std::string packed(deflateBound(&stream, bytes.size()), '\0');
  stream.next_in = zlib_bytes(bytes);
  stream.avail_in = static_cast<uInt>(bytes.size());
  stream.next_out = reinterpret_cast<Bytef*>(packed.data());
  stream.avail_out = static_cast<uInt>(packed.size());
  const int done = deflate(&stream, Z_FINISH);
  packed.resize(stream.total_out);
  deflateEnd(&stream);
  EVERSHARD_CHECK(done == Z_STREAM_END, "there is room for as much as it can become");
  return packed;
}

Result<std::size_t> unpacked_bytes(std::string_view packed, std::size_t bytes_max) {
  if (!is_gzip(packed) || packed.size() < header_bytes + trailer_bytes) return damaged(packed);
  std::size_t bytes = 0;
  for (int i = 1; i <= 4; ++i)
    bytes = bytes << 8 | static_cast<unsigned char>(packed[packed.size() - static_cast<std::size_t>(i)]);
  if (bytes > packed.size() * ratio_max) return damaged(packed);
  if (bytes > bytes_max)
    return refuse(ErrorCode::too_large, "the message has " + std::to_string(bytes) + " bytes unpacked, the most is " +
                                            std::to_string(bytes_max));
  return bytes;
}

Result<void> unpack(std::string_view packed, std::span<char> into) {
  if (packed.size() > std::numeric_limits<uInt>::max() || into.size() > std::numeric_limits<uInt>::max())
    return damaged(packed);
  z_stream stream{};
  EVERSHARD_CHECK(inflateInit2(&stream, gzip_window) == Z_OK, "zlib has no memory");
  char nothing = 0;  // zlib wants a place even for none
  stream.next_in = zlib_bytes(packed);
  stream.avail_in = static_cast<uInt>(packed.size());
  stream.next_out = reinterpret_cast<Bytef*>(into.empty() ? &nothing : into.data());
  stream.avail_out = static_cast<uInt>(into.size());
  // Its checksum and length are looked at by zlib.
  const bool whole =
      inflate(&stream, Z_FINISH) == Z_STREAM_END && stream.avail_in == 0 && stream.total_out == into.size();
  inflateEnd(&stream);
  return whole ? Result<void>() : Result<void>(damaged(packed));
}

}  // namespace evershard::serving
