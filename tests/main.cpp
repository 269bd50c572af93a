// The main() of programs that are several tests (EVERSHARD_TESTS_TOGETHER): CTest says which of their files are the
// test that it runs. Without that they run all.

#include <fnmatch.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <iostream>
#include <string>
#include <string_view>
#include <vector>

namespace {

std::vector<std::string> split(std::string_view text) {
  std::vector<std::string> parts;
  while (!text.empty()) {
    const auto end = text.find(':');
    parts.emplace_back(text.substr(0, end));
    text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
  }
  return parts;
}

// Whether one of GoogleTest's patterns, of * and ?, is the name's; without patterns, every name is.
bool matches(const std::vector<std::string>& patterns, const std::string& name) {
  for (const auto& pattern : patterns) {
    if (::fnmatch(pattern.c_str(), name.c_str(), FNM_NOESCAPE) == 0) return true;
  }
  return patterns.empty();
}

// Makes the filter smaller: of what it lets run, what lies in these files, relative to the source tree. False where
// none has a test: then their names are wrong.
bool run_only(const std::vector<std::string>& files) {
  const std::string filter = testing::GTEST_FLAG(filter);
  const auto minus = filter.find('-');
  const auto wanted = split(std::string_view(filter).substr(0, minus));
  const auto without = minus == std::string::npos ? std::string() : filter.substr(minus);
  std::string names;
  bool found = false;
  const auto& all = *testing::UnitTest::GetInstance();
  for (int s = 0; s != all.total_test_suite_count(); ++s) {
    const auto& suite = *all.GetTestSuite(s);
    for (int t = 0; t != suite.total_test_count(); ++t) {
      const auto& test = *suite.GetTestInfo(t);
      const std::string_view of = test.file();
      bool here = false;
      for (const auto& file : files) here = here || of.ends_with(file);
      if (!here) continue;
      found = true;
      const auto name = std::string(suite.name()) + '.' + test.name();
      if (matches(wanted, name)) names += name + ':';
    }
  }
  testing::GTEST_FLAG(filter) = (names.empty() ? "of_no_file" : names) + without;
  return found;
}

// GoogleTest says what it filters by: here the names of all that runs, which hide what failed.
class WithoutTheFilter final : public testing::EmptyTestEventListener {
  void OnTestIterationStart(const testing::UnitTest& /*all*/, int /*turn*/) override {
    testing::GTEST_FLAG(filter) = "*";
  }
};

void say_no_filter() {
  auto& listeners = testing::UnitTest::GetInstance()->listeners();
  auto* printer = listeners.Release(listeners.default_result_printer());
  listeners.Append(new WithoutTheFilter);
  listeners.Append(printer);
}

}  // namespace

int main(int argc, char** argv) {
  testing::InitGoogleMock(&argc, argv);
  const char* set = std::getenv("EVERSHARD_TEST_FILES");
  const std::string files = set == nullptr ? "" : set;
  ::unsetenv("EVERSHARD_TEST_FILES");  // programs of ours look at every name that begins so
  if (!files.empty() && !run_only(split(files))) {
    std::cerr << "EVERSHARD_TEST_FILES=" << files << ": none of these has a test in this program\n";
    return 1;
  }
  if (!files.empty()) say_no_filter();
  return RUN_ALL_TESTS();
}
