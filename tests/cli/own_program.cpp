// A command line with aggregates whose types are not Protobuf's; and `fill DIR`, which gives them a history.

#include <evershard/aggregate.hpp>
#include <evershard/command_line.hpp>
#include <evershard/local.hpp>

#include <iostream>
#include <nlohmann/json.hpp>
#include <string>

namespace {

struct Text {
  std::string text;
};
struct Lines {
  std::vector<std::string> lines;
};
struct Count {
  std::int32_t count = 0;
};

}  // namespace

template <>
struct evershard::Codec<Text> {
  static constexpr std::string_view name = "text";
  static constexpr auto format = evershard::PayloadFormat::json;
  static std::string encode(const Text& text) { return nlohmann::json(text.text).dump(); }
  static Text decode(std::string_view bytes) { return {nlohmann::json::parse(bytes).get<std::string>()}; }
};
/// JSON as people like it: over several lines.
template <>
struct evershard::Codec<Lines> {
  static constexpr auto format = evershard::PayloadFormat::json;
  static std::string encode(const Lines& lines) { return nlohmann::json{{"lines", lines.lines}}.dump(2) + "\n"; }
  static Lines decode(std::string_view bytes) {
    return {nlohmann::json::parse(bytes).at("lines").get<std::vector<std::string>>()};
  }
};
/// Neither JSON nor Protobuf.
template <>
struct evershard::Codec<Count> {
  static constexpr auto format = evershard::PayloadFormat::unspecified;
  static std::string encode(const Count& count) { return std::string("\xff") + std::to_string(count.count); }
  static Count decode(std::string_view bytes) { return {bytes.empty() ? 0 : std::stoi(std::string(bytes.substr(1)))}; }
};

namespace {

struct Note {
  static constexpr std::string_view type = "note";
  using State = Lines;
  using Commands = evershard::Types<Text>;
  using Events = evershard::Types<Text>;
  static evershard::Effect<> on(const State&, const Text& text) { return evershard::persist(text); }
  static void apply(State& state, const Text& text) { state.lines.push_back(text.text); }
};

struct Counter {
  static constexpr std::string_view type = "counter";
  using State = Count;
  using Commands = evershard::Types<Text>;
  using Events = evershard::Types<Text>;
  static evershard::Effect<> on(const State&, const Text& text) { return evershard::persist(text); }
  static void apply(State& state, const Text&) { ++state.count; }
};

/// The same type once more.
struct Twin : Note {};

int fill(const char* directory) {
  auto store = evershard::Local::open({.data_dir = directory});
  if (!store || !store->host<Note>() || !store->host<Counter>()) return 1;
  for (const char* text : {"one", "two\nlines", "three"}) {
    if (!store->get<Note>("a").ask(Text{text}) || !store->get<Counter>("a").ask(Text{text})) return 1;
  }
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc == 3 && argv[1] == std::string("fill")) return fill(argv[2]);
  if (argc > 1 && argv[1] == std::string("twins")) return evershard::command_line<Note, Twin>(argc - 1, argv + 1);
  return evershard::command_line<Note, Counter>(argc, argv);
}
