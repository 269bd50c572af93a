// Opens a store with its doors, and asks the counter through one of them.

#include <evershard/local.hpp>
#include <evershard/remote.hpp>
#include <evershard/serve.hpp>
#include <iostream>

#include "counter.hpp"

int main() {
  auto store = evershard::Local::open();
  if (!store) return std::cerr << store.error().what << '\n', 1;
  if (auto hosted = store->host<Counter>(); !hosted) return std::cerr << hosted.error().what << '\n', 1;
  auto doors = evershard::serve(*store, {.listen = {"127.0.0.1:0"}, .http_listen = "127.0.0.1:0"});
  if (!doors) return std::cerr << doors.error().what << '\n', 1;

  auto client = evershard::Remote::connect({.server = doors->addresses().front()});
  if (!client) return std::cerr << client.error().what << '\n', 1;
  consumer::Add add;
  add.set_value(3);
  const auto answer = client->ask({"counter", "one"}, "consumer.Add", add.SerializeAsString());
  consumer::Count count;
  if (!count.ParseFromString(answer.reply)) return 1;
  const auto kinds = client->kinds();
  if (!kinds || doors->http_address().empty()) return 1;
  std::cout << "count " << count.value() << ", " << kinds->kinds.size() << " kind\n";
}
