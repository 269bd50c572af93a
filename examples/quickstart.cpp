// The README's first example: open, append under an expected version and a condition, read a query's answer.
//
//   quickstart [DIR]     run it twice: the second time the aggregate exists, and the append says so

#include <evershard/local.hpp>
#include <iostream>

using namespace evershard;

int main(int argc, char** argv) {
  auto opened =
      Local::open({.data_dir = argc > 1 ? argv[1] : "data", .shards = 16});  // no data_dir: in memory, for tests
  if (!opened) {
    std::cerr << opened.error().what << '\n';
    return 1;
  }
  auto& store = *opened;

  auto done = store.append(Append{}
                               .event("order-1", "OrderPlaced", R"({"total":42})", {"customer:7"})
                               .expect("order-1", Version::none())  // the aggregate must not exist
                               .fail_if(Query{}.types({"CustomerBlocked"}).tags({"customer:7"})));  // over all shards
  if (!done) std::cerr << done.error().what << '\n';

  auto events = store.read(Query{}.tags({"customer:7"}));  // global order, page by page
  for (const auto& event : events) std::cout << event.position.value << ' ' << event.type << '\n';
  if (events.error()) std::cerr << events.error()->what << '\n';
}
