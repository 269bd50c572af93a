#include "examples/order/order.hpp"

#include <gtest/gtest.h>
#include <evershard/process_kit.hpp>
#include <evershard/test_kit.hpp>

namespace {

using namespace std::chrono_literals;
using evershard::ProcessKit;
using evershard::TestKit;

template <class Message>
Message of(std::string order) {
  Message message;
  message.set_order(std::move(order));
  return message;
}
template <class Message>
Message of(std::string order, std::uint32_t count) {
  auto message = of<Message>(std::move(order));
  message.set_count(count);
  return message;
}
template <class Message>
Message of_item(std::string order, std::string item, std::uint32_t count) {
  auto message = of<Message>(std::move(order), count);
  message.set_item(std::move(item));
  return message;
}
shop::OrderCancelled cancelled(std::string order, std::string item, std::string reason) {
  auto event = of<shop::OrderCancelled>(std::move(order));
  event.set_item(std::move(item));
  event.set_reason(std::move(reason));
  return event;
}
shop::Restocked restocked(std::uint32_t count) {
  shop::Restocked event;
  event.set_count(count);
  return event;
}
shop::ReservationRefused refused(std::string order, std::uint32_t count, std::uint32_t free) {
  auto event = of<shop::ReservationRefused>(std::move(order), count);
  event.set_free(free);
  return event;
}

shop::PlaceOrder place(std::string order, std::uint32_t count, std::chrono::milliseconds pay_within) {
  auto command = of_item<shop::PlaceOrder>(std::move(order), "tea", count);
  command.set_pay_within_ms(static_cast<std::uint32_t>(pay_within.count()));
  return command;
}
shop::CancelOrder unpaid() {
  auto command = of<shop::CancelOrder>("1");
  command.set_reason("not paid in time");
  return command;
}

TEST(Order, IsPlacedConfirmedAndCancelledOnce) {
  const auto placed = of_item<shop::OrderPlaced>("1", "tea", 2);
  TestKit<Order> kit("1");

  kit.given().when(of_item<shop::PlaceOrder>("1", "tea", 2)).then(placed).replied();
  kit.when(of_item<shop::PlaceOrder>("1", "tea", 2)).rejected("the order is placed already");
  kit.when(of<shop::ConfirmOrder>("1")).then(of<shop::OrderConfirmed>("1"));
  kit.when(of<shop::ConfirmOrder>("1")).rejected("the order is not open");
  kit.when(of<shop::CancelOrder>("1")).then(cancelled("1", "tea", ""));
  kit.when(of<shop::CancelOrder>("1")).then().replied();
  kit.when(of<shop::ConfirmOrder>("1")).rejected("the order is not open");
  kit.given().when(of_item<shop::PlaceOrder>("1", "tea", 0)).rejected("an order of nothing");
  kit.given().when(of<shop::CancelOrder>("1")).rejected("there is no such order");
}

TEST(Order, WaitsForItsPayment) {
  TestKit<Order> kit("1");
  kit.when(place("1", 2, 15min));
  kit.when(of<shop::ConfirmOrder>("1")).scheduled("unpaid", 15min, unpaid());
  kit.when_due<shop::CancelOrder>("unpaid").then(cancelled("1", "tea", "not paid in time"));

  kit.given().when(place("1", 2, 15min));
  kit.when(of<shop::ConfirmOrder>("1"));
  kit.when(of<shop::PayOrder>("1")).then(of<shop::OrderPaid>("1")).cancelled("unpaid");
  EXPECT_TRUE(kit.pending().empty());
  kit.when(of<shop::CancelOrder>("1")).rejected("the order is paid");
}

TEST(Stock, IsReservedUntilThereIsTooLittle) {
  TestKit<Stock> kit("tea");

  kit.given(restocked(3)).when(of<shop::Reserve>("1", 2)).then(of<shop::Reserved>("1", 2));
  kit.when(of<shop::Reserve>("1", 2)).then().replied();
  kit.when(of<shop::Reserve>("2", 2)).then(refused("2", 2, 1));
  kit.when(of<shop::Release>("1")).then(of<shop::Released>("1", 2));
  kit.when(of<shop::Release>("1")).then();
  kit.when(of<shop::Reserve>("2", 2)).then(of<shop::Reserved>("2", 2));
}

void begin(ProcessKit& kit) {
  ASSERT_TRUE(kit.host<Order>());
  ASSERT_TRUE(kit.host<Stock>());
  ASSERT_TRUE(kit.run<Fulfilment>());
  shop::Restock restock;
  restock.set_count(10);
  ASSERT_TRUE(kit.get<Stock>("tea").ask(restock, {.command_id = "delivery"}));
  for (const auto& [order, count] : {std::pair("1", 6), {"2", 6}, {"3", 4}})
    ASSERT_TRUE(kit.get<Order>(order).ask(place(order, static_cast<std::uint32_t>(count), 15min)));
}
shop::Order::Status status(ProcessKit& kit, std::string_view order) {
  return kit.get<Order>(order).state()->state.status();
}

TEST(Fulfilment, LeadsFromEachEventToTheNextCommand) {
  ProcessKit kit;
  begin(kit);
  kit.settle();
  const auto confirmed = [&](const char* order) { return status(kit, order) == shop::Order::CONFIRMED ? 1 : 0; };
  EXPECT_EQ(confirmed("1") + confirmed("2") + confirmed("3"), 2) << "there is not enough for all of them";
  const std::string first = status(kit, "1") == shop::Order::CONFIRMED ? "1" : "2";
  ASSERT_TRUE(kit.get<Order>(first).ask(of<shop::PayOrder>(first)));
  kit.pass(20min);
  EXPECT_EQ(status(kit, first), shop::Order::PAID);
  EXPECT_EQ(status(kit, "3"), shop::Order::CANCELLED) << "nobody paid";
  EXPECT_EQ(kit.get<Stock>("tea").state()->state.free(), 4u);
}

TEST(Fulfilment, ReleasesAllThatNobodyPaidWhereverItCrashes) {
  evershard::for_every_crash(begin, [](ProcessKit& kit) {
    for (const auto* order : {"1", "2", "3"}) EXPECT_EQ(status(kit, order), shop::Order::CANCELLED);
    EXPECT_EQ(kit.get<Stock>("tea").state()->state.free(), 10u);
  });
}

}  // namespace
