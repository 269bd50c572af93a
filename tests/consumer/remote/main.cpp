// Appends to the server's store, is refused once, reads: what it prints is the tests'.

#include <evershard/remote.hpp>
#include <iostream>

using namespace evershard;

int main(int argc, char** argv) {
  if (argc < 2) return 2;
  auto connected = Remote::connect({.server = argv[1]});
  if (!connected) return std::cerr << connected.error().what << '\n', 1;
  EventStore& store = *connected;

  const auto place = [] {
    return Append{}
        .event("order-1", "OrderPlaced", R"({"total":42})", {"customer:7"})
        .expect("order-1", Version::none());
  };
  if (auto done = store.append(place()); !done) return std::cerr << done.error().what << '\n', 1;
  if (auto again = store.append(place()); again || again.error().code != ErrorCode::version_conflict)
    return std::cerr << "not refused\n", 1;

  auto events = store.read(Query{}.tags({"customer:7"}));
  for (const auto& event : events) std::cout << event.position.value << ' ' << event.type << '\n';
  if (events.error()) return std::cerr << events.error()->what << '\n', 1;
}
