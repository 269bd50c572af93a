#include "evershard/protocol/error.hpp"

#include <set>

#include "evershard/protocol/result.hpp"

namespace evershard {
namespace {

TEST(ErrorCode, HasANameOfItsOwnInBothDirections) {
  std::set<std::string_view> names;

  for (int i = 1; i <= static_cast<int>(ErrorCode::cancelled); ++i) {
    const auto code = static_cast<ErrorCode>(i);
    EXPECT_EQ(error_code_of(name_of(code)), code) << i;
    names.insert(name_of(code));
  }

  EXPECT_EQ(names.size(), 15u);
  EXPECT_EQ(names.count("unknown"), 0u);
}

TEST(ErrorCode, HasTheNamesOfTheDocuments) {
  EXPECT_EQ(name_of(ErrorCode::version_conflict), "version_conflict");
  EXPECT_EQ(name_of(ErrorCode::too_large), "too_large");
  EXPECT_EQ(name_of(ErrorCode::io), "io");
  EXPECT_EQ(name_of(ErrorCode::cancelled), "cancelled");
}

TEST(ErrorCode, IsNotFoundUnderAnotherName) {
  EXPECT_EQ(error_code_of(""), std::nullopt);
  EXPECT_EQ(error_code_of("IO"), std::nullopt);
  EXPECT_EQ(error_code_of("unknown"), std::nullopt);
  EXPECT_EQ(name_of(ErrorCode{}), "unknown");
}

TEST(Error, ComparesDetailsByValue) {
  const auto at = [](std::uint64_t position) {
    ErrorDetails details;
    details.position = GlobalPosition{position};
    return Error(ErrorCode::condition_failed, "condition 0 fails", details);
  };

  EXPECT_EQ(at(17), at(17));  // two allocations
  EXPECT_NE(at(17), at(18));
  EXPECT_NE(at(17), Error(ErrorCode::condition_failed, "condition 0 fails"));
  EXPECT_EQ(Error(ErrorCode::io, "x", ErrorDetails{}), Error(ErrorCode::io, "x"));
}

TEST(Error, DiffersByCodeAndByText) {
  EXPECT_NE(Error(ErrorCode::io, "x"), Error(ErrorCode::timeout, "x"));
  EXPECT_NE(Error(ErrorCode::io, "x"), Error(ErrorCode::io, "y"));
}

TEST(Result, HandsAnErrorOutOfTheEnclosingFunction) {
  const auto inner = [](bool fail) -> Result<int> {
    if (fail) return refuse(ErrorCode::not_found, "nothing there");
    return 1;
  };
  const auto outer = [&](bool fail) -> Result<std::string> {
    EVERSHARD_TRY(inner(fail));
    return "done";
  };

  EXPECT_EQ(outer(false).value(), "done");
  EXPECT_EQ(outer(true).error(), Error(ErrorCode::not_found, "nothing there"));
}

}  // namespace
}  // namespace evershard
