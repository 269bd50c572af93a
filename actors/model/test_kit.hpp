// TestKit: an aggregate's test: given events, when a command, then events and an answer. No actors, no store, no test
// framework.

#pragma once

#include <chrono>
#include <concepts>
#include <functional>
#include <map>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "evershard/actors/model/scenario.hpp"
#include "evershard/actors/model/typed_kind.hpp"
#include "evershard/protocol/in_quotes.hpp"

namespace evershard {

/// What a kit throws by default: what was given and done, expected and actual, as JSON where the types can.
class TestFailure : public std::logic_error {
 public:
  using std::logic_error::logic_error;
};

template <Encodable T>
[[nodiscard]] std::string shown(std::string_view bytes) {
  if constexpr (ProtobufMessage<T>) {
    T message;
    return parse_bytes(bytes, message) ? protobuf_text(message) : in_quotes(bytes);
  } else if constexpr (Codec<T>::format == PayloadFormat::json || Codec<T>::format == PayloadFormat::text) {
    return std::string(bytes);
  } else {
    return bytes.empty() ? std::string("{}") : in_quotes(bytes, 400);
  }
}

template <Encodable T>
[[nodiscard]] Result<std::string> recoded(std::string_view bytes) {
  T value{};
  EVERSHARD_TRY(parse_bytes(bytes, value));
  return to_bytes(value);
}

template <class T>
[[nodiscard]] Shape shape_of() {
  if constexpr (Named<T>) {
    return {name_of_type<T>(), &shown<T>, &recoded<T>};
  } else {
    return {cpp_name(typeid(T)), &shown<T>, &recoded<T>};
  }
}

/// What a command came to; each expectation that does not hold is a failure of the test. Chain as many as matter.
template <class A, class C>
class Outcome {
 public:
  static_assert(listed<C, typename A::Commands>, "evershard: when(...): this is not one of the aggregate's Commands");
  using Reply = ReplyOf<A, C>;

  Outcome(Scenario& scenario, Told told) : scenario_(&scenario), told_(std::move(told)) {}

  /// Exactly these events, in this order; none: nothing is written.
  template <class... Es>
  Outcome& then(const Es&... events) {
    static_assert((listed<Es, typename A::Events> && ...),
                  "evershard: then(...): this is not one of the aggregate's Events");
    std::vector<DecidedEvent> expected;
    (add(expected, events), ...);
    scenario_->expect_events(told_, expected);
    return *this;
  }
  /// This reply, which comes after the events are durable.
  template <class R = Reply>
  Outcome& replied(const R& reply = R{}) {
    static_assert(std::is_same_v<R, Reply>, "evershard: replied(...): this is not the command's reply type");
    if constexpr (std::is_same_v<R, Reply>) scenario_->expect_reply(told_, shape_of<Reply>(), to_bytes(reply));
    return *this;
  }
  /// Refused by the handler, with this text.
  Outcome& rejected(std::string_view text) {
    scenario_->expect_rejection(told_, text);
    return *this;
  }
  /// An Error: a handler or apply that threw, a condition that failed. Its text contains `text`.
  Outcome& failed(ErrorCode code, std::string_view text = {}) {
    scenario_->expect_error(told_, code, text);
    return *this;
  }
  /// The state after the events.
  Outcome& state(const typename A::State& expected) {
    scenario_->expect_state(told_, to_bytes(expected));
    return *this;
  }
  /// The tags of the event of this number, from 0, in this order.
  Outcome& tagged(std::size_t event, const std::vector<Tag>& tags) {
    scenario_->expect_tags(told_, event, tags);
    return *this;
  }
  /// The command is decided on what this query finds, and no such event may come in between.
  Outcome& decided_on(const Query& query) {
    scenario_->expect_view(told_, query);
    return *this;
  }
  /// What is asked before the command is decided.
  template <class Q>
  Outcome& asked(const Q& question) {
    static_assert(std::is_same_v<Q, typename PreparedOf<A, C>::Question>,
                  "evershard: asked(...): this is not what prepare of the command asks");
    scenario_->expect_asked(told_, shape_of<Q>(), to_bytes(question));
    return *this;
  }
  /// A snapshot is asked for with the events.
  Outcome& with_snapshot() {
    scenario_->expect_snapshot(told_);
    return *this;
  }
  /// A timer is set, in the place of one of the same name, with this command.
  template <class T>
  Outcome& scheduled(const std::string& timer, std::chrono::microseconds after, const T& command) {
    return expect_timer(TimerSet{.name = timer, .after = after}, command);
  }
  template <class T>
  Outcome& scheduled_at(const std::string& timer, Timestamp at, const T& command) {
    return expect_timer(TimerSet{.name = timer, .at = at}, command);
  }
  template <class T>
  Outcome& scheduled_every(const std::string& timer, std::chrono::microseconds every, const T& command) {
    return expect_timer(TimerSet{.name = timer, .after = every, .every = every}, command);
  }
  template <class T>
  Outcome& scheduled_calendar(const std::string& timer, const std::string& calendar, const std::string& zone,
                              const T& command) {
    return expect_timer(TimerSet{.name = timer, .calendar = {{calendar, zone}}}, command);
  }
  Outcome& cancelled(const std::string& timer) {
    scenario_->expect_cancelled(told_, timer);
    return *this;
  }
  /// The whole outcome of the command, for checks that have no function above.
  [[nodiscard]] const Told& told() const { return told_; }

