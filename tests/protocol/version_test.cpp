#include "evershard/protocol/version.hpp"

namespace evershard {
namespace {

TEST(ExpectedVersion, HoldsForWhatItSays) {
  struct Case {
    ExpectedVersion expected;
    bool absent, first, fourth;
  };
  for (const auto& c : {Case{Version::any(), true, true, true}, Case{Version::none(), true, false, false},
                        Case{Version::exists(), false, true, true}, Case{Version::exactly(4), false, false, true}}) {
    EXPECT_EQ(c.expected.holds_for(SeqNr{0}), c.absent) << c.expected.text();
    EXPECT_EQ(c.expected.holds_for(SeqNr{1}), c.first) << c.expected.text();
    EXPECT_EQ(c.expected.holds_for(SeqNr{4}), c.fourth) << c.expected.text();
  }
}

TEST(ExpectedVersion, IsNoneWhereItIsExactlyZero) { EXPECT_EQ(Version::exactly(0), Version::none()); }

TEST(ExpectedVersion, IsAnyWhereNothingIsSaid) { EXPECT_EQ(ExpectedVersion{}, Version::any()); }

TEST(ExpectedVersion, HasATextForm) {
  EXPECT_EQ(Version::any().text(), "any");
  EXPECT_EQ(Version::none().text(), "none");
  EXPECT_EQ(Version::exists().text(), "exists");
  EXPECT_EQ(Version::exactly(18'446'744'073'709'551'615u).text(), "18446744073709551615");
}

}  // namespace
}  // namespace evershard
