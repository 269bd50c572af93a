// evershard_peers: the store beside other products, under the same load. bench/peers/run calls it.

#include <boost/program_options.hpp>

#include <algorithm>
#include <csignal>
#include <cstdio>
#include <iostream>

#include "bench/peers/doors.hpp"
#include "bench/peers/workloads.hpp"

namespace {

namespace bench = evershard::bench;
namespace po = boost::program_options;

volatile std::sig_atomic_t interrupted = 0;

int run(int argc, char** argv) {
  bench::BenchOptions options;
  std::string directory, ours, umadb, postgresql, redis, format;
  std::vector<std::string> only;
  bool umadb_door = false;
  po::options_description known("evershard_peers: the store beside other products, under the same load");
  known.add_options()("help", "this text")                                                                       //
      ("data", po::value(&directory)->required(), "a folder for what they store; emptied")                       //
      ("evershard", po::value(&ours)->required(), "our program")                                                 //
      ("umadb", po::value(&umadb), "UmaDB's server")                                                             //
      ("umadb-door", po::bool_switch(&umadb_door), "our own door for UmaDB's clients, also without UmaDB")       //
      ("postgresql", po::value(&postgresql), "the folder of PostgreSQL's programs")                              //
      ("redis", po::value(&redis), "Redis's server")                                                             //
      ("only", po::value(&only)->composing(), "appends, reads; doors: KurrentDB's and our own; all by default")  //
      ("seconds", po::value(&options.seconds)->default_value(5), "how long each workload runs")                  //
      ("rounds", po::value(&options.rounds)->default_value(3), "in how many turns they are measured")            //
      ("events", po::value(&options.events)->default_value(1'100'000), "how many events the reads have")         //
      ("seed", po::value(&options.seed)->default_value(1), "of the load")                                        //
      ("format", po::value(&format)->default_value("table"), "table, json or jsonl");
  po::variables_map given;
  po::store(po::parse_command_line(argc, argv, known), given);
  if (given.count("help") != 0) {
    std::cout << known;
    return 0;
  }
  po::notify(given);
  using Style = bench::BenchOptions::Style;
  if (format != "table" && format != "json" && format != "jsonl")
    throw std::runtime_error("--format: table, json or jsonl");
  options.style = format == "json" ? Style::json : format == "jsonl" ? Style::json_lines : Style::text;
  options.directory = directory;
  options.stop = [] { return interrupted != 0; };
  std::signal(SIGINT, [](int) { interrupted = 1; });
  std::signal(SIGTERM, [](int) { interrupted = 1; });

  std::vector<bench::PeerKind> kinds;
  const auto kind = [&](std::string name, const std::string& program, auto start) {
    if (program.empty()) return;
    kinds.push_back({std::move(name), [program, start](const std::filesystem::path& folder, std::uint64_t cache_bytes) {
                       return start(bench::PeerSetup{folder, program, cache_bytes});
                     }});
  };
  kind("UmaDB", umadb, bench::start_umadb);
  kind("PostgreSQL", postgresql, bench::start_postgresql);
  kind("Redis", redis, bench::start_redis);
  if (!umadb.empty() || umadb_door) kind("Evershard, UmaDB's protocol", ours, bench::start_evershard_as_umadb);
  kind("Evershard", ours, bench::start_evershard);

  bench::Report report(options.style, [](const std::string& line) { std::puts(line.c_str()), std::fflush(stdout); });
  const std::vector<std::string> parts{"appends", "reads", "doors", "door-appends", "door-reads"};
  for (const auto& part : only)
    if (std::ranges::find(parts, part) == parts.end())
      throw std::runtime_error("--only: appends, reads, doors, door-appends or door-reads, not " + part);
  const auto wants = [&](const char* part) { return only.empty() || std::ranges::find(only, part) != only.end(); };
  evershard::Result<void> done{};
  if (wants("appends")) done = measure_peer_appends(options, kinds, report);
  if (done && wants("reads")) done = measure_peer_reads(options, kinds, report);
  if (done && (wants("doors") || wants("door-appends"))) done = measure_door_appends(options, ours, report);
  if (done && (wants("doors") || wants("door-reads"))) done = measure_door_reads(options, ours, report);
  report.finish();
  if (!done) {
    std::fprintf(stderr, "evershard_peers: %s\n", done.error().what.c_str());
    return 1;
  }
  return 0;
}

}  // namespace

int main(int argc, char** argv) try {
  if (argc == 4 && std::string_view(argv[1]) == "--serve-messages")
    return bench::serve_messages(static_cast<std::uint16_t>(std::stoi(argv[2])), std::stoul(argv[3]));
  return run(argc, argv);
} catch (const std::exception& error) {
  std::fprintf(stderr, "evershard_peers: %s\n", error.what());
  return 2;
}
