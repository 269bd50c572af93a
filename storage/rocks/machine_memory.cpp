#include "evershard/storage/rocks/machine_memory.hpp"

#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <fstream>
#include <iterator>

namespace evershard::storage {
namespace {

std::optional<std::string> content(const std::string& path) {
  std::ifstream file(path);
  if (!file) return std::nullopt;
  return std::string(std::istreambuf_iterator<char>(file), {});
}

}  // namespace

std::optional<std::uint64_t> memory_limit(
    std::string_view groups, const std::function<std::optional<std::string>(const std::string& path)>& read) {
  std::optional<std::uint64_t> lowest;
  const auto look = [&](const std::string& path) {
    const auto text = read(path);
    std::uint64_t limit = 0;
    if (!text || std::from_chars(text->data(), text->data() + text->size(), limit).ec != std::errc{}) return;  // "max"
    lowest = std::min(lowest.value_or(limit), limit);
  };
  while (!groups.empty()) {
    auto line = groups.substr(0, groups.find('\n'));
    groups.remove_prefix(std::min(groups.size(), line.size() + 1));
    // number:controllers:path, without controllers in the second version.
    const auto first = line.find(':'), second = line.find(':', first + 1);
    if (first == std::string_view::npos || second == std::string_view::npos) continue;
    const auto controllers = "," + std::string(line.substr(first + 1, second - first - 1)) + ",";
    const bool unified = controllers == ",,";
    if (!unified && controllers.find(",memory,") == std::string::npos) continue;
    std::string group(line.substr(second + 1));
    if (group == "/") group.clear();
    for (;;) {
      if (unified) {
        look("/sys/fs/cgroup" + group + "/memory.max");
        look("/sys/fs/cgroup" + group + "/memory.high");
      } else {
        look("/sys/fs/cgroup/memory" + group + "/memory.limit_in_bytes");
      }
      if (group.empty()) break;
      group.resize(std::min(group.rfind('/'), group.size()));
    }
  }
  return lowest;
}

std::uint64_t machine_memory() {
  const auto pages = sysconf(_SC_PHYS_PAGES), page = sysconf(_SC_PAGESIZE);
  const auto machine = static_cast<std::uint64_t>(pages) * static_cast<std::uint64_t>(page);
  return std::min(machine, memory_limit(content("/proc/self/cgroup").value_or(""), content).value_or(machine));
}

}  // namespace evershard::storage
