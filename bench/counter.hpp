// Counter: the smallest aggregate, so that what is measured is the runtime and not the user's code.

#pragma once

#include <evershard/aggregate.hpp>

#include <charconv>
#include <cstdint>
#include <string>
#include <string_view>

namespace evershard::bench {

struct Total {
  std::int64_t value = 0;
};
struct Add {
  std::int64_t by = 0;
};
struct GetTotal {
  std::int64_t unused = 0;
};
struct Added {
  std::int64_t by = 0;
};

/// A number as text; `first` is the type's only member.
template <class T, std::int64_t T::*first>
struct NumberCodec {
  static constexpr auto format = PayloadFormat::text;
  static std::string encode(const T& value) { return std::to_string(value.*first); }
  static T decode(std::string_view bytes) {
    T value;
    std::from_chars(bytes.data(), bytes.data() + bytes.size(), value.*first);
    return value;
  }
};

}  // namespace evershard::bench

namespace evershard {
template <>
struct Codec<bench::Total> : bench::NumberCodec<bench::Total, &bench::Total::value> {};
template <>
struct Codec<bench::Add> : bench::NumberCodec<bench::Add, &bench::Add::by> {
  static constexpr std::string_view name = "bench.add";
};
template <>
struct Codec<bench::GetTotal> : bench::NumberCodec<bench::GetTotal, &bench::GetTotal::unused> {
  static constexpr std::string_view name = "bench.get";
};
template <>
struct Codec<bench::Added> : bench::NumberCodec<bench::Added, &bench::Added::by> {
  static constexpr std::string_view name = "bench.added";
};
}  // namespace evershard

namespace evershard::bench {

struct Counter {
  static constexpr std::string_view type = "counter";
  using State = Total;
  using Commands = Types<Add, GetTotal>;
  using Events = Types<Added>;

  static Effect<Total> on(const Total&, const Add& command) {
    return persist(Added{command.by}).reply([](const Total& total) { return total; });
  }
  static Total on(const Total& total, const GetTotal&) { return total; }
  static void apply(Total& total, const Added& event) { total.value += event.by; }
  static constexpr Retention retention{.replayed_max =
                                           0};  // cold starts are measured with and without snapshots: by hand
};

}  // namespace evershard::bench
