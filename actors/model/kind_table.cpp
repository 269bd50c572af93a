#include "evershard/actors/model/kind_table.hpp"

#include <algorithm>
#include <utility>

#include "evershard/actors/model/handler_error.hpp"
#include "evershard/protocol/check.hpp"
#include "evershard/protocol/in_quotes.hpp"
#include "evershard/protocol/limits.hpp"
#include "evershard/protocol/name.hpp"
#include "evershard/protocol/prepared.hpp"
#include "evershard/protocol/reserved.hpp"
#include "evershard/protocol/timers.hpp"

namespace evershard {
namespace {

/// By name: rows are sorted once, when the kind is made.
template <class Row>
const Row* find(const std::vector<Row>& rows, std::string_view name) {
  const auto at =
      std::lower_bound(rows.begin(), rows.end(), name, [](const Row& row, std::string_view n) { return row.name < n; });
  return at != rows.end() && at->name == name ? &*at : nullptr;
}

/// As much of the text as a rejection may have: whole characters where it is UTF-8.
std::string within_limit(std::string text) {
  constexpr std::string_view rest = "…";
  constexpr int character_bytes_max = 4;
  if (text.size() <= rejection_bytes_max) return text;
  std::size_t end = rejection_bytes_max - rest.size();
  const auto within_a_character = [&](std::size_t at) { return (static_cast<unsigned char>(text[at]) & 0xc0) == 0x80; };
  for (int i = 1; i < character_bytes_max && within_a_character(end); ++i) --end;
  text.resize(end);
  return text.append(rest);
}

class TabledKind final : public AggregateKind {
 public:
  explicit TabledKind(KindTable table) : table_(std::move(table)) {
    const auto by_name = [](const auto& a, const auto& b) { return a.name < b.name; };
    std::sort(table_.events.begin(), table_.events.end(), by_name);
    std::sort(table_.commands.begin(), table_.commands.end(), by_name);
    for (auto& command : table_.commands) std::sort(command.view_events.begin(), command.view_events.end(), by_name);
    types_.state = table_.state;
    some_ask_ = std::ranges::any_of(table_.commands, [](const auto& row) { return row.prepare != nullptr; });
    for (const auto& row : table_.commands)
      types_.commands.push_back({row.name, row.written, row.reply, row.replies, row.query});
    types_.old_names = table_.old_names;
    types_.readers = table_.readers;
    for (const auto& row : table_.commands) {
      if (row.view == nullptr) continue;
      auto& view = types_.readers.emplace_back();
      view.what =
          "the view that command " + in_quotes(row.name) + " of aggregate " + in_quotes(table_.type) + " is decided on";
      for (const auto& event : row.view_events) view.events.push_back(event.name);
    }
    for (const auto& row : table_.events) types_.events.push_back({row.name, row.written, row.encode == nullptr});
  }

  std::string_view type() const override { return table_.type; }
  std::uint32_t schema_revision() const override { return table_.schema_revision; }
  const Retention& retention() const override { return table_.retention; }
  PayloadFormat state_format() const override { return table_.state.format; }
  const KindTypes& types() const override { return types_; }

  StatePtr initial() const override { return table_.initial(); }

  Result<StatePtr> copy(const AnyState& state) const override try { return table_.copy(state); } catch (...) {
    return refuse(thrown(ErrorCode::invalid_argument, of_kind("copying the state")));
  }

  Result<std::string> encode(const AnyState& state) const override try {
    return in_kind("the state", table_.encode(state));
  } catch (...) {
    return refuse(thrown(ErrorCode::invalid_argument, of_kind("encoding the state")));
  }

  Result<std::string> subject_of(const AnyState& state) const override try {
    return table_.subject(state);
  } catch (...) {
    return refuse(thrown(ErrorCode::invalid_argument, of_kind("asking whose the state is")));
  }

  Result<StatePtr> decode(std::string_view bytes) const override try {
    StatePtr state = table_.initial();
    EVERSHARD_TRY(in_kind("the state", table_.decode(bytes, *state)));
    return state;
  } catch (...) {
    return refuse(thrown(ErrorCode::corruption, of_kind("decoding the state")));
  }

  Result<void> apply(AnyState& state, std::string_view event_type, std::string_view payload) const override {
    if (event_type == timers_changed_type || event_type == command_prepared_type) return {};
    const EventRow* row = find(table_.events, event_type);
    if (row == nullptr) {
      return refuse(ErrorCode::corruption,
                    of_kind("event type " + in_quotes(event_type)) +
                        " is known neither as one of Events nor of OldEvents: it is never skipped");
    }
    try {
      return in_kind("event ", row->apply(state, payload), event_type);
    } catch (...) {
      return refuse(thrown(ErrorCode::invalid_argument, of_kind("applying event " + in_quotes(event_type))));
    }
  }