 private:
  template <class T>
  Outcome& expect_timer(TimerSet timer, const T& command) {
    static_assert(listed<T, typename A::Commands>,
                  "evershard: scheduled(...): this is not one of the aggregate's Commands");
    auto payload = to_bytes(command);
    if (!scenario_->encoded(shape_of<T>(), payload)) return *this;
    timer.command = name_of_type<T>();
    timer.payload = std::move(*payload);
    scenario_->expect_timer(told_, timer, shape_of<T>());
    return *this;
  }
  template <class E>
  void add(std::vector<DecidedEvent>& expected, const E& event) {
    auto payload = to_bytes(event);
    if (scenario_->encoded(shape_of<E>(), payload))
      expected.push_back({name_of_type<E>(), std::move(*payload), Codec<E>::format, {}, {}});
  }

  Scenario* scenario_;
  Told told_;
};

/// Tests of one aggregate:
///
///     TestKit<BankAccount> kit;
///     kit.given(deposited(100)).when(withdraw(30)).then(withdrawn(30)).replied(balance(70));
///     kit.given().when(withdraw(30)).rejected("insufficient funds").then();
///
/// Every given() starts afresh; without it a when() goes on from the one before. See Scenario for what is checked
/// besides.
template <class A>
class TestKit {
 public:
  static_assert(AggregateRules<A>::value, "evershard: TestKit<A>: A is not an aggregate, see above");
  using Report = Scenario::Report;

  /// `id`: the value part of the aggregate's id. `report`: what a failure does; it may return.
  explicit TestKit(
      std::string id = "test", Report report = [](const std::string& failure) { throw TestFailure(failure); })
      : scenario_(make(std::move(id), std::move(report))) {}

  /// The aggregate's own events so far, old ones too; what was given before is forgotten.
  template <class... Es>
  TestKit& given(const Es&... events) {
    scenario_.clear();
    return and_given(events...);
  }
  template <class... Es>
  TestKit& and_given(const Es&... events) {
    static_assert(((listed<Es, typename A::Events> || listed<Es, typename OldEventsOf<A>::type>)&&...),
                  "evershard: given(...): this is not one of the aggregate's Events or OldEvents");
    (give<A>(events, scenario_.id()), ...);
    return *this;
  }
  /// Further events, of another aggregate, for commands that are decided on a view; with the tags it gives them.
  template <class Other, class... Es>
  TestKit& given_of(std::string id, const Es&... events) {
    static_assert(((listed<Es, typename Other::Events> || listed<Es, typename OldEventsOf<Other>::type>)&&...),
                  "evershard: given_of<Other>(...): this is not one of Other's Events or OldEvents");
    static_cast<void>((views_read<Other, Es> && ...));
    (give<Other>(events, AggregateId{std::string(std::string_view(Other::type)), id}), ...);
    return *this;
  }
  /// A further event, of no aggregate, with these tags.
  template <class E>
  TestKit& given_tagged(const E& event, std::vector<Tag> tags) {
    auto payload = checked_bytes(event);
    if (payload)
      scenario_.given({name_of_type<E>(), std::move(*payload), Codec<E>::format, std::move(tags), {}}, std::nullopt,
                      shape_of<E>());
    return *this;
  }

