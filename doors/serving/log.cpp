#include "evershard/doors/serving/log.hpp"

#include <spdlog/sinks/base_sink.h>
#include <spdlog/sinks/basic_file_sink.h>
#include <spdlog/sinks/stdout_sinks.h>
#include <sys/stat.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <mutex>
#include <utility>

#include "evershard/protocol/in_quotes.hpp"

namespace evershard::serving {
namespace {

using Sink = std::shared_ptr<spdlog::sinks::sink>;

/// Whether standard error is systemd's journal: JOURNAL_STREAM names its device and inode.
bool standard_error_is_journal() {
  const char* stream = std::getenv("JOURNAL_STREAM");
  struct stat status {};
  if (stream == nullptr || ::fstat(STDERR_FILENO, &status) != 0) return false;
  return std::to_string(status.st_dev) + ':' + std::to_string(status.st_ino) == stream;
}

std::string_view priority_of(LogLevel level) {
  switch (level) {
    case LogLevel::debug:
      return "<7>";
    case LogLevel::info:
      return "<6>";
    case LogLevel::warning:
      return "<4>";
    case LogLevel::error:
      return "<3>";
  }
  return "<3>";
}

Result<Sink> opened(const std::filesystem::path& file) {
  try {
    Sink sink;
    if (file.empty())
      sink = std::make_shared<spdlog::sinks::stderr_sink_mt>();
    else
      sink = std::make_shared<spdlog::sinks::basic_file_sink_mt>(file.string());
    sink->set_pattern("%v");
    return sink;
  } catch (const std::exception&) {
    return refuse(ErrorCode::io,
                  "the log " + in_quotes(file.string(), 300) + " cannot be opened: " + std::strerror(errno));
  }
}

}  // namespace

struct Log::Impl {
  LogOptions options;
  bool journal = false;
  std::atomic<LogLevel> level{LogLevel::info};
  std::mutex mutex;  ///< of what stands below
  Sink sink;         ///< absent: nowhere
  Repeats repeats;
  std::uint64_t lost = 0;

  void line(LogLevel of, std::string_view what, const LogFields& fields) {
    std::string text;
    if (options.format == LogFormat::json)
      text = log_json(Timestamp::now(), of, what, fields);
    else if (journal)
      text = std::string(priority_of(of)) + log_text(std::nullopt, of, what, fields);
    else
      text = log_text(Timestamp::now(), of, what, fields);
    sink->log(spdlog::details::log_msg("", spdlog::level::info, text));
    sink->flush();
  }

  bool try_line(LogLevel of, std::string_view what, const LogFields& fields) {
    try {
      line(of, what, fields);
      return true;
    } catch (const std::exception&) {
      ++lost;
      return false;
    }
  }
};

Log::Log(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}

Log::~Log() {
  if (!impl_->sink) return;
  for (const auto& [kind, left_out] : impl_->repeats.unsaid()) {
    impl_->try_line(LogLevel::warning, "lines left out", {{"of", kind}, {"left_out", left_out}});
  }
}

Result<std::unique_ptr<Log>> Log::open(LogOptions options) {
  auto impl = std::make_unique<Impl>();
  impl->options = std::move(options);
  impl->level = impl->options.level;
  auto sink = opened(impl->options.file);
  if (!sink) return refuse(std::move(sink).error());
  impl->sink = *std::move(sink);
  impl->journal = impl->options.file.empty() && standard_error_is_journal();
  return std::unique_ptr<Log>(new Log(std::move(impl)));
}

std::unique_ptr<Log> Log::nowhere() { return std::unique_ptr<Log>(new Log(std::make_unique<Impl>())); }

void Log::write(LogLevel level, std::string_view what, const LogFields& fields) {
  if (level < impl_->level.load(std::memory_order_relaxed)) return;
  const std::lock_guard lock(impl_->mutex);
  if (!impl_->sink) return;
  const auto left_out = impl_->repeats.admit(what, Repeats::Clock::now());
  if (!left_out) return;
  if (impl_->lost > 0 && impl_->try_line(LogLevel::warning, "log lines were lost", {{"lost", impl_->lost}}))
    impl_->lost = 0;
  if (*left_out == 0) {
    impl_->try_line(level, what, fields);
    return;
  }
  LogFields more = fields;
  more.emplace_back("left_out", *left_out);
  impl_->try_line(level, what, more);
}

void Log::set_level(LogLevel level) { impl_->level = level; }

Result<void> Log::reopen() {
  const std::lock_guard lock(impl_->mutex);
  if (!impl_->sink || impl_->options.file.empty()) return {};
  auto sink = opened(impl_->options.file);
  if (!sink) return refuse(std::move(sink).error());
  impl_->sink = *std::move(sink);
  return {};
}

}  // namespace evershard::serving
