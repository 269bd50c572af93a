// Opens a store, hosts a counter, asks it, prints the count. With a directory the count goes on where it was.

#include <evershard/local.hpp>
#include <iostream>

#include "counter.hpp"

void test_with_the_kit();

int main(int argc, char** argv) {
  test_with_the_kit();
  evershard::LocalOptions options;
  if (argc > 1) options.data_dir = argv[1];
  auto store = evershard::Local::open(options);
  if (!store) return std::cerr << store.error().what << '\n', 1;
  if (auto hosted = store->host<Counter>(); !hosted) return std::cerr << hosted.error().what << '\n', 1;

  consumer::Add add;
  add.set_value(3);
  const auto answer = store->get<Counter>("one").ask(add);
  if (!answer) return std::cerr << answer.error().what << '\n', 1;
  std::cout << "count " << answer->value() << '\n';
}