  bool knows_command(std::string_view command_type) const override {
    return command_type == fire_timer_type || find(table_.commands, command_type) != nullptr;
  }

  bool is_query(std::string_view command_type) const override {
    const CommandRow* row = find(table_.commands, command_type);
    return row != nullptr && row->query;
  }

  Result<std::optional<DecisionModel>> decision_model(const CommandBytes& command) const override {
    if (command.type == fire_timer_type) {
      const auto timers = of_timer(command);
      if (!timers) return Refused(timers.error());
      return decision_model(*timers);
    }
    const CommandRow* row = find(table_.commands, command.type);
    if (row == nullptr) return unknown_command(command.type);
    if (row->view == nullptr) return std::nullopt;
    try {
      DecisionModel model;
      if (auto made = row->view(command.bytes, model); !made) return as_argument(command.type, std::move(made).error());
      if (auto ok = model.query.check(); !ok) {
        return refuse(ok.error().code,
                      of_kind("the query of the view of command " + in_quotes(command.type)) + ": " + ok.error().what);
      }
      return model;
    } catch (...) {
      return refuse(
          thrown(ErrorCode::invalid_argument, of_kind("making the view of command " + in_quotes(command.type))));
    }
  }

  Result<void> fold(const CommandBytes& command, AnyState& model, const RecordedEvent& event) const override {
    if (command.type == fire_timer_type) {
      const auto timers = of_timer(command);
      if (!timers) return Refused(timers.error());
      return fold(*timers, model, event);
    }
    const CommandRow* row = find(table_.commands, command.type);
    EVERSHARD_CHECK(row != nullptr && row->view != nullptr, "a model is folded for the command it was made of");
    const ViewEventRow* view_event = find(row->view_events, event.type);
    if (view_event == nullptr) return {};
    if (event.state != EventState::live) {
      return refuse(ErrorCode::not_found,
                    of_kind("event " + in_quotes(event.type)) + " at position " + std::to_string(event.position.value) +
                        " is " + (event.state == EventState::erased ? "erased" : "removed") + ": command " +
                        in_quotes(command.type) + " cannot be decided without its payload");
    }
    try {
      return in_kind("event ", view_event->apply(model, event), event.type);
    } catch (...) {
      return refuse(thrown(ErrorCode::invalid_argument, of_kind("applying event " + in_quotes(event.type) +
                                                                " to the view of command " + in_quotes(command.type))));
    }
  }

  bool asks(const CommandBytes& command) const override {
    if (!some_ask_) return false;  // on the way of every command
    if (command.type == fire_timer_type) {
      const auto timers = of_timer(command);
      return timers && asks(*timers);
    }
    const CommandRow* row = find(table_.commands, command.type);
    return row != nullptr && row->prepare != nullptr;
  }

  Result<std::optional<CommandBytes>> prepare(const AnyState& state, const CommandBytes& command) const override {
    if (command.type == fire_timer_type) {
      const auto timers = of_timer(command);
      if (!timers) return Refused(timers.error());
      return prepare(state, *timers);
    }
    const CommandRow* row = find(table_.commands, command.type);
    if (row == nullptr) return unknown_command(command.type);
    std::optional<CommandBytes> question;
    if (row->prepare == nullptr) return question;
    try {
      if (auto ok = row->prepare(state, command.bytes, question); !ok)
        return as_argument(command.type, std::move(ok).error());
      return question;
    } catch (...) {
      return refuse(thrown(ErrorCode::invalid_argument, of_kind("preparing command " + in_quotes(command.type))));
    }
  }

  std::vector<std::string> questions() const override {
    std::vector<std::string> names;
    for (const auto& row : table_.commands)
      if (row.prepare != nullptr) names.push_back(row.question);
    return names;
  }

  Result<Decision> decide(const AnyState& state, const CommandBytes& command, const AnyState* model,
                          const PreparedAnswer* prepared) const override {
    const CommandRow* row = find(table_.commands, command.type);
    if (row == nullptr && command.type != fire_timer_type) return unknown_command(command.type);
    EVERSHARD_CHECK(row == nullptr || !row->always_asks || prepared != nullptr,
                    "a command that is prepared is decided on the answer");
    EVERSHARD_CHECK(row == nullptr || (row->view != nullptr) == (model != nullptr),
                    "a command that has a view is decided on it, no other is");
    try {
      if (row == nullptr) return decide_fired(state, command, model, prepared);
      Decided decided;
      if (auto ok =
              row->decide(state, command.bytes, model, prepared == nullptr ? nullptr : &prepared->answer, decided);
          !ok)
        return as_argument(command.type, std::move(ok).error());
      return decision(*row, std::move(decided), state, prepared);
    } catch (...) {
      return refuse(thrown(ErrorCode::invalid_argument, of_kind("the handler of command " + in_quotes(command.type))));
    }
  }

