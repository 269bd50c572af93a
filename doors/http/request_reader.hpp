// RequestReader: bytes in, one request out, within limits.

#pragma once

#include <cstddef>
#include <memory>
#include <string>

#include "evershard/doors/http/request.hpp"
#include "evershard/doors/http/response.hpp"
#include "tl/expected.hpp"

namespace evershard::http {

/// Of one request; the next one gets a new reader, and the bytes that are left over.
class RequestReader {
 public:
  enum class Step {
    more,  ///< nothing further without more bytes
    head,  ///< the header is known: told once; whoever goes on reads the body
    whole,
  };

  RequestReader(std::size_t header_bytes_max, std::size_t body_bytes_max);
  ~RequestReader();
  RequestReader(const RequestReader&) = delete;

  /// Takes from the front of `bytes` what it can use; call it with the same bytes and what came behind them.
  ///
  /// Shape:  what it leaves is bounded: at most `header_bytes_max` bytes.
  /// Errors: 400 (no HTTP/1), 413, 431 (also of what stands between chunks and behind them); then the connection is of
  /// no use any more
  [[nodiscard]] tl::expected<Step, Refusal> feed(std::string& bytes);

  /// From `head` on, without the body.
  [[nodiscard]] const Request& head() const;
  /// Bytes of the body so far.
  [[nodiscard]] std::size_t body_bytes() const;
  /// Once, when whole.
  [[nodiscard]] Request take();

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace evershard::http
