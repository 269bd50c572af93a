// An aggregate whose types are plain structs, as JSON: what a user writes who has no Protobuf.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <evershard/aggregate.hpp>
#include <evershard/test_kit.hpp>
#include <nlohmann/json.hpp>

namespace todo {

struct List {
  std::vector<std::string> open;
  int done = 0;
};
struct Add {
  std::string what;
};
struct Finish {
  std::string what;
};
struct Added {
  std::string what;
};
struct Finished {
  std::string what;
};
struct Count {
  int open = 0;
  bool operator==(const Count&) const = default;
};
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(List, open, done)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(Add, what)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(Finish, what)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(Added, what)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(Finished, what)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(Count, open)

/// All of these at once: whatever nlohmann can read and write.
template <class T>
concept Json = requires(const T& value, nlohmann::json& json) {
  to_json(json, value);
};

}  // namespace todo

template <todo::Json T>
struct evershard::Codec<T> {
  static constexpr auto format = evershard::PayloadFormat::json;
  static std::string encode(const T& value) { return nlohmann::json(value).dump(); }
  static T decode(std::string_view bytes) { return nlohmann::json::parse(bytes).get<T>(); }
};
template <>
inline constexpr std::string_view evershard::logical_name<todo::Add> = "add";
template <>
inline constexpr std::string_view evershard::logical_name<todo::Finish> = "finish";
template <>
inline constexpr std::string_view evershard::logical_name<todo::Added> = "added";
template <>
inline constexpr std::string_view evershard::logical_name<todo::Finished> = "finished";

namespace evershard {
namespace {

using testing::HasSubstr;

struct TodoList {
  static constexpr std::string_view type = "todo";
  using State = todo::List;
  using Commands = Types<todo::Add, todo::Finish>;
  using Events = Types<todo::Added, todo::Finished>;

  static Effect<todo::Count> on(const State&, const todo::Add& c) {
    return persist(todo::Added{c.what}).reply(&TodoList::count);
  }
  static Effect<todo::Count> on(const State& state, const todo::Finish& c) {
    if (std::find(state.open.begin(), state.open.end(), c.what) == state.open.end()) return reject("not on the list");
    return persist(todo::Finished{c.what}).reply(count);
  }
  static void apply(State& state, const todo::Added& e) { state.open.push_back(e.what); }
  static void apply(State& state, const todo::Finished& e) {
    std::erase(state.open, e.what);
    ++state.done;
  }
  static todo::Count count(const State& state) { return {static_cast<int>(state.open.size())}; }
};

TEST(JsonCodec, CarriesAWholeAggregate) {
  TestKit<TodoList> kit;

  kit.given(todo::Added{"write"}, todo::Added{"read"})
      .when(todo::Finish{"read"})
      .then(todo::Finished{"read"})
      .replied(todo::Count{1})
      .state({{"write"}, 1});
  kit.when(todo::Finish{"read"}).rejected("not on the list").then();
}

TEST(JsonCodec, StoresWhatAPersonCanRead) {
  const auto kind = make_kind<TodoList>();
  ASSERT_TRUE(kind);

  const auto decision = (*kind)->decide(*(*kind)->initial(), {"add", R"({"what":"write"})"}, nullptr);

  ASSERT_TRUE(decision) << decision.error().what;
  EXPECT_EQ(decision->events.at(0).payload, R"({"what":"write"})");
  EXPECT_EQ(decision->events.at(0).format, PayloadFormat::json);
  EXPECT_EQ((*kind)->state_format(), PayloadFormat::json);
}

TEST(JsonCodec, ThatThrowsIsCorruptionOnReadingAndARefusedCommand) {
  const auto kind = make_kind<TodoList>();
  ASSERT_TRUE(kind);
  auto state = (*kind)->initial();

  const auto event = (*kind)->apply(*state, "added", "{");
  const auto command = (*kind)->decide(*state, {"add", R"({"other":1})"}, nullptr);
  const auto not_text = to_bytes(todo::Added{"\xff"});

  ASSERT_FALSE(event || command || not_text);
  EXPECT_EQ(event.error().code, ErrorCode::corruption);
  EXPECT_EQ(command.error().code, ErrorCode::invalid_argument);
  EXPECT_THAT(command.error().what, HasSubstr("what"));
  EXPECT_EQ(not_text.error().code, ErrorCode::invalid_argument);
}

}  // namespace
}  // namespace evershard
