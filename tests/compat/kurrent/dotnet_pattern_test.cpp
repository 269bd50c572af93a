// Patterns of .NET for RE2: what .NET's documentation says that they match is what is matched here, or they are
// refused.

#include "evershard/compat/kurrent/dotnet_pattern.hpp"

#include <gtest/gtest.h>
#include <re2/re2.h>

namespace evershard::kurrent {
namespace {

bool is_in(std::string_view pattern, std::string_view text) {
  const auto translated = re2_pattern_of(pattern);
  EXPECT_TRUE(translated) << pattern << ": " << (translated ? "" : translated.error().what);
  if (!translated) return false;
  const re2::RE2 re2(*translated, re2::RE2::Quiet);
  EXPECT_TRUE(re2.ok()) << pattern << " became " << *translated << ": " << re2.error();
  return re2::RE2::PartialMatch(re2::StringPiece(text.data(), text.size()), re2);
}

TEST(DotnetPattern, ClassesAreOfUnicode) {
  for (const auto* pattern : {R"(^\w+$)", R"(^[\w]+$)", R"(^[a\w]+$)"}) {
    for (const auto* text : {"Größe", "заказ", "注文", "a_1", "x‿y", "e\xcc\x81"})
      EXPECT_TRUE(is_in(pattern, text)) << pattern << ' ' << text;
    for (const auto* text : {"a b", "a-b", "a.b"}) EXPECT_FALSE(is_in(pattern, text)) << pattern << ' ' << text;
  }
  EXPECT_TRUE(is_in(R"(^\d\d$)", "4٢")) << "a digit of Arabic";
  EXPECT_TRUE(is_in(R"(^[\d-]+$)", "4-٢"));
  EXPECT_FALSE(is_in(R"(\D)", "4٢"));
  EXPECT_TRUE(is_in(R"(^[\D]$)", "x"));
  EXPECT_TRUE(is_in(R"(^\W$)", "-"));
  EXPECT_FALSE(is_in(R"(\W)", "Größe"));
  EXPECT_FALSE(is_in(R"([\W])", "Größe"));
  EXPECT_TRUE(is_in(R"(^[^\W]+$)", "Größe"));
  for (const auto* text : {" ", "\t", "\v", "\xc2\x85", "\xc2\xa0", "\xe2\x80\xa8"}) {
    EXPECT_TRUE(is_in(R"(^\s$)", text));
    EXPECT_TRUE(is_in(R"(^[\s,]$)", text));
    EXPECT_FALSE(is_in(R"(\S)", text));
  }
  EXPECT_TRUE(is_in(R"(^a[\s\S]+b$)", "a\n-\nb"));
}

TEST(DotnetPattern, TheEndIsAlsoBeforeALastNewline) {
  for (const auto* pattern : {R"(placed$)", R"(placed\Z)"}) {
    EXPECT_TRUE(is_in(pattern, "placed"));
    EXPECT_TRUE(is_in(pattern, "placed\n"));
    EXPECT_FALSE(is_in(pattern, "placed\n\n"));
    EXPECT_FALSE(is_in(pattern, "placed\nx"));
  }
  EXPECT_FALSE(is_in(R"(placed\z)", "placed\n"));
  EXPECT_TRUE(is_in(R"(placed\$|x[$])", "x$"));
}

TEST(DotnetPattern, WhatIsAlikeStays) {
  for (const auto* pattern :
       {"^order-[0-9]+", "(?i)Order|(?:x)?y{2,3}.*?", R"(a\.b\\c\/d)", "[]a]", "[^]a]", R"([\]\-x-])"})
    EXPECT_EQ(re2_pattern_of(pattern).value(), std::string(pattern) == "[]a]"    ? R"([\]a])"
                                               : std::string(pattern) == "[^]a]" ? R"([^\]a])"
                                                                                 : pattern);
  EXPECT_TRUE(is_in("[[:alpha:]]", "a]")) << "one of `[:alph`, and a bracket";
  EXPECT_FALSE(is_in("^[[:alpha:]]$", "b"));
  EXPECT_TRUE(is_in(R"(^(?<kind>\u00e9\x41\e)$)", "éA\x1b"));
  EXPECT_FALSE(re2::RE2(re2_pattern_of("(").value(), re2::RE2::Quiet).ok()) << "RE2 says so";
  EXPECT_FALSE(re2::RE2(re2_pattern_of("[a").value(), re2::RE2::Quiet).ok());
  EXPECT_FALSE(re2::RE2(re2_pattern_of("a\\").value(), re2::RE2::Quiet).ok());
}

TEST(DotnetPattern, WhatCannotBeSaidIsRefusedByName) {
  for (const auto& [pattern, named] : {std::pair(R"([a-z-[aeiou]])", "a class that is subtracted"),
                                       {R"(\border)", R"(\b)"},
                                       {R"(x\B)", R"(\B)"},
                                       {R"([\W_])", R"(\W or \S in a class)"},
                                       {R"([^\S,])", R"(\W or \S in a class)"},
                                       {R"((a)\1)", R"(\1)"},
                                       {R"(\Qx\E)", R"(\Q)"},
                                       {R"(\Cx)", R"(\C)"},
                                       {R"((?m)^x$)", "$ beside the option m"},
                                       {R"((?U)x*)", "(?U"}}) {
    const auto refused = re2_pattern_of(pattern);
    ASSERT_FALSE(refused) << pattern;
    EXPECT_EQ(refused.error().code, ErrorCode::invalid_argument);
    EXPECT_NE(refused.error().what.find(named), std::string::npos) << refused.error().what;
  }
}

}  // namespace
}  // namespace evershard::kurrent
