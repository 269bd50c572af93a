#include "evershard/cli/progress.hpp"

#include <unistd.h>

#include <algorithm>

#include "evershard/api/json/output.hpp"

namespace evershard::cli {
namespace {

constexpr std::size_t bar_columns = 24;

std::string bar(double part) {
  const auto full = static_cast<std::size_t>(part * bar_columns);
  return '[' + std::string(full, '=') + std::string(bar_columns - full, ' ') + ']';
}

std::string left_text(double seconds) {
  const auto whole = static_cast<std::uint64_t>(seconds + 0.5);
  const auto two = [](std::uint64_t n) { return (n < 10 ? "0" : "") + std::to_string(n); };
  if (whole >= 3600) return std::to_string(whole / 3600) + ':' + two(whole / 60 % 60) + ':' + two(whole % 60);
  return std::to_string(whole / 60) + ':' + two(whole % 60);
}

void write_to_error(std::string_view text) {
  Output out(STDERR_FILENO);
  out.write(text);
}

}  // namespace

std::string ProgressLine::text(std::uint64_t done, std::uint64_t total, double seconds) const {
  const auto amount = [this](std::uint64_t n) { return unit_ == Unit::bytes ? rounded_size(n) : grouped(n); };
  const double rate = seconds > 0 ? static_cast<double>(done) / seconds : 0;
  std::string line = what_ + ' ';
  if (total > 0) {
    const double part = std::min(1.0, static_cast<double>(done) / static_cast<double>(total));
    line += bar(part) + ' ' + std::to_string(static_cast<int>(part * 100)) + " %  ";
  }
  line += amount(done) + "  " + amount(static_cast<std::uint64_t>(rate)) + "/s";
  if (total > done && rate > 0) line += "  " + left_text(static_cast<double>(total - done) / rate) + " left";
  return line;
}

void ProgressLine::show(std::uint64_t done, std::uint64_t total) {
  if (!shown_) return;
  const auto now = Clock::now();
  if (now - last_ < std::chrono::milliseconds(100)) return;
  last_ = now;
  dirty_ = true;
  write_to_error("\r\x1b[K" + text(done, total, std::chrono::duration<double>(now - began_).count()));
}

void ProgressLine::clear() {
  if (!dirty_) return;
  dirty_ = false;
  write_to_error("\r\x1b[K");
}

}  // namespace evershard::cli
