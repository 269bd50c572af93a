#include "evershard/protocol/utf8.hpp"

#include <rapidcheck/gtest.h>

#include "evershard/protocol/in_quotes.hpp"

namespace evershard {
namespace {

using namespace std::string_literals;

/// The definition, the slow way: decode, and see whether the code point is allowed and encoded as short as can be.
bool is_utf8_by_decoding(const std::string& bytes) {
  std::size_t i = 0;
  while (i < bytes.size()) {
    const auto byte = [&](std::size_t at) { return static_cast<unsigned char>(bytes[at]); };
    const unsigned char lead = byte(i);
    std::size_t size = lead < 0x80 ? 1 : (lead >> 5) == 6 ? 2 : (lead >> 4) == 14 ? 3 : (lead >> 3) == 30 ? 4 : 0;
    if (size == 0 || i + size > bytes.size()) return false;
    std::uint32_t point = size == 1 ? lead : lead & (0xFF >> (size + 1));
    for (std::size_t k = 1; k < size; ++k) {
      if ((byte(i + k) & 0xC0) != 0x80) return false;
      point = point << 6 | (byte(i + k) & 0x3F);
    }
    constexpr std::uint32_t least[] = {0, 0, 0x80, 0x800, 0x10000};
    if (point < least[size] || point > 0x10FFFF || (point >= 0xD800 && point <= 0xDFFF)) return false;
    i += size;
  }
  return true;
}

TEST(Utf8, AcceptsTheEdgesOfEveryLength) {
  for (const auto& text : {""s, "\0"s, "\x7f"s, "\xc2\x80"s, "\xdf\xbf"s, "\xe0\xa0\x80"s, "\xed\x9f\xbf"s,
                           "\xee\x80\x80"s, "\xef\xbf\xbf"s, "\xf0\x90\x80\x80"s, "\xf4\x8f\xbf\xbf"s}) {
    EXPECT_TRUE(is_utf8(text)) << in_quotes(text);
  }
}

TEST(Utf8, RefusesOverlongFormsSurrogatesAndWhatLiesBeyond) {
  for (const auto& text : {"\xc0\x80"s, "\xc1\xbf"s, "\xe0\x9f\xbf"s, "\xf0\x8f\xbf\xbf"s, "\xed\xa0\x80"s,
                           "\xed\xbf\xbf"s, "\xf4\x90\x80\x80"s, "\xf5\x80\x80\x80"s, "\xff"s, "\xfe"s}) {
    EXPECT_FALSE(is_utf8(text)) << in_quotes(text);
  }
}

TEST(Utf8, RefusesWhatIsCutShortOrStartsInTheMiddle) {
  for (const auto& text :
       {"\x80"s, "\xbf"s, "\xc2"s, "\xe2\x82"s, "\xf0\x9f\x9b"s, "\xc2z"s, "\xe2\x82z"s, "\xf0\x9f\x9bz"s}) {
    EXPECT_FALSE(is_utf8(text)) << in_quotes(text);
    EXPECT_FALSE(is_utf8("before, in blocks of eight " + text + " and after, in blocks of eight"));
  }
}

TEST(Utf8, AgreesWithDecodingOnEveryPairOfBytesBeforeEveryEdge) {
  for (int a = 0; a < 256; ++a) {
    for (int b = 0; b < 256; ++b) {
      for (const auto& rest : {""s, "\x80"s, "\xbf"s, "\x80\xbf"s, "\x80\x41"s, "\xbf\x80\x80"s}) {
        const std::string text = {static_cast<char>(a), static_cast<char>(b)};
        ASSERT_EQ(is_utf8(text + rest), is_utf8_by_decoding(text + rest)) << in_quotes(text + rest);
      }
    }
  }
}

RC_GTEST_PROP(Utf8, AgreesWithDecodingOnAnyBytes, ()) {
  // Mostly ASCII and the bytes at the edges of ranges: arbitrary bytes would nearly never be UTF-8.
  const auto byte = rc::gen::weightedOneOf<char>(
      {{6, rc::gen::inRange<char>(0, 127)},
       {4, rc::gen::elementOf("\x80\x8f\x90\x9f\xa0\xbf\xc1\xc2\xdf\xe0\xe1\xed\xef\xf0\xf1\xf4\xf5\xff"s)}});
  const auto text = *rc::gen::container<std::string>(byte);

  RC_ASSERT(is_utf8(text) == is_utf8_by_decoding(text));
}

TEST(InQuotes, ShowsTextAsItIs) {
  EXPECT_EQ(in_quotes("order-1"), "\"order-1\"");
  EXPECT_EQ(in_quotes("Zürich"), "\"Zürich\"");
}

TEST(InQuotes, EscapesWhatWouldBreakALine) {
  EXPECT_EQ(in_quotes("a\nb\0c\"d\\"s), "\"a\\x0ab\\x00c\\\"d\\\\\"");
  EXPECT_EQ(in_quotes("\xffz"), "\"\\xffz\"");
}

TEST(InQuotes, CutsBetweenCharacters) {
  EXPECT_EQ(in_quotes("abcdef", 3), "\"abc...\"");
  EXPECT_EQ(in_quotes("abüx", 3), "\"ab...\"");
  EXPECT_EQ(in_quotes("üx", 1), "\"...\"");
  EXPECT_EQ(in_quotes("abc", 3), "\"abc\"");
}

RC_GTEST_PROP(InQuotes, IsAlwaysOneLineOfUtf8, (const std::string& bytes, unsigned char most)) {
  const auto text = in_quotes(bytes, most);

  RC_ASSERT(is_utf8(text));
  RC_ASSERT(text.find('\n') == std::string::npos);
}

}  // namespace
}  // namespace evershard
