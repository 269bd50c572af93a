#include "tests/process/small_disk.hpp"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <utility>

namespace evershard::testing {

SmallDisk::SmallDisk(std::filesystem::path at, std::uint64_t mib) : at_(std::move(at)) {
  std::filesystem::create_directories(at_);
  const auto mount = "mount -t tmpfs -o size=" + std::to_string(mib) + "m tmpfs " + at_.string() +
                     " && echo mounted && exec sleep 3600";
  holder_ = std::make_unique<Process>(std::vector<std::string>{"/usr/bin/unshare", "-Urm", "/bin/sh", "-c", mount});
  there_ = !holder_->lines(1, std::chrono::seconds(20)).empty();
}

std::vector<std::string> SmallDisk::within() const {
  return {"/usr/bin/nsenter", "--preserve-credentials", "-U", "-m", "-t", std::to_string(holder_->pid())};
}

void SmallDisk::fill_up(std::uint64_t bytes_left) const {
  const auto room = std::filesystem::space(inside()).available;
  const int file = ::open((inside() / "filler").c_str(), O_WRONLY | O_CREAT | O_CLOEXEC, 0666);
  ASSERT_GE(file, 0);
  EXPECT_EQ(::posix_fallocate(file, 0, static_cast<off_t>(room - std::min<std::uint64_t>(room - 4'096, bytes_left))),
            0);
  ::close(file);
}

void SmallDisk::make_room() const { std::filesystem::remove(inside() / "filler"); }

std::filesystem::path SmallDisk::inside() const {
  return "/proc/" + std::to_string(holder_->pid()) + "/root" + at_.string();
}

}  // namespace evershard::testing
