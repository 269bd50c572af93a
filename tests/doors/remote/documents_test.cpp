// Documents over the network: the same words and errors as in the process that keeps them.

#include <gmock/gmock.h>

#include "tests/doors/remote/served_store.hpp"

namespace evershard {
namespace {

using ::testing::HasSubstr;

TEST(RemoteDocuments, AreThoseOfTheServer) {
  ServedStore served;
  auto remote = served.connect();
  auto& documents = remote.documents();
  const auto code = [](const auto& result) { return result ? std::optional<ErrorCode>() : result.error().code; };

  const auto defined = documents.define(
      "order", R"({"events":{"Placed":{"merge":true},"Added":{"increment":"total","from":"price"}}})", SeqNr{0});
  ASSERT_TRUE(defined) << defined.error().what;
  EXPECT_EQ(*defined, served.local.documents().definitions()->front());
  EXPECT_EQ(code(documents.define("order", R"({"events":{"Placed":{"merge":true}}})", SeqNr{0})),
            ErrorCode::version_conflict);
  EXPECT_EQ(code(documents.define("order", "{}")), ErrorCode::invalid_argument);
  for (int i = 0; i < 5; ++i) {
    const auto appended =
        remote.append(Append{}
                          .event("order-" + std::to_string(i), "Placed", R"({"who":"ann"})")
                          .event("order-" + std::to_string(i), "Added", "{\"price\":" + std::to_string(i) + "}"));
    ASSERT_TRUE(appended);
    EXPECT_EQ(documents.get({"order", std::to_string(i)})->version, SeqNr{2});  // at once
  }
  const auto one = documents.get({"order", "3"});
  ASSERT_TRUE(one) << one.error().what;
  EXPECT_EQ(one->json, R"({"total":3,"who":"ann"})");
  EXPECT_EQ(*one, *served.local.documents().get({"order", "3"}));

  const auto head = remote.head().value();
  const auto page = documents.list({.type = "order", .limit = 2, .filter = "total >= 1", .at_least = head});
  ASSERT_TRUE(page) << page.error().what;
  ASSERT_EQ(page->documents.size(), 2u);
  EXPECT_EQ(page->documents[1].aggregate.value, "2");
  EXPECT_EQ(page->next, "2");
  const auto rest =
      documents.list({.type = "order", .after = page->next, .limit = 2, .filter = "total >= 1", .at_least = head});
  ASSERT_TRUE(rest);
  EXPECT_EQ(rest->documents.size(), 2u);
  EXPECT_EQ(rest->next, std::nullopt);
  EXPECT_EQ(*documents.get({"order", "3"}, DocumentRead::eventual), *one);
  EXPECT_EQ(*documents.get({"order", "3"}, DocumentRead::eventual, head), *one);
  EXPECT_EQ(code(documents.get({"order", "3"}, DocumentRead::eventual, GlobalPosition{1'000'000},
                               std::chrono::milliseconds(20))),
            ErrorCode::timeout);
  EXPECT_EQ(page->definition, defined->version);
  EXPECT_EQ(documents.list({.type = "order", .definition = SeqNr{0}})->definition, defined->version);
  EXPECT_EQ(code(documents.list({.type = "order", .definition = SeqNr{9}})), ErrorCode::not_found);
  EXPECT_EQ(*documents.define("order",
                              R"({"events":{"Placed":{"merge":true},"Added":{"increment":"total","from":"price"}}})"),
            *defined);
  const auto again = documents.define(
      "order", R"({"events":{"Placed":{"merge":true},"Added":{"increment":"total","from":"price"}}})", {}, true);
  ASSERT_TRUE(again) << again.error().what;
  EXPECT_EQ(documents.list({.type = "order", .definition = again->version})->definition, again->version);
  const auto described = documents.describe("order");
  ASSERT_TRUE(described) << described.error().what;
  EXPECT_EQ(described->last, again->version);
  EXPECT_TRUE(described->versions.back().serving);
  EXPECT_EQ(code(documents.describe("invoice")), ErrorCode::not_found);
  EXPECT_EQ(code(documents.list({.type = "order", .filter = "total"})), ErrorCode::invalid_argument);
  EXPECT_EQ(code(documents.list({.type = "order", .limit = 0})), ErrorCode::invalid_argument);
  EXPECT_EQ(code(documents.list(
                {.type = "order", .at_least = GlobalPosition{1'000'000}, .timeout = std::chrono::milliseconds(20)})),
            ErrorCode::timeout);

  EXPECT_TRUE(documents.remove({"order", "3"}));
  EXPECT_EQ(code(documents.get({"order", "3"})), ErrorCode::not_found);
  EXPECT_EQ(documents.definitions()->size(), 1u);
  EXPECT_TRUE(documents.drop("order"));
  EXPECT_EQ(code(documents.drop("order")), ErrorCode::not_found);
  EXPECT_EQ(code(documents.get({"order", "1"})), ErrorCode::not_found);
}

TEST(RemoteDocuments, AServerWithoutThemSaysSo) {
  ServedStore served;
  served.served->documents = nullptr;  // before anybody asks
  auto remote =
      served.connect({.timeout = std::chrono::seconds(20), .unavailable_timeout = std::chrono::milliseconds(300)});
  const auto got = remote.documents().get({"order", "1"});
  ASSERT_FALSE(got);
  EXPECT_EQ(got.error().code, ErrorCode::unavailable);
  EXPECT_THAT(got.error().what, HasSubstr("keeps no documents"));
}

}  // namespace
}  // namespace evershard
