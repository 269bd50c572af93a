// evershard-bench: the whole benchmark, or a part of it, in one run.

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>

#include "run.hpp"

int main(int argc, char** argv) {
  bool inner = false;
  if (const int status = evershard::bench::inner_process(argc, argv, inner); inner) return status;
  evershard::bench::BenchOptions options;
  for (int i = 1; i < argc; ++i) {
    const auto is = [&](const char* name) { return std::strcmp(argv[i], name) == 0 && i + 1 < argc; };
    if (is("--only")) options.only = argv[++i];
    else if (is("--data")) options.directory = argv[++i];
    else if (is("--seconds")) options.seconds = std::atof(argv[++i]);
    else if (is("--events")) options.events = std::strtoull(argv[++i], nullptr, 10);
    else if (is("--open-events")) options.open_events = std::strtoull(argv[++i], nullptr, 10);
    else if (std::strcmp(argv[i], "--json") == 0) options.json = true;
    else return std::fprintf(stderr, "evershard-bench [--only PART] [--data DIR] [--seconds S] [--events N] [--open-events N] [--json]\n"), 2;
  }
  const auto done = evershard::bench::run(options, [](const std::string& line) {
    std::puts(line.c_str());
    std::fflush(stdout);
  });
  if (done) return 0;
  std::fprintf(stderr, "%s\n", done.error().what.c_str());
  return 1;
}
