// Places orders, and tells a service of each over HTTP, whenever that is there:
//
//   webhooks DIR HOST:PORT ORDERS
//
// Kill it at any time and start it again: each order comes to the service under one key.

#include <chrono>
#include <cstdlib>
#include <evershard/local.hpp>
#include <iostream>
#include <string>
#include <thread>

#include "examples/webhooks/webhooks.hpp"

namespace {

using namespace std::chrono_literals;

[[noreturn]] void give_up(const std::string& what) {
  std::cerr << "webhooks: " << what << '\n';
  std::exit(1);
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 4) give_up("usage: webhooks DIR HOST:PORT ORDERS");
  std::cout << std::unitbuf;
  example::HttpPosts posts(2s);
  evershard::LocalOptions options;
  options.data_dir = argv[1];
  auto opened = evershard::Local::open(options);
  if (!opened) give_up(opened.error().what);
  auto& store = *opened;
  if (auto hosted = store.host<example::Order>(); !hosted) give_up(hosted.error().what);
  auto runs = store.run<example::Webhook>(example::webhook_effects(posts, {.at_a_time = 16,
                                                                           .at_a_time_per_target = 4,
                                                                           .attempts_max = 20,
                                                                           .retry_first = 100ms,
                                                                           .retry_most = 30s,
                                                                           .timeout = 5s}));
  if (!runs) give_up(runs.error().what);

  const int orders = std::atoi(argv[3]);
  for (int n = 1; n <= orders; ++n) {
    hooks::PlaceOrder place;
    place.set_order(std::to_string(n));
    place.set_tell(argv[2]);
    const auto answer = store.get<example::Order>(place.order()).ask(place, {.command_id = "place-" + place.order()});
    if (!answer) give_up(answer.error().what);
  }
  for (int n = 1; n <= orders; ++n) {
    const auto webhook = store.get<evershard::ProcessAggregate<example::Webhook>>(std::to_string(n));
    for (;; std::this_thread::sleep_for(5ms)) {
      const auto state = webhook.state();
      if (!state) give_up(state.error().what);
      const auto& known = state->state.state;
      if (known.status() == hooks::Webhook::OPEN) continue;
      std::cout << "order " << n << ": " << hooks::Webhook::Status_Name(known.status()) << ' ' << known.answer()
                << '\n';
      break;
    }
  }
}
