// Accounts on a store in this process, in memory and durable.

#pragma once

#include <map>
#include <optional>

#include "tests/actors/aggregate/small_bank.hpp"
#include "tests/local/small_store.hpp"

namespace evershard {

using namespace std::chrono_literals;
using namespace small;

using Bank = BankOf<1, 10>;
inline const AggregateId one{"account", "1"};

/// `30`, `30 again` (a duplicate), `no: only 30` (rejected), `timeout`.
template <class Reply>
std::string shown(const Answer<Reply>& answer) {
  if (answer.rejected()) return "no: " + answer.rejection();
  if (answer.failed()) return std::string(name_of(answer.error().code));
  return std::to_string(answer->n) + (answer.duplicate() ? " again" : "");
}

/// What the stored events of an account come to.
inline std::int64_t replayed(Local& store, std::string_view account) {
  std::int64_t balance = 0;
  auto events = store.read("account-" + std::string(account));
  for (const auto& event : events) {
    if (event.type == "deposited") balance += std::stoll(event.payload);
    if (event.type == "withdrawn") balance -= std::stoll(event.payload);
  }
  EXPECT_FALSE(events.error()) << events.error()->what;
  return balance;
}

inline std::uint64_t figure(const Local& store, const std::string& name) {
  const auto stats = store.stats().value();
  for (const auto& [key, value] : stats.details) {
    if (key == "aggregates." + name) return value;
  }
  ADD_FAILURE() << "no figure " << name;
  return 0;
}

/// Figures follow a moment behind the answers. Returns: the figure, when it is what is expected, or after a while.
inline std::uint64_t figure(const Local& store, const std::string& name, std::uint64_t expected) {
  for (int tries = 0; tries < 60'000 && figure(store, name) != expected; ++tries) std::this_thread::sleep_for(1ms);
  return figure(store, name);
}

/// On each kind of store: the parameter says whether it is durable.
class Accounts : public ::testing::TestWithParam<bool> {
 protected:
  Accounts() { open(); }

  void open() {
    LocalOptions options;
    if (GetParam()) options.data_dir = dir_.path() / "store";
    options.tail_events = 2'000;
    options.disk_reserve_bytes = 1 << 20;
    options.aggregates = aggregates_;
    store_.emplace(open_store(std::move(options)));
    EXPECT_TRUE(store_->host<Bank>());
  }
  Local& store() { return *store_; }
  AggregateRef<Bank> account(std::string_view value = "1") { return store_->get<Bank>(value); }

  ScratchDir dir_;
  AggregateOptions aggregates_{};
  std::optional<Local> store_;
};

}  // namespace evershard
