#include "evershard/doors/serving/access.hpp"
#include "evershard/doors/serving/wrong_tokens.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace evershard::serving {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

constexpr const char* token_a = "aaaa-bbbb-cccc-dddd";
constexpr const char* token_b = "bbbb-bbbb-cccc-dddd";
constexpr const char* token_c = "cccc-bbbb-cccc-dddd";

Access three() {
  auto access = Access::of_tokens(
      "# who what token\n\n  reader read aaaa-bbbb-cccc-dddd\r\nwriter\tread,append\tbbbb-bbbb-cccc-dddd\nops admin "
      "cccc-bbbb-cccc-dddd",
      "tokens.txt");
  EXPECT_TRUE(access) << access.error().what;
  return *std::move(access);
}

TEST(Access, AdmitsByTokenAndScope) {
  const auto access = three();
  ASSERT_FALSE(access.is_open());
  struct Row {
    const char* token;
    Scope scope;
    const char* name;  ///< absent: it may not
  };
  for (const auto& [token, scope, name] :
       {Row{token_a, Scope::read, "reader"}, Row{token_a, Scope::append, nullptr}, Row{token_a, Scope::admin, nullptr},
        Row{token_b, Scope::read, "writer"}, Row{token_b, Scope::append, "writer"}, Row{token_b, Scope::admin, nullptr},
        Row{token_c, Scope::read, nullptr}, Row{token_c, Scope::admin, "ops"}}) {
    SCOPED_TRACE(std::string(token) + " " + std::string(name_of(scope)));
    const auto caller = access.admit(token, scope);
    ASSERT_EQ(caller.has_value(), name != nullptr);
    if (caller) {
      EXPECT_EQ(caller->name, name);
    } else {
      EXPECT_EQ(caller.error().code, ErrorCode::permission_denied);
      EXPECT_THAT(caller.error().what, HasSubstr(std::string(name_of(scope))));
      EXPECT_THAT(caller.error().what, Not(HasSubstr(token)));
    }
    EXPECT_TRUE(access.identify(token));
  }
}

TEST(Access, RefusesWhatIsNoToken) {
  const auto access = three();
  for (const std::string& token :
       {std::string(), std::string("aaaa-bbbb-cccc-ddd"), std::string("aaaa-bbbb-cccc-dddde"),
        std::string("AAAA-bbbb-cccc-dddd"), std::string("aaaa-bbbb-cccc-dddd "),
        std::string("aaaa-bbbb-cccc-dddd\0", 20), std::string(100'000, 'x')}) {
    const auto caller = access.admit(token, Scope::read);
    ASSERT_FALSE(caller);
    EXPECT_EQ(caller.error().code, ErrorCode::unauthenticated);
    if (!token.empty()) {
      EXPECT_THAT(caller.error().what, Not(HasSubstr(token)));
    }
    EXPECT_FALSE(access.identify(token));
  }
  EXPECT_EQ(access.admit("", Scope::read).error().what, "a token is needed");
}

TEST(Access, OpenAdmitsEverybody) {
  const auto access = Access::open();
  EXPECT_TRUE(access.is_open());
  for (const auto scope : {Scope::read, Scope::append, Scope::admin}) EXPECT_TRUE(access.admit("", scope));
  EXPECT_TRUE(access.admit("whatever it is", Scope::admin));
}

// Every way to write a line wrongly; in each of them a word that is meant as a token, which no error shows.
TEST(Access, RefusesEveryMalformedLineAndShowsNoToken) {
  const std::string secret = "s3cr3t-s3cr3t-s3cr3t";
  const std::string good = "ok read aaaa-bbbb-cccc-dddd\n";
  for (const auto& [text, line] : std::initializer_list<std::pair<std::string, int>>{
           {"bob " + secret, 1},
           {secret, 1},
           {"bob read " + secret + " more", 1},
           {good + "bob " + secret + " read", 2},
           {secret + " read bob", 1},
           {secret + " bob read", 1},
           {"bob write " + secret, 1},
           {"bob read,write " + secret, 1},
           {"bob READ " + secret, 1},
           {"bob read, " + secret, 1},
           {"bob ,read " + secret, 1},
           {"bob read,,append " + secret, 1},
           {"bob , " + secret, 1},
           {good + "\n# comment\nbob read s3cr3t-15-bytes", 4},
           {"bob read " + secret + "\n" + good + "bob append " + secret + "2", 3},
           {"bob read " + secret + "\njim append " + secret, 2},
           {secret + "-as-name read " + secret + "\n" + secret + "-as-name append " + secret + "2", 2},
       }) {
    SCOPED_TRACE(text);
    const auto access = Access::of_tokens(text, "tokens.txt");
    ASSERT_FALSE(access);
    EXPECT_EQ(access.error().code, ErrorCode::invalid_argument);
    EXPECT_THAT(access.error().what, HasSubstr("tokens.txt, line " + std::to_string(line) + ":"));
    EXPECT_THAT(access.error().what, Not(HasSubstr("s3cr3t")));
  }
  for (const auto* empty : {"", "\n\n", "# nothing\n   # here\n"}) {
    const auto access = Access::of_tokens(empty, "tokens.txt");
    ASSERT_FALSE(access) << "no token must not mean no check";
    EXPECT_EQ(access.error().what, "tokens.txt holds no token");
  }
}

TEST(Access, NamesItsScopes) {
  EXPECT_EQ(name_of(Scope::read), "read");
  EXPECT_EQ(name_of(Scope::append), "append");
  EXPECT_EQ(name_of(Scope::admin), "admin");
}

TEST(TokenTries, GiveAnAddressAFewAndThenOneNowAndThen) {
  using namespace std::chrono_literals;
  TokenTries tries({.at_once_max = 3, .a_second_max = 2, .addresses_max = 2, .told_every = 10s});
  const TokenTries::Clock::time_point start{};
  EXPECT_FALSE(tries.not_before("a", start));
  EXPECT_EQ(tries.wrong("a", start), 1u) << "told of at once";
  EXPECT_EQ(tries.wrong("a", start), std::nullopt);
  EXPECT_EQ(tries.wrong("a", start), std::nullopt);
  EXPECT_EQ(tries.not_before("a", start), start + 500ms);
  EXPECT_FALSE(tries.not_before("b", start)) << "others are not slowed";
  EXPECT_FALSE(tries.not_before("a", start + 500ms));
  EXPECT_EQ(tries.wrong("a", start + 10s), 3u) << "with those that were not told of";

  EXPECT_EQ(tries.wrong("b", start + 10s), 1u);
  EXPECT_EQ(tries.wrong("c", start + 10s), 1u) << "the one not heard of for longest goes";
  EXPECT_EQ(tries.wrong("a", start + 10s), 1u);
}

TEST(Access, NamesEveryScopeThatIsMissing) {
  const auto access = three();
  EXPECT_TRUE(access.admit(token_b, Scope::read | Scope::append));
  const auto denied = access.admit(token_c, Scope::read | Scope::append);
  ASSERT_FALSE(denied);
  EXPECT_THAT(denied.error().what, HasSubstr("the scope read and append"));
}

}  // namespace
}  // namespace evershard::serving
