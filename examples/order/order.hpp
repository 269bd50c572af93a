// An order and the stock it is served from: two aggregates that never wait for each other, and what leads from one to
// the other.
//
//     PlaceOrder -> OrderPlaced -> Reserve -> Reserved           -> ConfirmOrder -> OrderConfirmed
//                                          \> ReservationRefused -> CancelOrder  -> OrderCancelled -> Release
//
// Each arrow from an event to a command is one function of Fulfilment. It is told every event at least once, and the
// command's id is made of the event's: told twice, it sends the same command twice, and the second is answered without
// being done again.

#pragma once

#include <evershard/aggregate.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "examples/order/shop.pb.h"

struct Order {
  static constexpr std::string_view type = "order";
  using State = shop::Order;
  using Commands = evershard::Types<shop::PlaceOrder, shop::ConfirmOrder, shop::CancelOrder>;
  using Events = evershard::Types<shop::OrderPlaced, shop::OrderConfirmed, shop::OrderCancelled>;

  static evershard::Effect<> on(const State& order, const shop::PlaceOrder& command) {
    if (order.status() != State::NONE) return evershard::reject("the order is placed already");
    if (command.count() == 0) return evershard::reject("an order of nothing");
    shop::OrderPlaced placed;
    placed.set_order(command.order());
    placed.set_item(command.item());
    placed.set_count(command.count());
    return evershard::persist(placed);
  }

  static evershard::Effect<> on(const State& order, const shop::ConfirmOrder& command) {
    if (order.status() == State::CONFIRMED) return evershard::nothing();
    if (order.status() != State::PLACED) return evershard::reject("the order is not open");
    shop::OrderConfirmed confirmed;
    confirmed.set_order(command.order());
    return evershard::persist(confirmed);
  }

  // A customer's wish, or the follow-up of a refused reservation: whoever comes first, the other finds it done.
  static evershard::Effect<> on(const State& order, const shop::CancelOrder& command) {
    if (order.status() == State::CANCELLED) return evershard::nothing();
    if (order.status() == State::NONE) return evershard::reject("there is no such order");
    shop::OrderCancelled cancelled;
    cancelled.set_order(command.order());
    cancelled.set_item(order.item());
    cancelled.set_reason(command.reason());
    return evershard::persist(cancelled);
  }

  static void apply(State& order, const shop::OrderPlaced& event) {
    order.set_status(State::PLACED);
    order.set_item(event.item());
    order.set_count(event.count());
  }
  static void apply(State& order, const shop::OrderConfirmed&) { order.set_status(State::CONFIRMED); }
  static void apply(State& order, const shop::OrderCancelled&) { order.set_status(State::CANCELLED); }
};

struct Stock {
  static constexpr std::string_view type = "stock";
  using State = shop::Stock;
  using Commands = evershard::Types<shop::Restock, shop::Reserve, shop::Release>;
  using Events = evershard::Types<shop::Restocked, shop::Reserved, shop::ReservationRefused, shop::Released>;

  static evershard::Effect<> on(const State&, const shop::Restock& command) {
    if (command.count() == 0) return evershard::nothing();
    shop::Restocked restocked;
    restocked.set_count(command.count());
    return evershard::persist(restocked);
  }

  // Too little is an event and not a rejection: the order has to hear of it, whatever happens to whoever asked.
  static evershard::Effect<> on(const State& stock, const shop::Reserve& command) {
    if (stock.reserved().contains(command.order())) return evershard::nothing();
    if (stock.free() < command.count()) {
      shop::ReservationRefused refused;
      refused.set_order(command.order());
      refused.set_count(command.count());
      refused.set_free(stock.free());
      return evershard::persist(refused);
    }
    shop::Reserved reserved;
    reserved.set_order(command.order());
    reserved.set_count(command.count());
    return evershard::persist(reserved);
  }

  static evershard::Effect<> on(const State& stock, const shop::Release& command) {
    const auto reserved = stock.reserved().find(command.order());
    if (reserved == stock.reserved().end()) return evershard::nothing();
    shop::Released released;
    released.set_order(command.order());
    released.set_count(reserved->second);
    return evershard::persist(released);
  }

  static void apply(State& stock, const shop::Restocked& event) { stock.set_free(stock.free() + event.count()); }
  static void apply(State& stock, const shop::Reserved& event) {
    stock.set_free(stock.free() - event.count());
    (*stock.mutable_reserved())[event.order()] = event.count();
  }
  static void apply(State&, const shop::ReservationRefused&) {}
  static void apply(State& stock, const shop::Released& event) {
    stock.set_free(stock.free() + event.count());
    stock.mutable_reserved()->erase(event.order());
  }
};

/// A command that an event leads to.
struct FollowUp {
  evershard::AggregateId to;
  std::variant<shop::Reserve, shop::Release, shop::ConfirmOrder, shop::CancelOrder> command;
  std::string command_id;  ///< made of the event's id: the same however often the event is seen
};

/// What follows from which event. It decides on the event alone and remembers nothing, so it can start again anywhere.
struct Fulfilment {
  using Events = evershard::Types<shop::OrderPlaced, shop::Reserved, shop::ReservationRefused, shop::OrderCancelled>;

  static FollowUp next(const shop::OrderPlaced& placed) {
    shop::Reserve reserve;
    reserve.set_order(placed.order());
    reserve.set_count(placed.count());
    return {{"stock", placed.item()}, reserve, {}};
  }
  static FollowUp next(const shop::Reserved& reserved) {
    shop::ConfirmOrder confirm;
    confirm.set_order(reserved.order());
    return {{"order", reserved.order()}, confirm, {}};
  }
  static FollowUp next(const shop::ReservationRefused& refused) {
    shop::CancelOrder cancel;
    cancel.set_order(refused.order());
    cancel.set_reason("only " + std::to_string(refused.free()) + " left");
    return {{"order", refused.order()}, cancel, {}};
  }
  static FollowUp next(const shop::OrderCancelled& cancelled) {
    shop::Release release;
    release.set_order(cancelled.order());
    return {{"stock", cancelled.item()}, release, {}};
  }
};

/// Returns: nothing, where nothing follows. Errors: corruption  the bytes are not of the event's type
inline evershard::Result<std::optional<FollowUp>> follow_up(const evershard::RecordedEvent& recorded) {
  const auto follow = [&](const auto& event) -> std::optional<FollowUp> {
    if constexpr (std::is_same_v<decltype(event), const std::monostate&>) {
      return std::nullopt;
    } else {
      FollowUp next = Fulfilment::next(event);
      next.command_id = recorded.id.text();
      return next;
    }
  };
  return evershard::typed_event<Fulfilment::Events>(recorded).map(
      [&](const auto& event) { return std::visit(follow, event); });
}
