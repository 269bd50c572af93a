// EventStream over pages that a test hands it.

#include "evershard/api/event_stream.hpp"

#include <deque>
#include <ranges>

#include "evershard/api/page_forms.hpp"
#include "tests/local/small_store.hpp"

namespace evershard {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

static_assert(std::ranges::input_range<EventStream>);
static_assert(std::movable<EventStream> && !std::copyable<EventStream>);

class ScriptedPages final : public PagesOfValues {
 public:
  explicit ScriptedPages(std::deque<Result<Page>> pages, int* asked = nullptr)
      : pages_(std::move(pages)), asked_(asked) {}
  Result<Page> next_page() override {
    if (asked_ != nullptr) ++*asked_;
    auto page = std::move(pages_.front());
    pages_.pop_front();
    return page;
  }
  void cancel() override {}

 private:
  std::deque<Result<Page>> pages_;
  int* asked_;
};

Page page(std::vector<std::uint64_t> positions, bool complete) {
  Page made{{}, GlobalPosition{9}, complete};
  for (const auto position : positions) {
    RecordedEvent event;
    event.position = GlobalPosition{position};
    made.events.push_back(event);
  }
  return made;
}

template <class... Pages>
EventStream stream_of(Pages... pages) {
  return EventStream(std::make_unique<ScriptedPages>(std::deque<Result<Page>>{std::move(pages)...}));
}

std::vector<std::uint64_t> drain(EventStream& stream) {
  std::vector<std::uint64_t> positions;
  for (const auto& event : stream) positions.push_back(event.position.value);
  return positions;
}

TEST(EventStream, GoesOnOverPagesUntilTheCompleteOne) {
  auto stream = stream_of(page({1, 2}, false), page({3}, false), page({4, 5}, true));

  const auto seen = drain(stream);

  EXPECT_THAT(seen, ElementsAre(1, 2, 3, 4, 5));
  EXPECT_FALSE(stream.error());
  EXPECT_EQ(stream.watermark(), GlobalPosition{9});
}

TEST(EventStream, PassesOverAnEmptyPageThatIsNotTheLast) {
  auto stream = stream_of(page({}, false), page({1}, false), page({}, false), page({}, true));

  const auto seen = drain(stream);

  EXPECT_THAT(seen, ElementsAre(1));
}

TEST(EventStream, AsksForNothingBehindACompletePage) {
  int asked = 0;
  auto stream = EventStream(std::make_unique<ScriptedPages>(std::deque<Result<Page>>{page({1}, true)}, &asked));

  (void)drain(stream);
  const auto after = stream.next();

  ASSERT_TRUE(after);
  EXPECT_FALSE(after->has_value());
  EXPECT_EQ(asked, 1);
}

TEST(EventStream, AsksForNothingBeforeTheFirstCall) {
  int asked = 0;

  const auto stream = EventStream(std::make_unique<ScriptedPages>(std::deque<Result<Page>>{page({1}, true)}, &asked));

  EXPECT_EQ(asked, 0);
  EXPECT_EQ(stream.watermark(), GlobalPosition{0});
}

TEST(EventStream, ShowsItsEventsWhereNobodyBuildsThem) {
  auto stream = stream_of(page({1, 2}, false), page({3}, false), page({4}, true));
  std::vector<std::uint64_t> seen;
  const auto see = [&seen](const RecordedView& event) { seen.push_back(event.position.value); };
  EXPECT_EQ(stream.next().value()->position, GlobalPosition{1});

  const auto rest = stream.visit(see);
  ASSERT_TRUE(rest);
  EXPECT_EQ(rest->events, 1u);
  EXPECT_FALSE(rest->complete);
  const auto next = stream.visit(see);
  ASSERT_TRUE(next);
  EXPECT_THAT(seen, ElementsAre(2, 3));
  EXPECT_EQ(stream.next().value()->position, GlobalPosition{4});
  const auto end = stream.visit(see);
  ASSERT_TRUE(end);
  EXPECT_TRUE(end->complete);
  EXPECT_EQ(end->events, 0u);
  EXPECT_THAT(seen, ElementsAre(2, 3));
}

TEST(EventStream, ShowsNothingBehindAnError) {
  auto stream = stream_of(Result<Page>(refuse(ErrorCode::io, "gone")));
  const auto see = [](const RecordedView&) { FAIL(); };
  EXPECT_EQ(stream.visit(see).error().code, ErrorCode::io);
  EXPECT_EQ(stream.visit(see).error().code, ErrorCode::io);
  EXPECT_TRUE(stream.visit(see, {.at_hand_max = 10})->says_nothing());
}

TEST(EventStream, EndsALoopAtAnErrorAndTellsIt) {
  auto stream = stream_of(page({1, 2}, false), Result<Page>(refuse(ErrorCode::corruption, "shard 3, offset 7")));

  const auto seen = drain(stream);

  EXPECT_THAT(seen, ElementsAre(1, 2));
  ASSERT_TRUE(stream.error());
  EXPECT_EQ(stream.error()->code, ErrorCode::corruption);
}

TEST(EventStream, AnswersItsErrorAgainAndAgain) {
  auto stream = stream_of(Result<Page>(refuse(ErrorCode::io, "gone")));

  const auto first = stream.next();
  const auto second = stream.next();
  const auto third = stream.next_page();

  EXPECT_EQ(first.error().code, ErrorCode::io);
  EXPECT_EQ(second.error(), first.error());
  EXPECT_EQ(third.error(), first.error());
}

TEST(EventStream, ThatHasOnlyAnErrorTellsIt) {
  auto stream = EventStream(Error(ErrorCode::invalid_query, "no items"));

  const auto seen = drain(stream);

  EXPECT_THAT(seen, IsEmpty());
  EXPECT_EQ(stream.next().error().code, ErrorCode::invalid_query);
}

TEST(EventStream, GivesWholePagesAndTheRestOfOneThatWasBegun) {
  auto stream = stream_of(page({1, 2, 3}, false), page({4, 5}, false), page({6}, true));

  const auto first = stream.next();
  const auto rest = stream.next_page();
  const auto whole = stream.next_page();
  const auto last = stream.next_page();
  const auto behind = stream.next_page();

  EXPECT_EQ((*first)->position, GlobalPosition{1});
  EXPECT_THAT(positions_of(rest->events), ElementsAre(2, 3));
  EXPECT_THAT(positions_of(whole->events), ElementsAre(4, 5));
  EXPECT_FALSE(whole->complete);
  EXPECT_THAT(positions_of(last->events), ElementsAre(6));
  EXPECT_TRUE(last->complete);
  EXPECT_THAT(behind->events, IsEmpty());
  EXPECT_TRUE(behind->complete);
}

TEST(EventStream, GoesOnWhereItWasAfterAMove) {
  auto stream = stream_of(page({1, 2}, false), page({3}, true));
  (void)stream.next();

  auto moved = std::move(stream);

  EXPECT_THAT(drain(moved), ElementsAre(2, 3));
}

TEST(EventStream, GivesNothingMoreOnceCancelled) {
  auto stream = stream_of(page({1, 2}, false), page({3}, true));
  (void)stream.next();

  stream.cancel();
  const auto next = stream.next();

  ASSERT_FALSE(next);
  EXPECT_EQ(next.error().code, ErrorCode::cancelled);
  EXPECT_THAT(drain(stream), IsEmpty());
}

}  // namespace
}  // namespace evershard
