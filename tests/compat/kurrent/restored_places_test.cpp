// Persistent subscriptions over the restore of their store: their places, which lie behind what the store has now.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <optional>

#include "evershard/compat/kurrent/kept_subscription.hpp"
#include "evershard/compat/kurrent/virtual_streams.hpp"
#include "evershard/local/local.hpp"
#include "evershard/local/maintenance.hpp"
#include "tests/contract/temporary_folder.hpp"

namespace evershard::kurrent {
namespace {

using ::testing::HasSubstr;
using ::testing::IsEmpty;
using Key = PersistentSubscription::Key;

constexpr std::uint64_t of_first_history = 12;

class RestoredPlaces : public ::testing::Test {
 protected:
  RestoredPlaces() { open(); }

  void open() {
    store_.reset();
    store_.emplace(Local::open({.data_dir = data(), .shards = 4}).value());
    fork_ = store_->stats().value().info.fork_id;
  }
  void append(int events) {
    for (int i = 0; i < events; ++i) ASSERT_TRUE(store_->append(Append{}.event("order-1", "Placed", "{}")));
  }
  void restore_up_to(std::uint64_t position) {
    store_.reset();
    ASSERT_TRUE(restore(data(), folder_.path() / "again", {.up_to = GlobalPosition(position)}));
    std::filesystem::remove_all(data());
    std::filesystem::rename(folder_.path() / "again", data());
    open();
  }
  /// Everything of the first history was read; 3 and the last are parked, one in front of that is settled.
  KeptSubscription read_by(const std::string& stream) {
    KeptSubscription kept;
    auto& options = *kept.definition.mutable_options();
    const bool all = stream == "$all";
    if (all)
      options.mutable_all();
    else
      options.mutable_stream()->mutable_stream_identifier()->set_stream_name(stream);
    kept.progress.place = KeptPlace(fork_);
    const auto derived = Derived::from(stream);
    for (std::uint64_t position = 1; position <= store_->head()->value; ++position) {
      const auto id = store_->event_at(GlobalPosition(position))->id;
      kept.progress.place.add({GlobalPosition(position), derived ? derived->link_id(id, GlobalPosition(position)) : id,
                               all ? position : position - 1});
    }
    const Key last = all ? of_first_history : of_first_history - 1;
    kept.progress.checkpoint = last - 2;
    kept.progress.settled = {last - 1};
    kept.progress.park(3, "bad");
    kept.progress.park(last, "bad");
    return kept;
  }
  std::string settle(KeptSubscription& kept) {
    const auto why = settle_progress(store_->all_names(), kept, fork_);
    EXPECT_TRUE(why) << why.error().what;
    return why.value_or("");
  }
  [[nodiscard]] std::filesystem::path data() const { return folder_.path() / "data"; }