  template <class C>
  Outcome<A, C> when(const C& command) {
    static_assert(!PreparedOf<A, C>::asks || PreparedOf<A, C>::optional,
                  "evershard: when(...): this command is prepared: when(command, answer)");
    return decide(command, std::nullopt);
  }
  /// Of a command that is prepared: with that answer to what it asks.
  template <class C>
  Outcome<A, C> when(const C& command, const typename PreparedOf<A, C>::Answer& answer) {
    return decide(command, checked_bytes(answer).value_or(std::string()));
  }
  /// The command of this type that the timer of that name sends: time passes until it is due.
  template <class C>
  Outcome<A, C> when_due(const std::string& timer) {
    static_assert(!PreparedOf<A, C>::asks || PreparedOf<A, C>::optional,
                  "evershard: when_due(...): this command is prepared: when_due<Command>(timer, answer)");
    return {scenario_, scenario_.when_due(timer, shape_of<C>(), view_events<typename ViewOf<A, C>::type>())};
  }
  template <class C>
  Outcome<A, C> when_due(const std::string& timer, const typename PreparedOf<A, C>::Answer& answer) {
    return {scenario_, scenario_.when_due(timer, shape_of<C>(), view_events<typename ViewOf<A, C>::type>(),
                                          checked_bytes(answer).value_or(std::string()))};
  }
  /// How long each timer that is set has to go.
  [[nodiscard]] std::map<std::string, std::chrono::microseconds> pending() const { return scenario_.pending(); }
  /// It begins with 2026-01-01T00:00:00Z.
  [[nodiscard]] Timestamp now() const { return scenario_.now(); }
  TestKit& pass(std::chrono::microseconds time) {
    scenario_.pass(time);
    return *this;
  }

 private:
  template <class C>
  Outcome<A, C> decide(const C& command, std::optional<std::string> answer) {
    auto bytes = checked_bytes(command);
    Told told;
    if (bytes) {
      told = scenario_.when({name_of_type<C>(), std::move(*bytes)}, shape_of<C>(), shape_of<ReplyOf<A, C>>(),
                            view_events<typename ViewOf<A, C>::type>(), std::move(answer));
    } else {
      told.error = std::move(bytes).error();
    }
    return {scenario_, std::move(told)};
  }

  static Scenario make(std::string id, Report report) {
    auto kind = make_kind<A>();
    if (!kind) throw TestFailure(kind.error().what);
    std::vector<Shape> events;
    for_each_type(typename A::Events{}, [&]<class E>() { events.push_back(shape_of<E>()); });
    AggregateId aggregate{std::string((*kind)->type()), std::move(id)};
    return {std::move(*kind), std::move(aggregate), std::move(events), shape_of<typename A::State>(),
            std::move(report)};
  }

  template <class Owner, class E>
  void give(const E& event, AggregateId aggregate) {
    if (!checked_bytes(event)) return;
    DecidedEvent decided;
    if (TypedKind<Owner>::template encode_event<E>(&event, decided))
      scenario_.given(std::move(decided), std::move(aggregate), shape_of<E>());
  }

  template <class V>
  static std::vector<std::string> view_events() {
    if constexpr (std::is_void_v<V>)
      return {};
    else
      return names_read_by<V>();
  }
  /// Every view of A knows the event, or lists nothing that it becomes.
  template <class Other, class E>
  static constexpr bool views_read = []<class... Vs>(Types<Vs...>) {
    return (ReadsOldEvent<Vs, Other, E>::value && ... && true);
  }(typename ViewsOf<A>::type{});

  /// Its bytes, when the value comes back from them.
  template <class T>
  Result<std::string> checked_bytes(const T& value) {
    auto bytes = to_bytes(value);
    if (!scenario_.encoded(shape_of<T>(), bytes)) return bytes;
    if constexpr (std::equality_comparable<T>) {
      T back{};
      if (parse_bytes(*bytes, back) && !(back == value))
        scenario_.fail(shape_of<T>().name +
                       " is not the same value after encoding and decoding it: " + shown<T>(*bytes));
    }
    return bytes;
  }

  Scenario scenario_;
};

}  // namespace evershard
