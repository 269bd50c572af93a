// An order and the stock it is served from: two aggregates that never wait for each other, and the process that leads
// from one to the other.
//
//     PlaceOrder -> OrderPlaced -> Reserve -> Reserved           -> ConfirmOrder -> OrderConfirmed
//                                          \> ReservationRefused -> CancelOrder  -> OrderCancelled -> Release
//
// Each arrow from an event to a command is one function of Fulfilment, and is gone once, whatever crashes. A confirmed
// order waits for its payment: a timer that it sets itself sends it CancelOrder when that does not come.

#pragma once

#include <chrono>
#include <evershard/aggregate.hpp>
#include <evershard/process.hpp>
#include <string>
#include <string_view>

#include "examples/order/shop.pb.h"

struct Order {
  static constexpr std::string_view type = "order";
  using State = shop::Order;
  using Commands = evershard::Types<shop::PlaceOrder, shop::ConfirmOrder, shop::PayOrder, shop::CancelOrder>;
  using Events = evershard::Types<shop::OrderPlaced, shop::OrderConfirmed, shop::OrderPaid, shop::OrderCancelled>;

  static evershard::Effect<> on(const State& order, const shop::PlaceOrder& command) {
    if (order.status() != State::NONE) return evershard::reject("the order is placed already");
    if (command.count() == 0) return evershard::reject("an order of nothing");
    shop::OrderPlaced placed;
    placed.set_order(command.order());
    placed.set_item(command.item());
    placed.set_count(command.count());
    placed.set_pay_within_ms(command.pay_within_ms());
    return evershard::persist(placed);
  }

  static evershard::Effect<> on(const State& order, const shop::ConfirmOrder& command) {
    if (order.status() != State::PLACED) return evershard::reject("the order is not open");
    shop::OrderConfirmed confirmed;
    confirmed.set_order(command.order());
    shop::CancelOrder unpaid;
    unpaid.set_order(command.order());
    unpaid.set_reason("not paid in time");
    return evershard::persist(confirmed).schedule("unpaid", std::chrono::milliseconds(order.pay_within_ms()), unpaid);
  }

  static evershard::Effect<> on(const State& order, const shop::PayOrder& command) {
    if (order.status() == State::PAID) return evershard::nothing();
    if (order.status() != State::CONFIRMED) return evershard::reject("the order is not to be paid");
    shop::OrderPaid paid;
    paid.set_order(command.order());
    return evershard::persist(paid).cancel("unpaid");
  }

  // A customer's wish, what follows a refused reservation, or a payment that did not come.
  static evershard::Effect<> on(const State& order, const shop::CancelOrder& command) {
    if (order.status() == State::CANCELLED) return evershard::nothing();
    if (order.status() == State::NONE) return evershard::reject("there is no such order");
    if (order.status() == State::PAID) return evershard::reject("the order is paid");
    shop::OrderCancelled cancelled;
    cancelled.set_order(command.order());
    cancelled.set_item(order.item());
    cancelled.set_reason(command.reason());
    return evershard::persist(cancelled).cancel("unpaid");
  }

  static void apply(State& order, const shop::OrderPlaced& event) {
    order.set_status(State::PLACED);
    order.set_item(event.item());
    order.set_count(event.count());
    order.set_pay_within_ms(event.pay_within_ms());
  }
  static void apply(State& order, const shop::OrderConfirmed&) { order.set_status(State::CONFIRMED); }
  static void apply(State& order, const shop::OrderPaid&) { order.set_status(State::PAID); }
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

/// What follows from which event. An instance is an order's.
struct Fulfilment {
  static constexpr std::string_view type = "fulfilment";
  using State = shop::Fulfilment;
  using Reacts = evershard::Types<shop::OrderPlaced, shop::Reserved, shop::ReservationRefused, shop::OrderCancelled>;
  using Events = evershard::Types<>;  // the events it reacts to say all

  template <class Event>
  static std::string key(const Event& event) {
    return event.order();
  }

  static evershard::Reaction<Fulfilment> on(const State&, const shop::OrderPlaced& placed) {
    shop::Reserve reserve;
    reserve.set_order(placed.order());
    reserve.set_count(placed.count());
    return evershard::react().send<Stock>(placed.item(), reserve);
  }
  static evershard::Reaction<Fulfilment> on(const State&, const shop::Reserved& reserved) {
    shop::ConfirmOrder confirm;
    confirm.set_order(reserved.order());
    return evershard::react().send<Order>(reserved.order(), confirm);
  }
  static evershard::Reaction<Fulfilment> on(const State&, const shop::ReservationRefused& refused) {
    shop::CancelOrder cancel;
    cancel.set_order(refused.order());
    cancel.set_reason("only " + std::to_string(refused.free()) + " left");
    return evershard::react().send<Order>(refused.order(), cancel);
  }
  // Behind Reserve, whoever cancelled it: commands of an instance are sent in their order.
  static evershard::Reaction<Fulfilment> on(const State&, const shop::OrderCancelled& cancelled) {
    shop::Release release;
    release.set_order(cancelled.order());
    return evershard::react().send<Stock>(cancelled.item(), release).end();
  }
};
