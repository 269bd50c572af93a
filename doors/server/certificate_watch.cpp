#include "evershard/doors/server/certificate_watch.hpp"

#include <sys/stat.h>

#include <utility>

namespace evershard::server {

FileStamp file_stamp(const std::string& path) {
  struct stat found {};
  if (::stat(path.c_str(), &found) != 0) return {};
  return {found.st_dev, found.st_ino, static_cast<std::uint64_t>(found.st_size),
          found.st_ctim.tv_sec * std::int64_t{1'000'000'000} + found.st_ctim.tv_nsec};
}

CertificateWatch::CertificateWatch(const serving::TlsFiles& files, Reload reload, std::chrono::milliseconds every,
                                   serving::Log& log)
    : paths_{files.certificate, files.key, files.client_ca},
      reload_(std::move(reload)),
      every_(every),
      log_(log),
      seen_(stamps()) {
  if (files.given()) thread_ = std::thread([this] { work(); });
}

void CertificateWatch::stop() {
  {
    const std::lock_guard lock(mutex_);
    stopping_ = true;
  }
  changed_.notify_all();
  if (thread_.joinable()) thread_.join();
}

std::vector<FileStamp> CertificateWatch::stamps() const {
  std::vector<FileStamp> found;
  for (const auto& path : paths_) found.push_back(path.empty() ? FileStamp{} : file_stamp(path));
  return found;
}

void CertificateWatch::work() {
  for (;;) {
    {
      std::unique_lock lock(mutex_);
      if (changed_.wait_for(lock, every_, [this] { return stopping_; })) return;
    }
    auto now = stamps();
    if (now == seen_) continue;
    seen_ = std::move(now);
    if (const auto reloaded = reload_(); reloaded)
      log_.info("certificates taken", {{"certificate", paths_.front()}});
    else
      log_.error("certificates not taken: those from before are shown", {{"error", reloaded.error().what}});
  }
}

}  // namespace evershard::server
