#include "evershard/actors/model/scenario.hpp"

#include <algorithm>

#include "evershard/protocol/append.hpp"
#include "evershard/protocol/in_quotes.hpp"
#include "evershard/protocol/prepared.hpp"
#include "evershard/protocol/validate.hpp"

namespace evershard {
namespace {

std::string outcome_of(Decision::Kind kind) {
  switch (kind) {
    case Decision::Kind::persist:
      return "persisted events";
    case Decision::Kind::nothing:
      return "persisted nothing";
    case Decision::Kind::reject:
      return "rejected";
  }
  return {};
}

bool same(const DecidedEvent& a, const DecidedEvent& b) {
  return a.type == b.type && a.payload == b.payload && a.format == b.format && a.tags == b.tags && a.also == b.also;
}

bool changes_timers(const DecidedEvent& event) { return event.type == timers_changed_type; }

Event event_of(const DecidedEvent& decided, std::optional<AggregateId> aggregate) {
  Event event;
  event.aggregate = std::move(aggregate);
  event.type = decided.type;
  event.tags = decided.tags;
  event.also = decided.also;
  event.payload = decided.payload;
  event.format = decided.format;
  return event;
}

}  // namespace

/// A decision, and what it was made on.
struct Scenario::Decided {
  Decision decision;
  std::optional<CommandBytes> asked;
  std::optional<Query> view;
};

void Scenario::clear() {
  history_.clear();
  given_text_.clear();
  when_text_.clear();
}

void Scenario::given(DecidedEvent event, std::optional<AggregateId> aggregate, const Shape& shape) {
  if (shape_of(shape.name) == nullptr) shapes_.push_back(shape);
  check_codec(shape, event.payload);
  if (auto ok = check(event_of(event, aggregate), limits_); !ok)
    fail("given: the event cannot be stored: " + ok.error().what);
  const bool own = aggregate == id_;
  given_text_ += "\n  given    " + text_of(event.type, event.payload) +
                 (own         ? ""
                  : aggregate ? " of " + in_quotes(aggregate->text())
                              : " of no aggregate");
  record(std::move(event), std::move(aggregate));
}

void Scenario::record(DecidedEvent decided, std::optional<AggregateId> aggregate) {
  RecordedEvent event;
  event.position = GlobalPosition{history_.size() + 1};
  event.offset = ShardOffset{history_.size() + 1};
  event.id = EventId::derived(EventId{}, static_cast<std::uint32_t>(history_.size()));
  const auto of_it =
      std::count_if(history_.begin(), history_.end(), [&](const auto& e) { return e.aggregate == aggregate; });
  if (aggregate) event.seq_nr = SeqNr{static_cast<std::uint64_t>(of_it) + 1};
  event.aggregate = std::move(aggregate);
  event.type = std::move(decided.type);
  event.tags = std::move(decided.tags);
  event.also = std::move(decided.also);
  for (const auto& timer : decided.timers) event.tags.push_back(timer_tag(timer_key(id_, timer)));
  event.payload = std::move(decided.payload);
  event.format = decided.format;
  event.subject = std::move(decided.subject);
  event.occurred_at = now_;
  history_.push_back(std::move(event));
}

Told Scenario::when(const CommandBytes& command, const Shape& command_shape, const Shape& reply_shape,
                    const std::vector<std::string>& view_events, std::optional<std::string> answer) {
  answer_ = std::move(answer);
  when_text_ = "\n  when     " + command.type + ' ' + command_shape.show(command.bytes);
  check_codec(command_shape, command.bytes);
  return run(command, &reply_shape, view_events);
}

std::map<std::string, Scenario::Pending> Scenario::timers() const {
  std::map<std::string, Pending> pending;
  for (const auto& event : history_) {
    if (event.aggregate != id_ || event.type != timers_changed_type) continue;
    const auto changed = decode_timers_changed(event.payload);
    if (!changed) continue;  // a given event that is none: the aggregate's own reading of it says so
    for (const auto& name : changed->cancelled) pending.erase(name);
    pending.erase(changed->fired);
    for (const auto& timer : changed->set)
      pending[timer.name] = {timer, event.position, due_of(timer, event.occurred_at)};
  }
  return pending;
}

std::map<std::string, std::chrono::microseconds> Scenario::pending() const {
  std::map<std::string, std::chrono::microseconds> due;
  for (const auto& [name, timer] : timers()) due[name] = std::chrono::microseconds(timer.due.micros - now_.micros);
  return due;
}

Told Scenario::when_due(const std::string& timer, const Shape& command_shape,
                        const std::vector<std::string>& view_events, std::optional<std::string> answer) {
  answer_ = std::move(answer);
  when_text_ = "\n  when     timer " + in_quotes(timer) + " is due";
  const auto pending = timers();
  const auto found = pending.find(timer);
  if (found == pending.end()) {
    fail("when_due: no timer " + in_quotes(timer) + " is set");
    Told none;
    none.error = Error(ErrorCode::not_found, "no timer of that name is set");
    return none;
  }
  const auto& [set, set_at, due] = found->second;
  if (set.command != command_shape.name)
    fail("when_due: the timer sends another command", command_shape.name, set.command);
  now_ = std::max(now_, due);
  FireTimer fire{set, set_at, timer_tag(timer_key(id_, timer))};
  if (set.repeats()) {
    const auto next = next_due(set, due, now_);
    if (!next) fail("when_due: " + next.error().what);
    fire.next = next.value_or(now_);
  }
  auto told = run({std::string(fire_timer_type), encode(fire)}, nullptr, view_events);
  if (!told.error && !told.reply.empty()) {
    told.kind = Decision::Kind::reject;
    told.rejection = std::exchange(told.reply, {});
  }
  return told;
}

// `reply_shape`: null: nobody is told its reply.
Told Scenario::run(const CommandBytes& command, const Shape* reply_shape, const std::vector<std::string>& view_events) {
  Told told;

  auto state = replay();
  if (!state) {
    fail("the given events cannot be replayed: " + state.error().what);
    told.error = std::move(state).error();
    return told;
  }
  const std::string before = bytes_of(**state);
  check_codec(state_, before);
  if (auto again = replay())
    expect_same_state(before, bytes_of(**again),
                      "apply or upcast is not deterministic: the given events, replayed twice");
  auto restore = restored(**state);

  auto decided = decide(**state, command);
  expect_same_state(before, bytes_of(**state), "the handler changed the state it was to decide on");
  if (!decided) {
    told.error = std::move(decided).error();
    return told;
  }
  Decision& decision = decided->decision;
  told.kind = decision.kind;
  told.asked = decided->asked;
  told.events = decision.events;
  if (!told.events.empty() && told.events.front().type == command_prepared_type) told.events.erase(told.events.begin());
  if (!told.events.empty() && changes_timers(told.events.back())) {
    if (auto changed = decode_timers_changed(told.events.back().payload)) told.timers = std::move(*changed);
    told.events.pop_back();
  }
  told.rejection = decision.rejection;
  told.snapshot = decision.snapshot;
  told.conditions = decision.conditions;
  if (decided->view) {
    told.views.push_back(*decided->view);
    check_view(*decided->view, view_events);
  }
  check_events(decision.events);
  for (const auto& condition : told.conditions) {
    if (auto ok = condition.query.check(); !ok) fail("fail_if: " + ok.error().what);
  }

  // Over the provisional state, as the runtime goes on before the events are durable.
  auto after = kind_->copy(**state);
  for (const auto& event : told.events) {
    if (!after) break;
    if (auto ok = kind_->apply(**after, event.type, event.payload); !ok) after = Refused(std::move(ok).error());
  }
  if (!after) {
    told.error = std::move(after).error();
    return told;
  }
  told.state = bytes_of(**after);
  expect_same_state(before, bytes_of(**state), "applying events to a copy of the state changed the state itself");
  if (decision.kind != Decision::Kind::reject) {
    auto reply = decision.reply ? decision.reply(**after) : std::string();
    if (!reply) {
      told.error = std::move(reply).error();
      return told;
    }
    told.reply = std::move(*reply);
    if (reply_shape != nullptr) check_codec(*reply_shape, told.reply);
    if (told.reply.size() > limits_.reply_bytes_max) {
      fail("the reply has " + std::to_string(told.reply.size()) + " bytes, the limit is " +
           std::to_string(limits_.reply_bytes_max));
    }
  }

  // A snapshot's reader has only the bytes: it must decide the same, and come to the same state.
  if (restore) {
    const auto again = decide(**restore, command);
    const auto differs = [&]() -> std::string {
      if (!again) return "failed: " + again.error().what;
      const Decision& second = again->decision;
      if (second.kind != told.kind) return outcome_of(second.kind);
      if (second.rejection != told.rejection) return "rejected: " + second.rejection;
      if (!std::equal(second.events.begin(), second.events.end(), decision.events.begin(), decision.events.end(), same))
        return text_of(second.events);
      if (second.conditions != told.conditions || second.snapshot != told.snapshot)
        return "other conditions, or a snapshot besides";
      return {};
    }();
    if (!differs.empty()) {
      fail(
          "the handler does not decide the same again, on the state restored from its bytes: it looks at something "
          "that is "
          "neither in the command nor in the encoded state",
          text_of(told), differs);
    }
    // Where an event is refused here, the states differ, and that is told.
    for (const auto& event : told.events) static_cast<void>(kind_->apply(**restore, event.type, event.payload));
    expect_same_state(told.state, bytes_of(**restore),
                      "apply is not a function of event and encoded state: the state after the events, and the same "
                      "from a state restored from its bytes");
  }

  if (told.kind == Decision::Kind::persist) {
    if (auto refused = refused_by(told.conditions)) {
      told.error = std::move(refused);
      return told;
    }
    for (const auto& event : decision.events) record(event, id_);
    if (auto replayed = replay()) {
      expect_same_state(told.state, bytes_of(**replayed),
                        "replaying all events from the first gives another state than the one decided on");
    }
  }
  return told;
}

Result<StatePtr> Scenario::replay() const {
  StatePtr state = kind_->initial();
  for (const auto& event : history_) {
    if (event.aggregate == id_) EVERSHARD_TRY(kind_->apply(*state, event.type, event.payload));
  }
  return state;
}

Result<Scenario::Decided> Scenario::decide(const AnyState& state, const CommandBytes& command) const {
  auto model = kind_->decision_model(command);
  if (!model) return Refused(std::move(model).error());
  Decided decided;
  if (*model) {
    decided.view = (*model)->query;
    for (const auto& event : history_) {
      if (decided.view->matches(event)) EVERSHARD_TRY(kind_->fold(command, *(*model)->model, event));
    }
  }
  auto asked = kind_->prepare(state, command);
  if (!asked) return Refused(std::move(asked).error());
  if (asked->has_value() != answer_.has_value()) {
    const std::string what = *asked ? "the command asks " + in_quotes((*asked)->type) + ", and no answer is given"
                                    : "an answer is given, and the command asks nothing";
    fail("when: " + what);
    return refuse(ErrorCode::invalid_argument, what);
  }
  std::optional<PreparedAnswer> prepared;
  if (*asked) prepared = PreparedAnswer{**asked, *answer_};
  decided.asked = std::move(*asked);
  auto decision =
      kind_->decide(state, command, *model ? (*model)->model.get() : nullptr, prepared ? &*prepared : nullptr);
  if (!decision) return Refused(std::move(decision).error());
  decided.decision = std::move(*decision);
  return decided;
}

Result<StatePtr> Scenario::restored(const AnyState& state) const { return kind_->decode(bytes_of(state)); }

std::string Scenario::bytes_of(const AnyState& state) const {
  auto bytes = kind_->encode(state);
  if (!bytes) fail("the state cannot be encoded: " + bytes.error().what);
  return std::move(bytes).value_or(std::string());
}

std::optional<Error> Scenario::refused_by(const std::vector<AppendCondition>& conditions) const {
  for (const auto& condition : conditions) {
    for (const auto& event : history_) {
      if (event.position <= condition.after || !condition.query.matches(event)) continue;
      return Error(ErrorCode::condition_failed, "event " + in_quotes(event.type) + " at position " +
                                                    std::to_string(event.position.value) +
                                                    " matches the condition of fail_if");
    }
  }
  return std::nullopt;
}

void Scenario::check_events(const std::vector<DecidedEvent>& events) const {
  for (const auto& event : events) {
    if (auto ok = check(event_of(event, id_), limits_); !ok)
      fail("event " + in_quotes(event.type) + " cannot be stored: " + ok.error().what);
    if (const Shape* shape = shape_of(event.type)) check_codec(*shape, event.payload);
  }
}

void Scenario::check_view(const Query& query, const std::vector<std::string>& view_events) const {
  for (const auto& item : query.items()) {
    for (const auto& type : item.types) {
      if (std::find(view_events.begin(), view_events.end(), type) != view_events.end()) continue;
      fail("the view's query asks for event type " + in_quotes(type) +
           ", which is not one of the view's Events: it would be passed over");
    }
  }
}

void Scenario::check_codec(const Shape& shape, std::string_view bytes) const {
  const auto again = shape.recode(bytes);
  if (!again) {
    fail(shape.name + " does not survive its codec: " + again.error().what);
  } else if (*again != bytes) {
    fail(shape.name + " is not the same bytes after decoding and encoding it", shape.show(bytes), shape.show(*again));
  }
}

void Scenario::expect_same_state(const std::string& expected, const std::string& actual,
                                 const std::string& what) const {
  if (expected != actual) fail(what + ": the states differ", state_.show(expected), state_.show(actual));
}

const Shape* Scenario::shape_of(std::string_view event_type) const {
  const auto at =
      std::find_if(shapes_.begin(), shapes_.end(), [&](const Shape& shape) { return shape.name == event_type; });
  return at == shapes_.end() ? nullptr : &*at;
}

std::string Scenario::text_of(std::string_view type, std::string_view payload) const {
  const Shape* shape = shape_of(type);
  return std::string(type) + ' ' + (shape != nullptr ? shape->show(payload) : in_quotes(payload));
}

std::string Scenario::text_of(const std::vector<DecidedEvent>& events) const {
  if (events.empty()) return "no events";
  std::string text;
  for (const auto& event : events) text += (text.empty() ? "" : ", ") + text_of(event.type, event.payload);
  return text;
}

std::string Scenario::text_of(const TimersChanged& timers) const {
  std::string text;
  for (const auto& timer : timers.set)
    text += ", timer " + in_quotes(timer.name) +
            (timer.at         ? " at " + timer.at->text()
             : timer.calendar ? ""
                              : " after " + std::to_string(timer.after.count()) + " us") +
            (timer.every.count() == 0 ? "" : " and every " + std::to_string(timer.every.count()) + " us") +
            (timer.calendar ? " by calendar " + in_quotes(timer.calendar->times) + " in " + timer.calendar->zone : "") +
            ": " + text_of(timer.command, timer.payload);
  for (const auto& name : timers.cancelled) text += ", timer " + in_quotes(name) + " cancelled";
  return text;
}

std::string Scenario::text_of(const Told& told) const {
  if (told.error) return "failed: " + std::string(name_of(told.error->code)) + ": " + told.error->what;
  if (told.kind == Decision::Kind::reject) return "rejected: " + in_quotes(told.rejection);
  return text_of(told.events) + text_of(told.timers);
}

void Scenario::expect_timer(const Told& told, const TimerSet& timer, const Shape& shape) const {
  if (!told.error && std::ranges::find(told.timers.set, timer) != told.timers.set.end()) return;
  TimersChanged expected;
  expected.set.push_back(timer);
  expected.set.back().payload = shape.show(timer.payload);
  fail("scheduled: it is not, or otherwise", text_of(expected).substr(2), text_of(told));
}

void Scenario::expect_cancelled(const Told& told, const std::string& timer) const {
  if (!told.error && std::ranges::find(told.timers.cancelled, timer) != told.timers.cancelled.end()) return;
  fail("cancelled: timer " + in_quotes(timer) + " is not", {}, text_of(told));
}

void Scenario::expect_events(const Told& told, const std::vector<DecidedEvent>& expected) const {
  const auto equal = [](const DecidedEvent& a, const DecidedEvent& b) {
    return a.type == b.type && a.payload == b.payload;
  };
  if (!told.error && std::equal(told.events.begin(), told.events.end(), expected.begin(), expected.end(), equal))
    return;
  fail("then: other events", text_of(expected), text_of(told));
}

bool Scenario::encoded(const Shape& shape, const Result<std::string>& bytes) const {
  if (!bytes) fail(shape.name + " cannot be encoded: " + bytes.error().what);
  return bytes.has_value();
}

void Scenario::expect_reply(const Told& told, const Shape& shape, const Result<std::string>& expected) const {
  if (!encoded(shape, expected)) return;
  if (told.error || told.kind == Decision::Kind::reject) {
    fail("replied: there is no reply", shape.show(*expected), text_of(told));
  } else if (*expected != told.reply) {
    fail("replied: another reply", shape.show(*expected), shape.show(told.reply));
  }
}

void Scenario::expect_rejection(const Told& told, std::string_view text) const {
  if (!told.error && told.kind == Decision::Kind::reject && told.rejection == text) return;
  fail("rejected: it was not, or with another text", "rejected: " + in_quotes(text), text_of(told));
}

void Scenario::expect_error(const Told& told, ErrorCode code, std::string_view text) const {
  if (told.error && told.error->code == code && told.error->what.find(text) != std::string::npos) return;
  fail("failed: it did not, or with another error",
       "failed: " + std::string(name_of(code)) + ": ..." + std::string(text), text_of(told));
}

void Scenario::expect_state(const Told& told, const Result<std::string>& expected) const {
  if (!encoded(state_, expected)) return;
  if (told.error || *expected != told.state) {
    fail("state: another state", state_.show(*expected), told.error ? text_of(told) : state_.show(told.state));
  }
}

void Scenario::expect_tags(const Told& told, std::size_t event, const std::vector<Tag>& tags) const {
  const auto text = [](const std::vector<Tag>& list) {
    std::string joined;
    for (const auto& tag : list) joined += (joined.empty() ? "" : " ") + in_quotes(tag);
    return joined.empty() ? std::string("no tags") : joined;
  };
  if (event >= told.events.size()) {
    fail("tagged: there is no event " + std::to_string(event), text(tags), text_of(told));
  } else if (told.events[event].tags != tags) {
    fail("tagged: event " + std::to_string(event) + " has other tags", text(tags), text(told.events[event].tags));
  }
}

void Scenario::expect_view(const Told& told, const Query& query) const {
  if (told.views.empty()) {
    fail("decided_on: the command is decided on the state alone");
  } else if (told.views.front().canonical() != query.canonical()) {
    fail("decided_on: another query");
  }
}

void Scenario::expect_asked(const Told& told, const Shape& shape, const Result<std::string>& question) const {
  if (!encoded(shape, question)) return;
  if (!told.asked || told.asked->type != shape.name || told.asked->bytes != *question)
    fail("asked: another question, or none", shape.name + ' ' + shape.show(*question),
         told.asked ? text_of(told.asked->type, told.asked->bytes) : std::string("nothing"));
}

void Scenario::expect_snapshot(const Told& told) const {
  if (told.error || !told.snapshot) fail("with_snapshot: none is asked for");
}

void Scenario::fail(const std::string& what, const std::string& expected, const std::string& actual) const {
  std::string text = "aggregate " + in_quotes(kind_->type()) + ": " + what + given_text_ + when_text_;
  if (!expected.empty() || !actual.empty()) text += "\n  expected " + expected + "\n  actual   " + actual;
  report_(text);
}

}  // namespace evershard
