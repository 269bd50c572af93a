// Ids and request ids over all shards: one event's, one request's.

#include <atomic>
#include <thread>

#include "tests/local/small_store.hpp"

namespace evershard {
namespace {

using ::testing::HasSubstr;

struct IdStore {
  const char* name;
  bool durable;
};

/// In memory, and on a disk on which every look-up goes to sealed runs.
class LocalIds : public ::testing::TestWithParam<IdStore> {
 protected:
  Local open() {
    LocalOptions options;
    options.shards = 16;
    if (GetParam().durable) options.data_dir = dir_.path() / "store";
    return open_store(options);
  }
  /// What was appended lies in files now, and another process looks for it.
  void seal(Local& store) {
    if (!GetParam().durable) return;
    ASSERT_TRUE(store.flush());
    store.close();
    store = open();
  }

  ScratchDir dir_;
};

Append named(std::string_view aggregate, std::uint8_t id, std::string payload = "{}") {
  auto append = Append{}.event(aggregate, "T", std::move(payload));
  append.events.front().id = id_of(id);
  return append;
}

TEST_P(LocalIds, AnEventsIdIsOneEventsOverAllShards) {
  auto store = open();
  ASSERT_TRUE(store.append(named("order-0", 1)));
  seal(store);

  for (int n = 1; n <= 40; ++n) {
    const auto refused = store.append(named("order-" + std::to_string(n), 1));
    ASSERT_EQ(code_of(refused), "duplicate_event") << n;
    EXPECT_EQ(refused.error().details->position, GlobalPosition{1});
  }
  const auto again = store.append(named("order-0", 1));
  ASSERT_TRUE(again) << again.error().what;
  EXPECT_TRUE(again->duplicate);
  EXPECT_EQ(store.head(), GlobalPosition{1});
}

TEST_P(LocalIds, ARequestIdIsOneRequestsOverAllShards) {
  auto store = open();
  ASSERT_TRUE(store.append(Append{}.event("order-0", "T", "{}").request(id_of(7))));
  seal(store);

  for (int n = 1; n <= 40; ++n) {
    const auto other = Append{}.event("order-" + std::to_string(n), "T", "{}").request(id_of(7));
    ASSERT_EQ(code_of(store.append(other)), "duplicate_event") << n;
  }
  EXPECT_EQ(store.head(), GlobalPosition{1});
}

TEST_P(LocalIds, ARequestWhoseEventsAreMadeAnewIsTheSame) {
  auto store = open();
  const auto made = [](std::uint8_t id) {
    auto append = Append{}.event("order-1", "T", "a").event("order-2", "U", "b", {"tag"}).request(id_of(7));
    append.events[0].id = id_of(id);
    append.events[1].id = id_of(id + 1);
    return append;
  };
  const auto first = store.append(made(20));
  ASSERT_TRUE(first) << first.error().what;
  seal(store);

  const auto again = store.append(made(30));
  const auto without_ids =
      store.append(Append{}.event("order-1", "T", "a").event("order-2", "U", "b", {"tag"}).request(id_of(7)));
  auto other = made(40);
  other.events[1].payload = "c";
  const auto refused = store.append(other);

  for (const auto* answer : {&again, &without_ids}) {
    ASSERT_TRUE(*answer) << answer->error().what;
    EXPECT_TRUE((*answer)->duplicate);
    EXPECT_EQ((*answer)->first_position, first->first_position);
    EXPECT_EQ((*answer)->last_position, first->last_position);
    EXPECT_EQ((*answer)->versions, first->versions);
  }
  ASSERT_EQ(code_of(refused), "duplicate_event");
  EXPECT_THAT(refused.error().what, HasSubstr("request " + id_of(7).text()));
  EXPECT_EQ(store.head(), GlobalPosition{2});
}

TEST_P(LocalIds, ARequestThatHadNoIdsIsKnownWithThem) {
  auto store = open();
  ASSERT_TRUE(store.append(Append{}.event("order-1", "T", "a").request(id_of(7))));
  seal(store);

  auto again = Append{}.event("order-1", "T", "a").request(id_of(7));
  again.events.front().id = id_of(20);

  const auto answer = store.append(again);
  ASSERT_TRUE(answer) << answer.error().what;
  EXPECT_TRUE(answer->duplicate);
  EXPECT_EQ(store.head(), GlobalPosition{1});
}

TEST_P(LocalIds, OfManyAtOnceOneIsStored) {
  auto store = open();
  std::atomic<int> stored{0}, refused{0};
  constexpr int rounds = 20;
  for (std::uint8_t round = 0; round < rounds; ++round) {
    std::vector<std::thread> threads;
    for (int t = 0; t < 4; ++t)
      threads.emplace_back([&, t] {
        const auto answer = store.append(named("order-" + std::to_string((4 * round) + t), round + 1));
        if (answer)
          ++stored;
        else if (answer.error().code == ErrorCode::duplicate_event)
          ++refused;
      });
    for (auto& thread : threads) thread.join();
  }

  EXPECT_EQ(stored, rounds);
  EXPECT_EQ(refused, 3 * rounds);
  EXPECT_EQ(store.head(), GlobalPosition{rounds});
}

INSTANTIATE_TEST_SUITE_P(Stores, LocalIds, ::testing::Values(IdStore{"memory", false}, IdStore{"durable", true}),
                         [](const auto& store) { return std::string(store.param.name); });

}  // namespace
}  // namespace evershard