 private:
  /// What the timer sends.
  Result<CommandBytes> of_timer(const CommandBytes& command) const {
    auto fire = decode_fire_timer(command.bytes);
    if (!fire) return as_argument(command.type, std::move(fire).error());
    return CommandBytes{std::move(fire->timer.command), std::move(fire->timer.payload)};
  }

  // Whatever the handler says of it, the timer has fired: that is written with what it decides. Where somebody set or
  // cancelled the timer behind the event that this one comes from, nothing is.
  Result<Decision> decide_fired(const AnyState& state, const CommandBytes& command, const AnyState* model,
                                const PreparedAnswer* prepared) const {
    auto fire = decode_fire_timer(command.bytes);
    if (!fire) return as_argument(command.type, std::move(fire).error());
    TimerSet& timer = fire->timer;
    auto decision = decide(state, {timer.command, timer.payload}, model, prepared);
    if (!decision) return decision;
    TimersChanged changed;
    if (decision->kind == Decision::Kind::reject) {
      decision->reply = [text = std::exchange(decision->rejection, {})](const AnyState&) { return text; };
    } else {
      decision->reply = nullptr;
      if (!decision->events.empty() && decision->events.back().type == timers_changed_type) {
        auto given = decode_timers_changed(decision->events.back().payload);
        if (!given) return as_argument(command.type, std::move(given).error());
        changed = std::move(*given);
        decision->events.pop_back();
      }
    }
    const auto names = changed.names();
    const bool replaced = std::find(names.begin(), names.end(), timer.name) != names.end();
    changed.fired = timer.name;
    if (fire->next && !replaced) {
      timer.at = fire->next;
      changed.set.push_back(std::move(timer));
    }
    auto event = event_of(changed);
    event.subject = std::move(fire->subject);
    decision->events.push_back(std::move(event));
    share_subject(decision->events, state);
    decision->kind = Decision::Kind::persist;
    decision->conditions.push_back({Query{}.types({std::string(timers_changed_type)}).tags({fire->tag}), fire->set_at});
    return decision;
  }

  /// The store's own events are of whom the others are, or of whom the state is.
  void share_subject(std::vector<DecidedEvent>& events, const AnyState& state) const {
    const auto is_nobodys = [](const auto& event) { return event.subject.empty() && is_reserved(event.type); };
    if (std::none_of(events.begin(), events.end(), is_nobodys)) return;
    const auto somebodys =
        std::find_if(events.begin(), events.end(), [](const auto& event) { return !event.subject.empty(); });
    const auto subject = somebodys == events.end() ? table_.subject(state) : somebodys->subject;
    for (auto& event : events)
      if (is_nobodys(event)) event.subject = subject;
  }

  static DecidedEvent event_of(const TimersChanged& changed) {
    DecidedEvent event;
    event.type = std::string(timers_changed_type);
    event.payload = evershard::encode(changed);
    event.format = PayloadFormat::protobuf;
    event.timers = changed.names();
    return event;
  }

  static DecidedEvent event_of(const CommandRow& of, const PreparedAnswer& prepared) {
    DecidedEvent event;
    event.type = std::string(command_prepared_type);
    event.payload = evershard::encode(
        CommandPrepared{of.name, prepared.question.type, prepared.question.bytes, of.answer, prepared.answer});
    event.format = PayloadFormat::protobuf;
    return event;
  }

  std::string of_kind(const std::string& what) const {
    return "aggregate type " + in_quotes(table_.type) + ": " + what;
  }

  /// The text is made where it is needed: this is on the way of every command.
  template <class T>
  Result<T> in_kind(std::string_view what, Result<T> result, std::string_view name = {}) const {
    if (!result)
      result.error().what =
          of_kind(std::string(what) + (name.empty() ? "" : in_quotes(name))) + ": " + result.error().what;
    return result;
  }

  Refused unknown_command(std::string_view type) const {
    return refuse(ErrorCode::invalid_argument, of_kind("command " + in_quotes(type)) + " is not one of Commands");
  }