  TemporaryFolder folder_;
  std::optional<Local> store_;
  std::string fork_;
};

TEST_F(RestoredPlaces, StandInTheStoreThatTheyAreOf) {
  append(of_first_history);
  for (const auto* stream : {"order-1", "$all", "$ce-order", "$et-Placed"}) {
    auto kept = read_by(stream);
    const auto before = kept.progress;
    EXPECT_THAT(settle(kept), IsEmpty()) << stream;
    EXPECT_EQ(kept.progress, before) << stream;
  }
}

TEST_F(RestoredPlaces, FallBackToWhatTheStoreHasAlsoWhereItHasGrownPastThem) {
  append(of_first_history);
  std::map<std::string, KeptSubscription> kept;
  for (const auto* stream : {"order-1", "$all", "$ce-order", "$et-Placed"}) kept[stream] = read_by(stream);
  restore_up_to(7);
  for (const bool grown : {false, true}) {
    if (grown) append(20);
    for (auto [stream, of] : kept) {
      EXPECT_THAT(settle(of), HasSubstr("the place falls back to position 7")) << stream;
      EXPECT_EQ(of.progress.checkpoint, stream == "$all" ? 7u : 6u) << stream;
      EXPECT_THAT(of.progress.settled, IsEmpty()) << stream;
      EXPECT_EQ(of.progress.parked.size(), 1u) << stream << ": the one of the other history goes";
      EXPECT_EQ(of.progress.place.fork(), fork_);
      EXPECT_THAT(settle(of), IsEmpty()) << stream << ": once";
    }
  }
}

/// The same fork, as after a disk's snapshot was put back.
TEST_F(RestoredPlaces, FallBackWhereFilesWerePutBackAndWentAnotherWay) {
  append(7);
  store_.reset();
  std::filesystem::copy(data(), folder_.path() / "earlier", std::filesystem::copy_options::recursive);
  open();
  append(of_first_history - 7);
  auto kept = read_by("order-1");
  store_.reset();
  std::filesystem::remove_all(data());
  std::filesystem::rename(folder_.path() / "earlier", data());
  open();
  append(20);
  EXPECT_THAT(settle(kept), HasSubstr("another event stands at position 12"));
  EXPECT_EQ(kept.progress.checkpoint, 6u);
}

TEST_F(RestoredPlaces, OfAnEarlierReleaseFallBackToTheEndOfTheStream) {
  append(of_first_history);
  auto of_stream = read_by("order-1");
  auto of_all = read_by("$all");
  of_stream.progress.place = of_all.progress.place = {};
  restore_up_to(7);
  EXPECT_THAT(settle(of_stream), HasSubstr("falls back"));
  EXPECT_EQ(of_stream.progress.checkpoint, 6u);
  EXPECT_THAT(settle(of_all), HasSubstr("falls back to position 7"));
  EXPECT_EQ(of_all.progress.checkpoint, 7u);
}

TEST_F(RestoredPlaces, AreKeptWithTheirEvents) {
  append(of_first_history);
  const AggregateId kept_in{"$persistent", "order-1::g"};
  auto kept = read_by("order-1");
  const auto version = write_subscription(store_->all_names(), kept_in, SeqNr{0}, kept.definition);
  ASSERT_TRUE(version) << version.error().what;
  ASSERT_TRUE(store_->all_names().put_snapshot(snapshot_of(kept_in, *version, kept.progress)));
  SeqNr found;
  const auto read = load_subscription(store_->all_names(), kept_in, found);
  ASSERT_TRUE(read && *read);
  EXPECT_EQ((*read)->progress, kept.progress);
}

/// A release before counted links, and kept each key and each reason by itself.
TEST_F(RestoredPlaces, OfAReleaseThatCountedLinksGetTheirNumbers) {
  append(2);
  for (int i = 0; i < 5; ++i) ASSERT_TRUE(store_->append(Append{}.event("cart-1", "Put", "{}")));
  append(3);  // links 2 to 4, of positions 8 to 10
  KeptSubscription kept;
  kept.definition.mutable_options()->mutable_stream()->mutable_stream_identifier()->set_stream_name("$et-Placed");
  esps::KeptProgress before;
  before.set_checkpoint(1);
  before.add_settled(3);
  auto& parked = *before.add_parked();
  parked.set_key(2);
  parked.set_reason("bad");
  const AggregateId kept_in{"$persistent", "$et-Placed::g"};
  const auto version = write_subscription(store_->all_names(), kept_in, SeqNr{0}, kept.definition);
  ASSERT_TRUE(version) << version.error().what;
  ASSERT_TRUE(store_->all_names().put_snapshot(
      {kept_in, *version, before.SerializeAsString(), PayloadFormat::unspecified, 1, {}, {}}));
  SeqNr found;
  auto read = load_subscription(store_->all_names(), kept_in, found);
  ASSERT_TRUE(read && *read);
  ASSERT_TRUE((*read)->counts_links);
  ASSERT_TRUE(number_by_positions(store_->all_names(), **read));
  EXPECT_EQ((*read)->progress.checkpoint, 1u) << "of position 2";
  EXPECT_EQ((*read)->progress.settled, std::set<Key>{8});
  EXPECT_EQ((*read)->progress.reason_of(7), "bad");
  // What is kept next is numbered.
  ASSERT_TRUE(store_->all_names().put_snapshot(snapshot_of(kept_in, *version, (*read)->progress)));
  const auto again = load_subscription(store_->all_names(), kept_in, found);
  ASSERT_TRUE(again && *again);
  EXPECT_FALSE((*again)->counts_links);
  EXPECT_EQ((*again)->progress, (*read)->progress);
}

TEST_F(RestoredPlaces, AreSmallHoweverMuchIsParked) {
  PersistentSubscription::Progress progress;
  progress.checkpoint = 5'000'000'000;
  for (std::uint64_t i = 0; i != PersistentSubscription::parked_max; ++i)
    progress.park(4'000'000'000 + 50'000 * i, std::to_string(i) + std::string(500, 'x'));
  for (std::uint64_t i = 1; i != PersistentSubscription::unsettled_max; ++i)
    progress.settled.insert(5'000'000'000 + 2 * i);
  const AggregateId kept_in{"$persistent", "order-1::g"};
  EXPECT_LT(snapshot_of(kept_in, SeqNr{1}, progress).payload.size(), 400u << 10) << "it is written for each settlement";
}

}  // namespace
}  // namespace evershard::kurrent
