// Tables, indexes, documents and groups beside aggregates that read old events: none misses them without a word.

#include <gmock/gmock.h>
#include <evershard/tables.hpp>

#include "tests/local/accounts.hpp"

namespace evershard::small {

using PaidIn = Number<struct PaidInName>;  ///< what a deposit was called
struct PaidInName {
  static constexpr std::string_view text = "paid_in";
};

struct Till {
  static constexpr std::string_view type = "till";
  using State = Account;
  using Commands = Types<Deposit>;
  using Events = Types<Deposited>;
  using OldEvents = Types<PaidIn>;
  static Effect<Balance> on(const State&, const Deposit& c) {
    return persist(Deposited{c.n}).reply([](const State& till) { return Balance{till.balance}; });
  }
  static void apply(State& till, const Deposited& e) { till.balance += e.n; }
  static Deposited upcast(const PaidIn& old) { return {old.n}; }
};

}  // namespace evershard::small

namespace evershard {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

const auto misses = AllOf(HasSubstr("reads events of type \"deposited\""), HasSubstr("the old type \"paid_in\""));

std::string spec_of_table(const std::string& types) {
  return R"({"fields":[{"name":"till","type":"text","role":"key"}],"rules":[{"types":)" + types +
         R"(,"action":"upsert","key":"aggregate"}]})";
}

/// What a reader of the new name alone is told, each kind of them.
std::map<std::string, Result<void>> defined(Local& store, bool both, bool with_handler = true) {
  const std::vector<std::string> names =
      both ? std::vector<std::string>{"deposited", "paid_in"} : std::vector<std::string>{"deposited"};
  const std::string listed = both ? R"(["deposited","paid_in"])" : R"(["deposited"])";
  const auto without_value = [](const auto& result) { return result ? Result<void>() : refuse(result.error()); };
  TypedTableHandler handler;
  handler.on<Deposited>([](const Deposited&, TableChanges&) {});
  if (both) handler.on<PaidIn>([](const PaidIn&, TableChanges&) {});
  std::map<std::string, Result<void>> told;
  told.emplace("table", without_value(store.projections().create("tills", "table", spec_of_table(listed))));
  told.emplace("value index",
               without_value(store.projections().create_value_index("by-sum", {.types = names, .path = "$.n"})));
  told.emplace("index", without_value(store.projections().create_index(Query{}.types(names))));
  told.emplace("documents", without_value(store.documents().define(
                                "till", both ? R"({"events":{"deposited":{"set":"n","value":1},"paid_in":"ignore"}})"
                                             : R"({"events":{"deposited":{"set":"n","value":1}}})")));
  GroupDefinition group{.name = "tills"};
  group.query = Query{}.types(names);
  told.emplace("group", without_value(store.groups().create_group(group)));
  told.emplace("follower", without_value(store.follow(Query{}.types(names)).next(std::chrono::milliseconds(0))));
  if (with_handler) told.emplace("handler", store.add_table_handler("tills", handler));
  return told;
}

TEST(NamedReaders, AreRefusedWhereTheyMissTheOldEventsOfAHostedKind) {
  for (const bool both : {false, true}) {
    auto store = open_store({});
    ASSERT_TRUE(store.host<Till>());
    for (const auto& [kind, told] : defined(store, both)) {
      EXPECT_EQ(told.has_value(), both) << kind;
      if (both || told) continue;
      EXPECT_EQ(told.error().code, ErrorCode::invalid_argument) << kind;
      EXPECT_THAT(told.error().what, misses) << kind;
    }
  }
}

TEST(NamedReaders, ThatAreThereAlreadyRefuseTheKind) {
  for (const std::string kind : {"table", "value index", "index", "documents", "group", "handler"}) {
    auto store = open_store({});
    for (const auto& [one, told] : defined(store, false, kind == "handler"))
      EXPECT_TRUE(told) << one << ": " << told.error().what;
    const auto drop_but = [&](const std::string& one, const auto& drop) {
      if (one == kind) return;
      EXPECT_TRUE(drop()) << one;
    };
    const auto index = store.projections().create_index(Query{}.types({"deposited"})).value().name;
    drop_but("table", [&] { return store.projections().ask("tills", Projections::Ask::drop); });
    drop_but("value index", [&] { return store.projections().ask("by-sum", Projections::Ask::drop); });
    drop_but("index", [&] { return store.projections().ask(index, Projections::Ask::drop); });
    drop_but("documents", [&] { return store.documents().drop("till"); });
    drop_but("group", [&] { return store.groups().drop_group("tills"); });
    const auto hosted = store.host<Till>();
    ASSERT_FALSE(hosted) << kind;
    EXPECT_THAT(hosted.error().what, misses) << kind;
  }
}

TEST(NamedReaders, OfEveryTypeMissNothing) {
  auto store = open_store({});
  ASSERT_TRUE(store.host<Till>());
  EXPECT_TRUE(store.groups().create_group({.name = "all"}));
  EXPECT_TRUE(store.projections().create_index(Query{}.tags({"till:1"})));
  ASSERT_TRUE(store.projections().create("tills", "table", spec_of_table(R"(["deposited","paid_in"])")));
  const auto changed = store.projections().change("tills", spec_of_table(R"(["deposited"])"), {});
  ASSERT_FALSE(changed);
  EXPECT_THAT(changed.error().what, misses);
}

}  // namespace
}  // namespace evershard
