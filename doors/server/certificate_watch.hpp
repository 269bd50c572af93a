// CertificateWatch: takes new certificates by itself, as soon as they are whole.

#pragma once

#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <functional>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "evershard/doors/serving/log.hpp"
#include "evershard/doors/serving/tls_files.hpp"
#include "evershard/protocol/result.hpp"

namespace evershard::server {

/// Which files lie there, as far as one can tell without reading them.
struct FileStamp {
  std::uint64_t device = 0, inode = 0, bytes = 0;
  std::int64_t changed_ns = 0;
  friend bool operator==(const FileStamp&, const FileStamp&) = default;
};
/// Zeros: it is not there.
[[nodiscard]] FileStamp file_stamp(const std::string& path);

/// A thread looks at the files every so often; what it finds changed is reloaded, and the log says what came of it.
class CertificateWatch {
 public:
  using Reload = std::function<Result<void>()>;
  CertificateWatch(const serving::TlsFiles& files, Reload reload, std::chrono::milliseconds every, serving::Log& log);
  ~CertificateWatch() { stop(); }
  CertificateWatch(const CertificateWatch&) = delete;

  void stop();

 private:
  void work();
  [[nodiscard]] std::vector<FileStamp> stamps() const;

  const std::vector<std::string> paths_;
  const Reload reload_;
  const std::chrono::milliseconds every_;
  serving::Log& log_;
  std::vector<FileStamp> seen_;
  std::mutex mutex_;
  std::condition_variable changed_;
  bool stopping_ = false;
  std::thread thread_;  ///< none: there are no files
};

}  // namespace evershard::server
