// The program `evershard`.

#include "evershard/bench/run.hpp"
#include "evershard/cli/run.hpp"

int main(int count, char** words) {
  if (const auto status = evershard::bench::inner_process(count, words)) return *status;
  return static_cast<int>(evershard::cli::run({words + (count > 0 ? 1 : 0), words + count}));
}
