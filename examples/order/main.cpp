// Orders and their stock, led from one event to the next command by a process, and a timer for an order that nobody
// pays.
//
//   order [DIR]     without DIR in memory; with it the second run finds everything done

#include "examples/order/order.hpp"

#include <chrono>
#include <cstdlib>
#include <evershard/local.hpp>
#include <iostream>
#include <thread>

namespace {

using namespace std::chrono_literals;

[[noreturn]] void give_up(const std::string& what) {
  std::cerr << "order: " << what << '\n';
  std::exit(1);
}

void place(evershard::Local& store, const std::string& order, std::uint32_t count,
           std::chrono::milliseconds pay_within) {
  shop::PlaceOrder command;
  command.set_order(order);
  command.set_item("tea");
  command.set_count(count);
  command.set_pay_within_ms(static_cast<std::uint32_t>(pay_within.count()));
  const auto answer = store.get<Order>(order).ask(command, {.command_id = "place-" + order});
  if (!answer) give_up(answer.rejected() ? answer.rejection() : answer.error().what);
  std::cout << "order " << order << " of " << count << " tea "
            << (answer.duplicate() ? "was placed before\n" : "is placed\n");
}

shop::Order::Status status(evershard::Local& store, const std::string& order) {
  const auto state = store.get<Order>(order).state();
  if (!state) give_up(state.error().what);
  return state->state.status();
}

/// Waits until what follows has come so far, and says so.
void wait_for(evershard::Local& store, const std::string& order, shop::Order::Status wanted) {
  for (const auto until = std::chrono::steady_clock::now() + 30s; status(store, order) != wanted;
       std::this_thread::sleep_for(5ms))
    if (std::chrono::steady_clock::now() > until)
      give_up("order " + order + " is " + shop::Order::Status_Name(status(store, order)));
  std::cout << "order " << order << " is " << shop::Order::Status_Name(wanted) << '\n';
}

}  // namespace

int main(int argc, char** argv) {
  std::cout << std::unitbuf;  // what is said is done, also if the process ends here
  evershard::LocalOptions options;
  if (argc > 1) options.data_dir = argv[1];
  auto opened = evershard::Local::open(options);
  if (!opened) give_up(opened.error().what);
  auto& store = *opened;
  if (auto hosted = store.host<Order>(); !hosted) give_up(hosted.error().what);
  if (auto hosted = store.host<Stock>(); !hosted) give_up(hosted.error().what);
  if (auto runs = store.run<Fulfilment>(); !runs) give_up(runs.error().what);

  shop::Restock restock;
  restock.set_count(10);
  if (!store.get<Stock>("tea").ask(restock, {.command_id = "delivery-1"})) give_up("the stock cannot be filled");
  std::cout << "-- 10 tea in stock; three orders\n";
  place(store, "1", 6, 1h);
  if (status(store, "1") != shop::Order::PAID) wait_for(store, "1", shop::Order::CONFIRMED);
  place(store, "2", 6, 1h);
  wait_for(store, "2", shop::Order::CANCELLED);
  place(store, "3", 4, 300ms);

  std::cout << "-- the first is paid, the third is not\n";
  shop::PayOrder pay;
  pay.set_order("1");
  if (!store.get<Order>("1").ask(pay)) give_up("order 1 cannot be paid");
  wait_for(store, "1", shop::Order::PAID);
  wait_for(store, "3", shop::Order::CANCELLED);

  const auto stock = store.get<Stock>("tea");
  for (const auto until = std::chrono::steady_clock::now() + 30s; stock.state()->state.free() != 4;
       std::this_thread::sleep_for(5ms))
    if (std::chrono::steady_clock::now() > until) give_up("what was reserved is not released");
  std::cout << "4 tea left, " << stock.state()->state.reserved_size() << " reservation\n";
}
