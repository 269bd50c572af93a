#include "evershard/cli/events/line_reader.hpp"

#include <poll.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

namespace evershard::cli {
namespace {

constexpr std::size_t read_bytes = 256u << 10;

bool blank(std::string_view text) { return text.find_first_not_of(" \t") == std::string_view::npos; }

}  // namespace

Result<LineReader::Filled> LineReader::fill() {
  if (begin_ > 0) {
    buffer_.erase(0, begin_);
    scanned_ -= begin_;
    begin_ = 0;
  }
  for (;;) {
    if (stop_ && stop_()) return Filled::stopped;
    struct pollfd poll {
      descriptor_, POLLIN, 0
    };
    const int ready = ::poll(&poll, 1, 100);
    if (ready == 0 || (ready < 0 && errno == EINTR)) continue;
    const std::size_t size = buffer_.size();
    buffer_.resize(size + read_bytes);
    const auto n = ::read(descriptor_, buffer_.data() + size, read_bytes);
    const int error = errno;
    buffer_.resize(size + (n > 0 ? static_cast<std::size_t>(n) : 0));
    if (n > 0) {
      bytes_read_ += static_cast<std::uint64_t>(n);
      return Filled::more;
    }
    if (n == 0) return Filled::end;
    if (error != EINTR && error != EAGAIN) {
      return refuse(ErrorCode::io, std::string("the input cannot be read: ") + std::strerror(error));
    }
  }
}

Result<LineReader::Line> LineReader::next() {
  bool skipping = false;  // the rest of a line that was too long
  for (;;) {
    const auto end = buffer_.find('\n', scanned_);
    if (end == std::string::npos && !at_end_) {
      scanned_ = buffer_.size();
      if (scanned_ - begin_ > line_bytes_max_) {
        skipping = true;
        begin_ = scanned_;
      }
      auto filled = fill();
      if (!filled) return refuse(std::move(filled).error());
      if (*filled == Filled::stopped) return Line{Kind::stopped, number_, {}};
      at_end_ = *filled == Filled::end;
      continue;
    }

    const bool last = end == std::string::npos;
    const std::size_t until = last ? buffer_.size() : end;
    std::string_view text = std::string_view(buffer_).substr(begin_, until - begin_);
    begin_ = scanned_ = last ? until : until + 1;
    if (last && text.empty() && !skipping) return Line{Kind::end, number_, {}};
    ++number_;
    if (skipping || text.size() > line_bytes_max_) return Line{Kind::too_long, number_, {}};
    if (text.ends_with('\r')) text.remove_suffix(1);
    if (!blank(text)) return Line{Kind::line, number_, text};
  }
}

}  // namespace evershard::cli
