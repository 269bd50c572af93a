#include "evershard/api/this_process.hpp"

#include <unistd.h>

#include <array>

namespace evershard {

std::string this_process() {
  std::array<char, 256> machine{};
  if (::gethostname(machine.data(), machine.size() - 1) != 0) machine[0] = '\0';
  return std::string(machine.data()) + ':' + std::to_string(::getpid());
}

}  // namespace evershard
