// What the snippets are about: a shop's stock. `Shop` is right; each snippet breaks one thing.

#pragma once

#include <evershard/aggregate.hpp>
#include <evershard/test_kit.hpp>

namespace shop {

struct Stock {
  int count = 0;
};
struct Take {
  int count = 0;
};
struct Look {};
struct Taken {
  int count = 0;
};
struct TakenV1 {
  int count = 0;
};
struct Left {
  int count = 0;
};
struct Plain {
  int count = 0;
};  // nobody can encode it

template <class T>
constexpr std::string_view called = "";
template <>
inline constexpr std::string_view called<Stock> = "stock";
template <>
inline constexpr std::string_view called<Take> = "take";
template <>
inline constexpr std::string_view called<Look> = "look";
template <>
inline constexpr std::string_view called<Taken> = "taken";
template <>
inline constexpr std::string_view called<TakenV1> = "taken_v1";
template <>
inline constexpr std::string_view called<Left> = "left";

}  // namespace shop

namespace evershard {

template <class T>
requires(!shop::called<T>.empty()) struct Codec<T> {
  static constexpr std::string_view name = shop::called<T>;
  static constexpr PayloadFormat format = PayloadFormat::text;
  static std::string encode(const T&) { return {}; }
  static T decode(std::string_view) { return {}; }
};

}  // namespace evershard

using namespace evershard;

struct Shop {
  static constexpr std::string_view type = "shop";
  using State = shop::Stock;
  using Commands = Types<shop::Take, shop::Look>;
  using Events = Types<shop::Taken>;

  static Effect<shop::Left> on(const State&, const shop::Take& c) { return persist(shop::Taken{c.count}).reply(left); }
  static shop::Left on(const State& state, const shop::Look&) { return left(state); }
  static void apply(State& state, const shop::Taken& e) { state.count -= e.count; }
  static shop::Left left(const State& state) { return {state.count}; }
};
