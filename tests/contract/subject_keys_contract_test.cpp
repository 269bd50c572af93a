// What every place of keys promises, run against those that an executable instantiates it with.

#include "tests/contract/subject_keys_contract.hpp"

#include <gmock/gmock.h>

#include <atomic>
#include <optional>
#include <thread>
#include <vector>

namespace evershard::cluster {
namespace {

using ::testing::HasSubstr;

TEST_P(SubjectKeysContract, ASubjectHasOneKeyAlsoAfterAReopening) {
  auto keys = opened();
  auto ada = keys->key_for("ada"), bob = keys->key_for("bob");
  ASSERT_TRUE(ada && bob);
  EXPECT_NE(ada->id, bob->id);
  EXPECT_NE(ada->secret(), bob->secret());

  for (auto& again : {std::move(keys), opened()}) {
    EXPECT_EQ(again->key_for("ada")->secret(), ada->secret());
    EXPECT_EQ(again->find(ada->id).value()->secret(), ada->secret());
    EXPECT_EQ(again->current("ada").value(), ada->id);
  }
  EXPECT_EQ(place_->keys(), 2u);
}

TEST_P(SubjectKeysContract, ManyAreGivenInTheOrderAskedFor) {
  auto keys = opened();
  std::vector<std::string> subjects;
  for (int i = 0; i < 130; ++i) subjects.push_back("subject-" + std::to_string(i % 125));
  const auto made = keys->keys_for(subjects);
  ASSERT_EQ(made.size(), subjects.size());
  std::vector<KeyId> ids;
  for (const auto& key : made) {
    ASSERT_TRUE(key) << key.error().what;
    ids.push_back(key->id);
  }
  ASSERT_TRUE(keys->destroy(ids[7]));
  ids.insert(ids.begin(), KeyId{});  // nobody's

  const auto found = opened()->find_all(ids);

  ASSERT_EQ(found.size(), ids.size());
  EXPECT_EQ(found[0].error().code, ErrorCode::corruption);
  for (std::size_t i = 1; i < ids.size(); ++i) {
    ASSERT_TRUE(found[i]) << found[i].error().what;
    if (ids[i] == ids[8])
      EXPECT_EQ(*found[i], std::nullopt);
    else
      EXPECT_EQ((**found[i]).secret(), made[i - 1]->secret()) << i;
  }
  const auto again = keys->keys_for(subjects);
  for (std::size_t i = 0; i < subjects.size(); ++i) {
    ASSERT_TRUE(again[i]);
    EXPECT_EQ(again[i]->id == made[i]->id, subjects[i] != "subject-7") << subjects[i];
    EXPECT_EQ(again[i]->secret(), keys->key_for(subjects[i])->secret());
  }
}

TEST_P(SubjectKeysContract, WhatIsDestroyedIsGoneAndTheSubjectBeginsAnew) {
  auto keys = opened(), other_process = opened();
  const auto before = keys->key_for("ada").value();
  ASSERT_TRUE(other_process->find(before.id).value());

  ASSERT_TRUE(keys->destroy(before.id));
  ASSERT_TRUE(keys->destroy(before.id));

  EXPECT_EQ(keys->find(before.id).value(), std::nullopt);
  EXPECT_EQ(keys->current("ada").value(), std::nullopt);
  EXPECT_EQ(place_->keys(), 0u);
  const auto behind = keys->key_for("ada").value();
  EXPECT_NE(behind.id, before.id);
  EXPECT_EQ(keys->current("ada").value(), behind.id);
  // Another process that has it in memory looks again.
  for (int tries = 0; tries < 600 && other_process->find(before.id).value(); ++tries)
    std::this_thread::sleep_for(std::chrono::milliseconds(100));
  EXPECT_EQ(other_process->find(before.id).value(), std::nullopt);
  EXPECT_EQ(other_process->key_for("ada")->secret(), behind.secret());
  EXPECT_EQ(opened()->find(before.id).value(), std::nullopt);
}

TEST_P(SubjectKeysContract, EachDestructionIsCountedBeforeTheNextKeyIsGiven) {
  auto keys = opened(), other_process = opened();
  std::atomic<int> told{0};
  other_process->watch_erasures([&] { ++told; });
  for (std::uint64_t n = 1; n <= 3; ++n) {
    const auto key = keys->key_for("ada").value();
    ASSERT_EQ(other_process->key_for("ada")->id, key.id);
    ASSERT_TRUE(keys->destroy(key.id));
    EXPECT_EQ(keys->erasures(), n);
    const auto behind = other_process->key_for("ada").value();
    EXPECT_NE(behind.id, key.id);
    EXPECT_EQ(behind.erasures, n);
    EXPECT_EQ(other_process->erasures(), n);
    EXPECT_EQ(static_cast<std::uint64_t>(told), n);
  }
  other_process->watch_erasures({});
  EXPECT_EQ(opened()->erasures(), 0u) << "what was destroyed before is nobody's news";
}

TEST_P(SubjectKeysContract, OneWithoutKeysSaysOfNobodyThatHeHasNone) {
  auto keys = opened();
  EXPECT_EQ(keys->current("ada").error().code, ErrorCode::not_found);
  ASSERT_TRUE(keys->key_for("ada"));
  EXPECT_EQ(keys->current("bob").value(), std::nullopt);
}

TEST_P(SubjectKeysContract, AKeyThatIsLostIsNotTakenForErased) {
  const auto key = opened()->key_for("ada").value();
  place_->lose(key.id);

  auto found = opened()->find(key.id);

  ASSERT_FALSE(found);
  EXPECT_EQ(found.error().code, ErrorCode::corruption);
  EXPECT_THAT(found.error().what, HasSubstr(key.id.text()));
}

TEST_P(SubjectKeysContract, DamageIsFound) {
  const auto key = opened()->key_for("ada").value();
  place_->damage(key.id);
  EXPECT_EQ(opened()->find(key.id).error().code, ErrorCode::corruption);
  EXPECT_EQ(opened()->key_for("ada").error().code, ErrorCode::corruption);
  EXPECT_TRUE(opened()->key_for("bob"));
}

TEST_P(SubjectKeysContract, TwoProcessesThatMakeAKeyHaveTheSame) {
  auto one = opened(), two = opened();
  for (int i = 0; i < 20; ++i) {
    const auto subject = "person-" + std::to_string(i);
    std::optional<Result<HeldKey>> first, second;
    std::thread making([&] { first = one->key_for(subject); });
    second = two->key_for(subject);
    making.join();
    ASSERT_TRUE(first && second);
    EXPECT_EQ((*first)->secret(), (*second)->secret());
    EXPECT_EQ(opened()->key_for(subject)->secret(), (*second)->secret());
  }
  EXPECT_EQ(place_->keys(), 20u);
}

/// Whoever looks meanwhile: once it is destroyed nobody here has it any more, and what is sealed then is sealed with
/// another.
TEST_P(SubjectKeysContract, AKeyThatIsDestroyedWhileOthersUseItIsGoneForAll) {
  auto keys = opened();
  const auto rounds = GetParam().erasures;
  for (int round = 0; round < rounds; ++round) {
    const auto key = keys->key_for("ada").value();
    std::atomic<bool> stop{false};
    std::atomic<int> looked{0};
    std::vector<std::thread> others;
    for (int i = 0; i < 3; ++i) {
      others.emplace_back([&, i] {
        while (!stop) {
          const auto found = keys->find(key.id);
          EXPECT_TRUE(found) << found.error().what;
          const auto mine = keys->key_for(i == 0 ? "ada" : "bob");
          EXPECT_TRUE(mine) << mine.error().what;
          ++looked;
        }
      });
    }
    while (looked < 20) std::this_thread::yield();

    ASSERT_TRUE(keys->destroy(key.id));

    for (int i = 0; i < 200; ++i) EXPECT_EQ(keys->find(key.id).value(), std::nullopt);
    EXPECT_NE(keys->key_for("ada")->id, key.id);
    stop = true;
    for (auto& other : others) other.join();
    EXPECT_EQ(keys->find(key.id).value(), std::nullopt);
  }
  EXPECT_EQ(place_->keys(), 2u);
  EXPECT_EQ(place_->erased(), static_cast<std::size_t>(rounds));
}

}  // namespace
}  // namespace evershard::cluster
