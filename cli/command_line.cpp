// command_line(): a program's main.

#include "evershard/command_line.hpp"

#include <filesystem>

#include "evershard/bench/run.hpp"
#include "evershard/cli/run.hpp"

namespace evershard {

int run_command_line(int argc, char** argv, const std::vector<CommandLineKind>& kinds,
                     const std::vector<CommandLineProcess>& processes) {
  if (const auto status = bench::inner_process(argc, argv)) return *status;
  auto program = cli::Program::of(
      argc > 0 ? std::filesystem::path(argv[0]).filename().string() : std::string("evershard"), kinds, processes);
  const std::vector<std::string> words(argv + (argc > 0 ? 1 : 0), argv + argc);
  return static_cast<int>(program ? cli::run(words, *program) : cli::cannot_run(words, std::move(program).error()));
}

}  // namespace evershard
