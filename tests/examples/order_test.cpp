#include "examples/order/order.hpp"

#include <gtest/gtest.h>
#include <evershard/test_kit.hpp>

namespace {

using evershard::RecordedEvent;
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

TEST(Order, IsPlacedConfirmedAndCancelledOnce) {
  const auto placed = of_item<shop::OrderPlaced>("1", "tea", 2);
  TestKit<Order> kit("1");

  kit.given().when(of_item<shop::PlaceOrder>("1", "tea", 2)).then(placed).replied();
  kit.when(of_item<shop::PlaceOrder>("1", "tea", 2)).rejected("the order is placed already");
  kit.when(of<shop::ConfirmOrder>("1")).then(of<shop::OrderConfirmed>("1"));
  kit.when(of<shop::ConfirmOrder>("1")).then().replied();
  kit.when(of<shop::CancelOrder>("1")).then(cancelled("1", "tea", ""));
  kit.when(of<shop::CancelOrder>("1")).then().replied();
  kit.when(of<shop::ConfirmOrder>("1")).rejected("the order is not open");
  kit.given().when(of_item<shop::PlaceOrder>("1", "tea", 0)).rejected("an order of nothing");
  kit.given().when(of<shop::CancelOrder>("1")).rejected("there is no such order");
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

/// An event as a follower gets it.
template <class E>
RecordedEvent recorded(const E& event) {
  RecordedEvent recorded;
  recorded.id = *evershard::EventId::parse("00000000-0000-4000-8000-000000000001");
  recorded.type = evershard::name_of_type<E>();
  recorded.payload = *evershard::to_bytes(event);
  return recorded;
}

template <class Command, class E>
void expect_follows(const E& event, const evershard::AggregateId& to, const Command& command) {
  const auto next = follow_up(recorded(event));
  ASSERT_TRUE(next && *next);
  EXPECT_EQ((*next)->to, to);
  ASSERT_TRUE(std::holds_alternative<Command>((*next)->command));
  EXPECT_EQ(std::get<Command>((*next)->command).SerializeAsString(), command.SerializeAsString());
  EXPECT_EQ((*next)->command_id, "00000000-0000-4000-8000-000000000001");
}

TEST(Fulfilment, LeadsFromEachEventToTheNextCommand) {
  auto cancel = of<shop::CancelOrder>("1");
  cancel.set_reason("only 1 left");

  expect_follows(of_item<shop::OrderPlaced>("1", "tea", 2), {"stock", "tea"}, of<shop::Reserve>("1", 2));
  expect_follows(of<shop::Reserved>("1", 2), {"order", "1"}, of<shop::ConfirmOrder>("1"));
  expect_follows(refused("1", 2, 1), {"order", "1"}, cancel);
  expect_follows(cancelled("1", "tea", ""), {"stock", "tea"}, of<shop::Release>("1"));
}

TEST(Fulfilment, EndsWhereNothingFollows) {
  const auto next = follow_up(recorded(of<shop::OrderConfirmed>("1")));

  ASSERT_TRUE(next);
  EXPECT_FALSE(*next);
}

TEST(Fulfilment, RefusesWhatItCannotRead) {
  auto damaged = recorded(of<shop::Reserved>("1", 2));
  damaged.payload = "\x0a\x09";

  const auto next = follow_up(damaged);

  ASSERT_FALSE(next);
  EXPECT_EQ(next.error().code, evershard::ErrorCode::corruption);
}

}  // namespace