  /// A command comes from outside: bytes that are not of it are its sender's mistake, not damage.
  Refused as_argument(std::string_view type, Error error) const {
    return refuse(ErrorCode::invalid_argument, of_kind("command " + in_quotes(type)) + ": " + error.what);
  }

  const EventRow* row_of(const std::type_info& type) const {
    for (const auto& row : table_.events) {
      if (*row.type == type) return row.encode != nullptr ? &row : nullptr;
    }
    return nullptr;
  }

  Result<Decision> decision(const CommandRow& of, Decided decided, const AnyState& state,
                            const PreparedAnswer* prepared) const {
    const std::string& command = of.name;
    Decision decision;
    if (decided.rejected) {
      decision.kind = Decision::Kind::reject;
      decision.rejection = within_limit(std::move(decided.rejection));
      return decision;
    }
    if (decided.reply_of != nullptr && *decided.reply_of != *table_.state_type) {
      return refuse(ErrorCode::invalid_argument, of_kind("the handler of command " + in_quotes(command)) +
                                                     " replies from a " + cpp_name(*decided.reply_of) +
                                                     ", the state is a " + cpp_name(*table_.state_type));
    }
    decision.events.reserve(decided.events.size());
    for (const auto& event : decided.events) {
      const EventRow* row = row_of(*event.type);
      if (row == nullptr) {
        return refuse(ErrorCode::invalid_argument, of_kind("the handler of command " + in_quotes(command)) +
                                                       " persists a " + cpp_name(*event.type) +
                                                       ", which is not one of Events");
      }
      auto& encoded = decision.events.emplace_back();
      EVERSHARD_TRY(in_kind("event ", row->encode(event.value.get(), encoded), row->name));
    }
    if (decided.unusable) return as_argument(command, std::move(*decided.unusable));
    if (!decided.timers.empty()) {
      for (const auto& timer : decided.timers.set)
        if (find(table_.commands, timer.command) == nullptr)
          return refuse(ErrorCode::invalid_argument, of_kind("the handler of command " + in_quotes(command)) +
                                                         " schedules a " + in_quotes(timer.command) +
                                                         ", which is not one of Commands");
      if (auto ok = check(decided.timers); !ok) return as_argument(command, std::move(ok).error());
      decision.events.push_back(event_of(decided.timers));
    }
    if (prepared != nullptr && !decision.events.empty())
      decision.events.insert(decision.events.begin(), event_of(of, *prepared));
    share_subject(decision.events, state);
    decision.kind = decision.events.empty() ? Decision::Kind::nothing : Decision::Kind::persist;
    decision.conditions = std::move(decided.conditions);
    decision.snapshot = decided.snapshot;
    decision.reply = [this, command, reply = std::move(decided.reply)](const AnyState& state) -> Result<std::string> {
      try {
        return reply(table_.typed(state));
      } catch (...) {
        return refuse(thrown(ErrorCode::invalid_argument, of_kind("the reply to command " + in_quotes(command))));
      }
    };
    return decision;
  }

  KindTable table_;
  KindTypes types_;
  bool some_ask_ = false;
};

/// The rows' names: of the right shape, and each once.
template <class Row>
Result<void> check_names(const std::string& of, const std::string& role, const std::vector<Row>& rows) {
  for (std::size_t i = 0; i < rows.size(); ++i) {
    const auto spoken = [&](std::size_t n) { return cpp_name(*rows[n].type); };
    if (auto ok = check_name("the logical name of " + role + " " + spoken(i), rows[i].name, event_type_bytes_max);
        !ok) {
      return refuse(ok.error().code, of + ": " + ok.error().what);
    }
    for (std::size_t j = 0; j < i; ++j) {
      if (rows[i].name != rows[j].name) continue;
      return refuse(ErrorCode::invalid_argument, of + ": " + role + "s " + spoken(j) + " and " + spoken(i) +
                                                     " have the same logical name " + in_quotes(rows[i].name));
    }
  }
  return {};
}

}  // namespace

Result<std::shared_ptr<const AggregateKind>> kind_of(KindTable table) {
  const std::string of = "aggregate " + cpp_name(*table.cpp_type);
  if (auto ok = AggregateId::check({table.type, "1"}); !ok) {
    return refuse(ok.error().code, of + ": its logical name " + in_quotes(table.type) + ": " + ok.error().what);
  }
  EVERSHARD_TRY(check_names(of, "event", table.events));
  EVERSHARD_TRY(check_names(of, "command", table.commands));
  return std::make_shared<TabledKind>(std::move(table));
}

}  // namespace evershard
