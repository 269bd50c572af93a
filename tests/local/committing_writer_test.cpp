// What retention writes to a store whose sealing lags behind.

#include "evershard/local/committing_writer.hpp"

#include <gtest/gtest.h>

#include <future>

#include "tests/actors/core/steered_store.hpp"

namespace evershard::cluster {
namespace {

using namespace std::chrono_literals;

struct CommittingWriterTest : ::testing::Test {
  static Append removal() { return Append{}.event("order-1", "Removed", "{}"); }
  static storage::RowWrites row() {
    storage::RowWrites rows;
    rows.state.push_back({"key", "value"});
    return rows;
  }
  void busy() { store.admit({storage::Admission::Kind::full, 0, "sealing lags behind"}); }

  actors::SteeredStore store{4};
  actors::Committer committer{store, {}};
};

TEST_F(CommittingWriterTest, WaitsWhileSealingLagsBehind) {
  CommittingWriter writer(committer, {}, 60s);
  busy();
  auto written = std::async(std::launch::async, [&] {
    auto done = writer.append_with(removal(), row());
    return done ? writer.write_rows(row()) : done;
  });
  EXPECT_EQ(written.wait_for(50ms), std::future_status::timeout);

  store.admit({});

  const auto done = written.get();
  EXPECT_TRUE(done) << done.error().what;
  EXPECT_TRUE(committer.append(removal().expect("order-1", ExpectedVersion::exactly(SeqNr{1}))));  // once
}

TEST_F(CommittingWriterTest, AsksWhileItWaitsWhetherItIsToGoOn) {
  CommittingWriter writer(committer, {}, 600s);
  busy();
  int asked = 0;
  writer.while_waiting([&]() -> Result<void> {
    if (++asked < 3) return {};
    return refuse(ErrorCode::cancelled, "stopped");
  });

  const auto appended = writer.append_with(removal(), row());
  const auto written = writer.write_rows(row());

  ASSERT_FALSE(appended);
  EXPECT_EQ(appended.error().code, ErrorCode::cancelled);
  ASSERT_FALSE(written);
  EXPECT_EQ(written.error().code, ErrorCode::cancelled);
  EXPECT_EQ(asked, 4);
}

TEST_F(CommittingWriterTest, SaysSoWhereItLagsForTooLong) {
  CommittingWriter writer(committer, {}, 20ms);
  busy();

  const auto appended = writer.append_with(removal(), row());
  const auto written = writer.write_rows(row());

  ASSERT_FALSE(appended);
  EXPECT_EQ(appended.error().code, ErrorCode::overloaded);
  ASSERT_FALSE(written);
  EXPECT_EQ(written.error().code, ErrorCode::overloaded);
}

TEST_F(CommittingWriterTest, DoesNotWaitForAStoreThatCloses) {
  CommittingWriter writer(committer, {}, 600s);
  busy();
  auto written = std::async(std::launch::async, [&] { return writer.write_rows(row()); });

  committer.stop();

  const auto done = written.get();
  ASSERT_FALSE(done);
  EXPECT_EQ(done.error().code, ErrorCode::unavailable);
}

}  // namespace
}  // namespace evershard::cluster
