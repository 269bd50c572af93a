// The program under test, with a directory of its own for every test.

#pragma once

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "tests/process/process.hpp"

namespace evershard::testing {

using Json = nlohmann::ordered_json;
using Words = std::vector<std::string>;

class Program : public ::testing::Test {
 protected:
  Program();
  ~Program() override;

  /// A path in this test's directory.
  [[nodiscard]] std::string path(std::string_view name) const { return (directory_ / name).string(); }
  [[nodiscard]] static Words words(Words words);  ///< with the program in front

  /// Runs it to the end.
  static Finished evershard(Words words, std::string_view input = {}, const ProcessOptions& options = {});
  /// A new store; its directory.
  std::string store(std::string_view name = "store", int shards = 16);
  /// Stores lines; they must all be taken.
  static void append(const std::string& store, std::string_view lines);
  /// What a command shows, a value a line; it must succeed.
  static std::vector<Json> shown(Words words);
  static std::uint64_t head(const std::string& store);

  void write_file(std::string_view name, std::string_view bytes) const;
  [[nodiscard]] std::string read_file(std::string_view name) const;

 private:
  std::filesystem::path directory_;
};

/// A value a line.
std::vector<Json> json_lines(std::string_view text);
/// The `error` object on standard error.
Json error_of(const Finished& finished);
/// Deterministic: the n-th id.
std::string id(std::uint64_t n);

}  // namespace evershard::testing
