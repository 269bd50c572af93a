// How much memory this process may use.

#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>

namespace evershard::storage {

/// In bytes: the machine's, or less where a control group of the process (a container's, a unit's) has a limit.
[[nodiscard]] std::uint64_t machine_memory();

/// The lowest limit in bytes of the groups that `groups` names, as /proc/self/cgroup does, and of those around them;
/// absent: none has one. `read`: a file's content, absent where it cannot be read.
///
/// Source: the kernel's cgroup-v2.rst (memory.max, memory.high) and cgroup-v1/memory.rst (memory.limit_in_bytes).
[[nodiscard]] std::optional<std::uint64_t> memory_limit(
    std::string_view groups, const std::function<std::optional<std::string>(const std::string& path)>& read);

}  // namespace evershard::storage
