#include "evershard/api/json/output.hpp"

#include <unistd.h>

#include <cerrno>
#include <cstring>

namespace evershard {

void Output::write(std::string_view text) {
  constexpr std::size_t buffered_bytes = 64u << 10;
  if (ended()) return;
  buffer_ += text;
  if (buffer_.size() >= buffered_bytes) flush();
}

void Output::flush() {
  std::string_view rest = buffer_;
  while (!rest.empty() && !ended()) {
    const auto written = ::write(descriptor_, rest.data(), rest.size());
    if (written >= 0) {
      rest.remove_prefix(static_cast<std::size_t>(written));
    } else if (errno == EPIPE || errno == EBADF) {
      closed_ = true;
    } else if (errno != EINTR) {
      error_ = errno;
    }
  }
  buffer_.clear();
}

Result<void> Output::status() const {
  if (error_ == 0) return {};
  return refuse(ErrorCode::io, std::string("the output cannot be written: ") + std::strerror(error_));
}

Result<void> Output::whole() const {
  if (closed_) return refuse(ErrorCode::io, "the output is not whole: its reader went away");
  return status();
}

}  // namespace evershard
