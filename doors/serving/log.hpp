// Log: a line a fact, to standard error or to a file. Nothing secret ever goes in: see LogField.

#pragma once

#include <filesystem>
#include <memory>
#include <string_view>

#include "evershard/doors/serving/log_line.hpp"
#include "evershard/protocol/result.hpp"

namespace evershard::serving {

enum class LogFormat : std::uint8_t { text, json };

struct LogOptions {
  LogLevel level = LogLevel::info;  ///< and what is worse
  LogFormat format = LogFormat::text;
  std::filesystem::path file{};  ///< empty: standard error
};

/// From any thread; never throws, never blocks on anything but its file. A line that cannot be written (a full disk) is
/// lost, counted, and the count said as soon as a line gets through: serving does not end for its log.
class Log {
 public:
  /// Under systemd, lines on standard error begin with their priority, and the journal writes the time.
  /// Errors: io: a file that cannot be opened
  [[nodiscard]] static Result<std::unique_ptr<Log>> open(LogOptions options);
  /// Takes every line and writes none.
  [[nodiscard]] static std::unique_ptr<Log> nowhere();
  ~Log();
  Log(const Log&) = delete;

  /// `what`: the same words for the same kind of fact; what differs goes into fields.
  void debug(std::string_view what, const LogFields& fields = {}) { write(LogLevel::debug, what, fields); }
  void info(std::string_view what, const LogFields& fields = {}) { write(LogLevel::info, what, fields); }
  void warning(std::string_view what, const LogFields& fields = {}) { write(LogLevel::warning, what, fields); }
  void error(std::string_view what, const LogFields& fields = {}) { write(LogLevel::error, what, fields); }
  void write(LogLevel level, std::string_view what, const LogFields& fields);

  void set_level(LogLevel level);
  /// Opens the file anew, as after it was moved away. Errors: io: the old one stays
  [[nodiscard]] Result<void> reopen();

 private:
  struct Impl;
  explicit Log(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

}  // namespace evershard::serving
