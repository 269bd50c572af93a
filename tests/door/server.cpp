// A server for tests, without what `evershard serve` has around it: DATA (or - : in memory) LISTEN [TOKENS]. Prints `ready HOST:PORT`
// and serves until standard input ends.

#include <evershard/local.hpp>

#include <iostream>
#include <string>

#include "evershard/cluster/door/door.hpp"

int main(int count, char** words) {
  using namespace evershard;
  if (count < 3) return 2;
  const std::string data = words[1];
  auto store = Local::open({.data_dir = data == "-" ? "" : data});
  if (!store) {
    std::cerr << store.error().what << '\n';
    return 1;
  }
  auto access = std::make_shared<const serving::Access>(serving::Access::open());
  if (count > 3) {
    auto tokens = serving::Access::of_tokens(words[3], "the tokens");
    if (!tokens) {
      std::cerr << tokens.error().what << '\n';
      return 1;
    }
    access = std::make_shared<const serving::Access>(*std::move(tokens));
  }
  serving::WorkPool pool(2);
  serving::HeadWatch watch(*store);
  serving::Served served{*store, *store, pool, watch, [access] { return access; }, [] { return Result<RegisteredTypes>(RegisteredTypes{}); }};
  auto door = door::Door::start(served, {.listen = {words[2]}});
  if (!door) {
    std::cerr << door.error().what << '\n';
    return 1;
  }
  std::cout << "ready " << (*door)->addresses().front() << std::endl;
  while (std::cin.get() != std::istream::traits_type::eof()) {}
  (*door)->stop(std::chrono::seconds(1));
  return 0;
}
