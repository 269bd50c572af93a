// An order that waits for its payment, and reminds; its types plain structs of text.

#pragma once

#include <array>
#include <chrono>
#include <cstdint>
#include <evershard/aggregate.hpp>
#include <string>
#include <string_view>
#include <utility>

namespace evershard::timed {

using namespace std::chrono_literals;

template <class Name>
struct Said {
  std::int64_t n = 0;
  friend bool operator==(const Said&, const Said&) = default;
};
#define EVERSHARD_SAID(Type, Text)                 \
  struct Type##Name {                              \
    static constexpr std::string_view text = Text; \
  };                                               \
  using Type = Said<Type##Name>
EVERSHARD_SAID(Place, "place");                 ///< to be paid within so many minutes
EVERSHARD_SAID(PlaceBriefly, "place_briefly");  ///< within so many milliseconds
EVERSHARD_SAID(Pay, "pay");
EVERSHARD_SAID(PayOrCancel, "pay_or_cancel");
EVERSHARD_SAID(Remind, "remind");
EVERSHARD_SAID(RemindEvery, "remind_every");  ///< so many minutes; 0: no more
EVERSHARD_SAID(RemindBy, "remind_by");        ///< the calendar of that number
EVERSHARD_SAID(Postpone, "postpone");         ///< the payment, by so many minutes, without an event
EVERSHARD_SAID(Wrong, "wrong");  ///< 1: what is no command, 2: a name without a letter, 3: twice, 4: of the past
EVERSHARD_SAID(Break, "break");  ///< sets a timer whose handler throws so many times
EVERSHARD_SAID(Throw, "throw");
EVERSHARD_SAID(Guard, "guard");  ///< a timer whose handler has a condition of its own
EVERSHARD_SAID(Guarded, "guarded");
EVERSHARD_SAID(Placed, "placed");
EVERSHARD_SAID(Paid, "paid");
EVERSHARD_SAID(Cancelled, "cancelled");
EVERSHARD_SAID(Reminded, "reminded");
#undef EVERSHARD_SAID

struct State {
  std::int64_t placed = 0, paid = 0, cancelled = 0, reminded = 0;
  friend bool operator==(const State&, const State&) = default;
};

}  // namespace evershard::timed

template <class Name>
struct evershard::Codec<evershard::timed::Said<Name>> {
  static constexpr std::string_view name = Name::text;
  static constexpr auto format = evershard::PayloadFormat::text;
  static std::string encode(const timed::Said<Name>& said) { return std::to_string(said.n); }
  static timed::Said<Name> decode(std::string_view bytes) { return {std::stoll(std::string(bytes))}; }
};
template <>
struct evershard::Codec<evershard::timed::State> {
  static constexpr auto format = evershard::PayloadFormat::text;
  static std::string encode(const timed::State& s) {
    return std::to_string(s.placed) + " " + std::to_string(s.paid) + " " + std::to_string(s.cancelled) + " " +
           std::to_string(s.reminded);
  }
  static timed::State decode(std::string_view bytes) {
    timed::State s;
    std::string text(bytes);
    std::size_t at = 0;
    for (auto* member : {&s.placed, &s.paid, &s.cancelled, &s.reminded}) {
      std::size_t used = 0;
      *member = std::stoll(text.substr(at), &used);
      at += used;
    }
    return s;
  }
};

namespace evershard::timed {

inline int throws_left = 0;

/// 4 and 5 are refused.
inline constexpr std::array<std::pair<const char*, const char*>, 6> calendars{{{"*/5 * * * *", "UTC"},
                                                                               {"30 2 * * *", "Europe/Berlin"},
                                                                               {"0 9 * * MON-FRI", "Europe/Berlin"},
                                                                               {"0 * * * *", "Europe/Berlin"},
                                                                               {"0 9 * *", "Europe/Berlin"},
                                                                               {"0 9 * * *", "Europe/Atlantis"}}};

struct Order {
  static constexpr std::string_view type = "order";
  using State = timed::State;
  using Commands = Types<Place, PlaceBriefly, Pay, PayOrCancel, Remind, RemindEvery, RemindBy, Postpone, Wrong, Break,
                         Throw, Guard, Guarded>;
  using Events = Types<Placed, Paid, Cancelled, Reminded>;

  static Effect<> on(const State& order, const Place& c) {
    if (order.placed != 0) return reject("it is placed");
    return persist(Placed{c.n}).schedule("overdue", std::chrono::minutes(c.n), PayOrCancel{c.n});
  }
  static Effect<> on(const State& order, const PlaceBriefly& c) {
    if (order.placed != 0) return reject("it is placed");
    return persist(Placed{c.n}).schedule("overdue", std::chrono::milliseconds(c.n), PayOrCancel{c.n});
  }
  static Effect<> on(const State& order, const Pay&) {
    if (order.placed == 0 || order.cancelled != 0) return reject("nothing is to be paid");
    return persist(Paid{1}).cancel("overdue").cancel("remind");
  }
  static Effect<> on(const State& order, const PayOrCancel& c) {
    if (order.paid != 0) return reject("it is paid");
    return persist(Cancelled{c.n}).cancel("remind");
  }
  static Effect<> on(const State&, const RemindEvery& c) {
    if (c.n == 0) return cancel("remind");
    return schedule_every("remind", std::chrono::minutes(c.n), Remind{c.n});
  }
  static Effect<> on(const State&, const RemindBy& c) {
    const auto& [times, zone] = calendars.at(static_cast<std::size_t>(c.n));
    return schedule_calendar("remind", times, zone, Remind{c.n});
  }
  static Effect<> on(const State& order, const Remind& c) {
    if (order.cancelled != 0) return nothing();
    return persist(Reminded{c.n});
  }
  static Effect<> on(const State&, const Postpone& c) {
    return schedule("overdue", std::chrono::minutes(c.n), PayOrCancel{c.n});
  }
  static Effect<> on(const State&, const Wrong& c) {
    if (c.n == 1) return schedule("overdue", 1min, Placed{1});
    if (c.n == 2) return schedule("", 1min, PayOrCancel{1});
    if (c.n == 3) return schedule("overdue", 1min, PayOrCancel{1}).cancel("overdue");
    return schedule("overdue", -1min, PayOrCancel{1});
  }
  static Effect<> on(const State&, const Break& c) {
    throws_left = static_cast<int>(c.n);
    return schedule("throw", 1min, Throw{1});
  }
  static Effect<> on(const State&, const Throw&) {
    if (throws_left-- > 0) throw std::runtime_error("not now");
    return persist(Reminded{100});
  }

  static Effect<> on(const State&, const Guard&) { return schedule("guarded", 1min, Guarded{1}); }
  static Effect<> on(const State&, const Guarded&) { return persist(Reminded{7}).fail_if(Query{}.tags({"locked"})); }

  static void apply(State& order, const Placed&) { ++order.placed; }
  static void apply(State& order, const Paid&) { ++order.paid; }
  static void apply(State& order, const Cancelled&) { ++order.cancelled; }
  static void apply(State& order, const Reminded&) { ++order.reminded; }
};

}  // namespace evershard::timed
