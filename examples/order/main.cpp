// Orders and their stock, led from one event to the next command by a follower that is interrupted and goes on.
//
//   order [DIR]     without DIR in memory; with it the second run finds everything done

#include "examples/order/order.hpp"

#include <chrono>
#include <cstdlib>
#include <evershard/local.hpp>
#include <iostream>
#include <limits>

namespace {

using namespace std::chrono_literals;

[[noreturn]] void give_up(const std::string& what) {
  std::cerr << "order: " << what << '\n';
  std::exit(1);
}

/// Whether a command failed for now. Perhaps it was carried out: the id makes sending it again harmless.
bool worth_sending_again(evershard::ErrorCode code) {
  using evershard::ErrorCode;
  return code == ErrorCode::timeout || code == ErrorCode::unavailable || code == ErrorCode::overloaded;
}

/// One of the follower's commands, sent until its outcome is known.
evershard::Answer<evershard::Done> send(evershard::Local& store, const FollowUp& next) {
  return std::visit(
      [&](const auto& command) {
        using Target =
            std::conditional_t<evershard::listed<std::decay_t<decltype(command)>, Order::Commands>, Order, Stock>;
        for (;;) {
          auto answer = store.get<Target>(next.to.value).ask(command, {.command_id = next.command_id});
          if (!answer.failed() || !worth_sending_again(answer.error().code)) return answer;
        }
      },
      next.command);
}

/// Follows from the first event on, and ends when nothing more happens, or after `events_max` events, as a process that
/// is killed would: it has noted nowhere how far it came.
void follow(evershard::Local& store, std::size_t events_max = std::numeric_limits<std::size_t>::max()) {
  auto feed = store.follow(evershard::Query{}.types(
      evershard::names_of<shop::OrderPlaced, shop::Reserved, shop::ReservationRefused, shop::OrderCancelled>()));
  for (;;) {
    auto item = feed.next(300ms);
    if (!item) give_up(item.error().what);
    if (item->kind == evershard::FeedItem::Kind::idle) return;
    for (const auto& event : item->events) {
      if (events_max-- == 0) {
        std::cout << "  (interrupted)\n";
        return;
      }
      auto next = follow_up(event);
      if (!next) give_up(next.error().what);
      if (!*next) continue;
      const auto answer = send(store, **next);
      std::cout << "  " << event.position.value << ' ' << event.aggregate->text() << ' ' << event.type << " -> "
                << (*next)->to.text() << ": ";
      if (answer.failed()) give_up(answer.error().what);
      if (answer.rejected())
        std::cout << "no, " << answer.rejection() << '\n';
      else if (answer.duplicate())
        std::cout << "done before\n";
      else if (answer.position() == evershard::GlobalPosition{0})
        std::cout << "nothing to do\n";
      else
        std::cout << "done\n";
    }
  }
}

void place(evershard::Local& store, const std::string& order, const std::string& item, std::uint32_t count) {
  shop::PlaceOrder command;
  command.set_order(order);
  command.set_item(item);
  command.set_count(count);
  const auto answer = store.get<Order>(order).ask(command, {.command_id = "place-" + order});
  if (!answer) give_up(answer.rejected() ? answer.rejection() : answer.error().what);
  std::cout << "order " << order << " of " << count << ' ' << item
            << (answer.duplicate() ? " was placed before\n" : " is placed\n");
}

shop::Order::Status status(evershard::Local& store, const std::string& order) {
  const auto state = store.get<Order>(order).state();
  if (!state) give_up(state.error().what);
  return state->state.status();
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

  shop::Restock restock;
  restock.set_count(10);
  if (!store.get<Stock>("tea").ask(restock, {.command_id = "delivery-1"})) give_up("the stock cannot be filled");
  std::cout << "-- 10 tea in stock; three orders\n";
  place(store, "1", "tea", 6);
  place(store, "2", "tea", 6);
  place(store, "3", "tea", 4);

  std::cout << "-- a follower, interrupted after two events\n";
  follow(store, 2);
  std::cout << "-- another one: it starts from the first event, and does only what is not done\n";
  follow(store);

  const std::pair<const char*, shop::Order::Status> expected[] = {
      {"1", shop::Order::CONFIRMED}, {"2", shop::Order::CANCELLED}, {"3", shop::Order::CONFIRMED}};
  bool right = true;
  for (const auto& [order, want] : expected) {
    const auto is = status(store, order);
    std::cout << "order " << order << " is " << shop::Order::Status_Name(is) << '\n';
    right = right && is == want;
  }
  const auto tea = store.get<Stock>("tea").state();
  if (!tea) give_up(tea.error().what);
  std::cout << tea->state.free() << " tea left, " << tea->state.reserved_size() << " reservations\n";
  if (!right || tea->state.free() != 0 || tea->state.reserved_size() != 2) give_up("the saga went wrong");
}
