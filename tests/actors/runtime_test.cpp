// The actors around the core: intake and reader over a store in memory, and a shutdown that ends.

#include "evershard/actors/runtime.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "evershard/storage/open.hpp"

namespace evershard::actors {
namespace {

using namespace std::chrono_literals;
using messages::AppendAnswer;
using messages::AppendAtom;
using messages::AppendMessage;
using messages::PageAnswer;
using messages::PageAtom;
using messages::PageMessage;

class ActorRuntime : public testing::Test {
 protected:
  std::unique_ptr<storage::Store> store = std::move(storage::open_store({.shards = 4}).value());
  std::unique_ptr<Committer> committer = std::make_unique<Committer>(*store, CommitterOptions{});
  Runtime runtime{*committer, *store, {.threads = 2, .readers = 2}};

  ~ActorRuntime() override {
    committer->stop();
    EXPECT_TRUE(runtime.stop());
  }

  Result<Appended> append(Append append) {
    caf::scoped_actor self(runtime.system());
    Result<Appended> out = refuse(ErrorCode::timeout, "no answer");
    self->request(runtime.intake(), 5s, AppendAtom::value, AppendMessage{std::make_shared<Append>(std::move(append))})
        .receive([&](const AppendAnswer& answer) { out = *answer.answer; }, [](const caf::error&) {});
    return out;
  }

  Result<Page> page(std::variant<PageMessage::OfQuery, PageMessage::OfStream> read, std::size_t events_max) {
    caf::scoped_actor self(runtime.system());
    Result<Page> out = refuse(ErrorCode::timeout, "no answer");
    self->request(runtime.reader(), 5s, PageAtom::value, PageMessage{std::make_shared<const decltype(read)>(std::move(read)), events_max})
        .receive([&](const PageAnswer& answer) { out = *answer.answer; }, [](const caf::error&) {});
    return out;
  }
};

TEST_F(ActorRuntime, AnswersAnAppendWithItsPositions) {
  auto first = append(Append{}.event("order-1", "Placed", "a").event("order-2", "Placed", "b"));
  auto second = append(Append{}.event("order-1", "Paid", "c").expect("order-1", Version::exactly(1)));

  ASSERT_TRUE(first && second);
  EXPECT_EQ(first->last_position, GlobalPosition{2});
  EXPECT_EQ(second->versions, (std::vector<AggregateVersion>{{{"order", "1"}, SeqNr{2}}}));
}

TEST_F(ActorRuntime, AnswersARefusalAsAValue) {
  auto refused = append(Append{}.event("order-1", "Placed", "a").expect("order-1", Version::exists()));

  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, ErrorCode::version_conflict);
}

TEST_F(ActorRuntime, ReadsPageAfterPageOfQueryAndStream) {
  for (int i = 0; i < 5; ++i) ASSERT_TRUE(append(Append{}.event("order-1", "Placed", std::to_string(i), {"t"})));

  auto first = page(PageMessage::OfQuery{Query{}.tags({"t"}), {}}, 3);
  ASSERT_TRUE(first);
  auto rest = page(PageMessage::OfQuery{Query{}.tags({"t"}), {.after = first->events.back().position, .up_to = first->watermark}}, 3);
  auto stream = page(PageMessage::OfStream{{"order", "1"}, {.direction = Direction::backwards}}, 10);

  ASSERT_TRUE(rest && stream);
  EXPECT_EQ(first->events.size(), 3u);
  EXPECT_FALSE(first->complete);
  EXPECT_EQ(rest->events.size(), 2u);
  EXPECT_TRUE(rest->complete);
  EXPECT_EQ(stream->events.front().payload, "4");
}

TEST_F(ActorRuntime, RefusesAnEmptyQuery) {
  auto refused = page(PageMessage::OfQuery{Query{}, {}}, 3);

  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, ErrorCode::invalid_query);
}

TEST_F(ActorRuntime, AnswersEveryoneWhenItIsStoppedUnderLoad) {
  caf::scoped_actor self(runtime.system());
  constexpr int sent = 2'000;
  for (int i = 0; i < sent; ++i)
    self->send(runtime.intake(), AppendAtom::value, AppendMessage{std::make_shared<Append>(Append{}.event("order-" + std::to_string(i % 7), "Placed", "x"))});

  committer->stop();

  int stored = 0, refused = 0;
  while (stored + refused < sent) {
    bool silent = false;
    self->receive([&](const AppendAnswer& answer) { ++(*answer.answer ? stored : refused); }, caf::after(5s) >> [&] { silent = true; });
    ASSERT_FALSE(silent) << "only " << stored + refused << " of " << sent << " were answered";
  }
  EXPECT_EQ(static_cast<std::uint64_t>(stored), store->view().watermark.value);
}

TEST_F(ActorRuntime, EndsTwiceWithoutHanging) {
  committer->stop();

  EXPECT_TRUE(runtime.stop());
  EXPECT_TRUE(runtime.stop());
}

}  // namespace
}  // namespace evershard::actors
