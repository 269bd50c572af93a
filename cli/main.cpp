// The program `evershard`.

#include "evershard/cli/run.hpp"

int main(int count, char** words) {
  return static_cast<int>(evershard::cli::run({words + (count > 0 ? 1 : 0), words + count}));
}
