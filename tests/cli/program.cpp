#include "tests/cli/program.hpp"

#include <unistd.h>

#include <atomic>
#include <cstdio>
#include <fstream>
#include <sstream>

namespace evershard::testing {

Program::Program() {
  static std::atomic<int> number{0};
  directory_ = std::filesystem::temp_directory_path() /
               ("evershard-cli-" + std::to_string(::getpid()) + "-" + std::to_string(++number));
  std::filesystem::create_directories(directory_);
}

Program::~Program() {
  std::error_code ignored;
  std::filesystem::remove_all(directory_, ignored);
}

Words Program::words(Words words) {
  words.insert(words.begin(), EVERSHARD_PROGRAM);
  return words;
}

Finished Program::evershard(Words given, std::string_view input, const ProcessOptions& options) {
  ProcessOptions clean = options;
  clean.environment.try_emplace("EVERSHARD_DATA", "");
  return run(words(std::move(given)), input, clean);
}

std::string Program::store(std::string_view name, int shards) {
  const std::string directory = path(name);
  const Finished made = evershard({"init", "--data", directory, "--shards", std::to_string(shards)});
  EXPECT_EQ(made.status, 0) << made.err;
  return directory;
}

void Program::append(const std::string& store, std::string_view lines) {
  const Finished done = evershard({"append", "--data", store, "--jsonl", "-"}, lines);
  EXPECT_EQ(done.status, 0) << done.err;
}

std::vector<Json> Program::shown(Words given) {
  const Finished done = evershard(std::move(given));
  EXPECT_EQ(done.status, 0) << done.err;
  return json_lines(done.out);
}

std::uint64_t Program::head(const std::string& store) { return shown({"stats", "--data", store}).at(0).at("head"); }

void Program::write_file(std::string_view name, std::string_view bytes) const {
  std::ofstream(path(name), std::ios::binary).write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
}

std::string Program::read_file(std::string_view name) const {
  std::ostringstream bytes;
  bytes << std::ifstream(path(name), std::ios::binary).rdbuf();
  return bytes.str();
}

std::vector<Json> json_lines(std::string_view text) {
  std::vector<Json> values;
  std::istringstream in{std::string(text)};
  for (std::string line; std::getline(in, line);) values.push_back(Json::parse(line));
  return values;
}

Json error_of(const Finished& finished) {
  EXPECT_EQ(std::count(finished.err.begin(), finished.err.end(), '\n'), 1) << finished.err;
  const Json value = Json::parse(finished.err, nullptr, false);
  if (!value.is_object() || !value.contains("error")) {
    ADD_FAILURE() << "no error object: " << finished.err;
    return Json::object();
  }
  return value.at("error");
}

std::string id(std::uint64_t n) {
  char text[40];
  std::snprintf(text, sizeof text, "%08llx-0000-4000-8000-000000000000", static_cast<unsigned long long>(n));
  return text;
}

}  // namespace evershard::testing
