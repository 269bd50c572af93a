// A node with projections, as a program for tests: one answer a line. Words: NODE DATA COORDINATOR SECRET SHARDS.
//   define          an index, a value index, a table, one in parts                             the index's name
//   append N SEED   N appends of up to 20 events; some may be refused while a node is away     done
//   reset           the table is built anew, and beside what is read the one in parts  done
//   home            of the table                                                       its node
//   compare INDEX   everything there is to a recomputation from the events            equal COUNT, or what differs

#include <algorithm>
#include <chrono>
#include <iostream>
#include <map>
#include <random>
#include <sstream>
#include <string>
#include <vector>

#include <evershard/cluster.hpp>

namespace {

using namespace evershard;
using namespace std::chrono_literals;

constexpr auto patience = 100s;
constexpr const char* counting_table =
    R"({"fields":[{"name":"thing","type":"text","role":"key"},{"name":"total","type":"integer","nullable":true}],
  "rules":[{"types":["A"],"action":"increment","key":"aggregate","fields":{"total":"$.n"}}]})";

std::string failed(const Error& error) { return "failed: " + std::string(name_of(error.code)) + ": " + error.what; }

std::string define(Cluster& node) {
  const auto index = node.projections().create_index(Query{}.types({"A"}));
  if (!index) return failed(index.error());
  if (const auto made =
          node.projections().create_value_index("by-n", {.types = {"A"}, .path = "$.n", .value = "integer"});
      !made)
    return failed(made.error());
  if (const auto made = node.projections().create("totals", "table", counting_table); !made)
    return failed(made.error());
  if (const auto made =
          node.projections().create("spread", "table", R"({"parts":5,)" + std::string(counting_table).substr(1));
      !made)
    return failed(made.error());
  return index->name;
}

std::string append(Cluster& node, int count, std::uint64_t seed) {
  std::mt19937_64 random(seed);
  for (int i = 0; i < count; ++i) {
    Append append;
    for (auto n = 1 + random() % 20; n != 0; --n)
      append.event("thing-" + std::to_string(random() % 23), random() % 3 == 0 ? "B" : "A",
                   R"({"n":)" + std::to_string(static_cast<int>(random() % 21) - 10) + "}");
    (void)node.append(std::move(append));
  }
  return "done";
}

std::string compare(Cluster& node, const std::string& index) {
  Result<Appended> marker = refuse(ErrorCode::unavailable, "not tried");
  for (const auto until = std::chrono::steady_clock::now() + patience;
       !marker && std::chrono::steady_clock::now() < until;)
    marker = node.append(Append{}.event("marker-1", "Marker", "{}"));
  if (!marker) return failed(marker.error());
  const auto up_to = marker->last_position;
  if (const auto there = node.wait_for(up_to, patience); !there) return failed(there.error());
  std::vector<std::uint64_t> numbered, found_numbers;
  std::vector<std::pair<int, std::uint64_t>> valued, found_values;
  std::map<std::string, std::int64_t> totals, found_totals, found_spread;
  auto events = node.read(Query{}.types({"A"}), ReadOptions{.up_to = up_to});
  for (const auto& event : events) {
    const auto n = std::stoi(event.payload.substr(5));
    numbered.push_back(event.position.value);
    valued.emplace_back(n, event.position.value);
    totals[event.aggregate->text()] += n;
  }
  if (events.error()) return failed(*events.error());
  std::ranges::sort(valued);

  const RowsAsked rows{.at_least = up_to, .timeout = patience};
  for (IndexRead read{.start = 1, .limit = 1'000, .rows = rows};; read.start = found_numbers.size() + 1) {
    const auto page = node.projections().read_index(index, read);
    if (!page) return failed(page.error());
    for (const auto& entry : page->entries) found_numbers.push_back(entry.position.value);
    if (page->entries.empty() || found_numbers.size() >= page->count) break;
  }
  ValueRead read{.limit = 1'000, .rows = rows};
  do {
    const auto page = node.projections().read_values("by-n", read);
    if (!page) return failed(page.error());
    for (const auto& entry : page->entries) found_values.emplace_back(std::stoi(entry.value), entry.position.value);
    read.after = page->next;
  } while (!read.after.empty());
  for (const auto& [table, found] : {std::pair("totals", &found_totals), std::pair("spread", &found_spread)}) {
    const auto page = node.tables().select(table, {}, {.at_least = up_to, .timeout = patience});
    if (!page) return failed(page.error());
    for (const auto& row : page->rows) (*found)[*row.at(0).as<std::string>()] = *row.at(1).as<std::int64_t>();
  }
  std::ostringstream differs;
  if (found_numbers != numbered) differs << " the index has " << found_numbers.size() << " of " << numbered.size();
  if (found_values != valued) differs << " the value index has " << found_values.size() << " of " << valued.size();
  if (found_totals != totals)
    differs << " the table has " << found_totals.size() << " rows of " << totals.size() << ", or other totals";
  if (found_spread != totals)
    differs << " the table in parts has " << found_spread.size() << " rows of " << totals.size() << ", or other totals";
  if (!differs.str().empty()) return "differs:" + differs.str();
  return "equal " + std::to_string(numbered.size());
}

std::string answer(Cluster& node, const std::string& line) {
  std::istringstream words(line);
  std::string what, index;
  int count = 0;
  std::uint64_t seed = 0;
  words >> what;
  if (what == "define") return define(node);
  if (what == "append" && words >> count >> seed) return append(node, count, seed);
  if (what == "home") return std::to_string(node.node_of({"$projection", "totals"}));
  if (what == "compare" && words >> index) return compare(node, index);
  if (what != "reset") return "what?";
  if (const auto rebuilt = node.projections().ask("spread", Projections::Ask::rebuild); !rebuilt)
    return failed(rebuilt.error());
  const auto reset = node.projections().ask("totals", Projections::Ask::reset);
  return reset ? "done" : failed(reset.error());
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 6) return 2;
  ClusterOptions options;
  options.node = static_cast<std::uint32_t>(std::stoul(argv[1]));
  options.data_dir = argv[2];
  options.coordinator = argv[3];
  options.secret_file = argv[4];
  options.shards = static_cast<std::uint32_t>(std::stoul(argv[5]));
  options.disk_reserve_bytes = 0;
  options.memtable_bytes = 4u << 20;
  options.block_cache_bytes = 8u << 20;
  auto node = Cluster::join(std::move(options));
  if (!node) {
    std::cerr << failed(node.error()) << '\n';
    return 1;
  }
  std::cout << "ready" << std::endl;
  for (std::string line; std::getline(std::cin, line);) std::cout << answer(*node, line) << std::endl;
  node->close();
  return 0;
}
