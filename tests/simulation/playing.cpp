// What the simulation's clients ask of aggregates, timers, scheduled appends and the process; and whether all that
// follows came about, once.

#include <algorithm>
#include <set>
#include <tuple>

#include "evershard/protocol/processes.hpp"
#include "evershard/protocol/scheduled.hpp"
#include "evershard/protocol/timers.hpp"
#include "tests/simulation/hosts.hpp"
#include "tests/simulation/payments.hpp"

namespace evershard::simulation {
namespace {

constexpr std::uint64_t accounts = 3;
constexpr std::uint64_t ledgers = 3;
constexpr std::uint64_t played_calendars = 4;  ///< of timed::calendars
constexpr std::int64_t hour_us = 3'600'000'000;
constexpr std::string_view noted_type = "noted";

constexpr std::int64_t second_us = 1'000'000, day_s = 86'400;

/// The first time of the calendar behind this one, in seconds.
std::int64_t behind(std::string_view times, std::int64_t s) {
  const auto next = [s](std::int64_t every, std::int64_t offset) {
    auto at = (s - offset) / every * every + offset;
    while (at <= s) at += every;
    return at;
  };
  if (times == timed::calendars[0].first) return next(300, 0);
  if (times == timed::calendars[3].first) return next(3'600, 0);
  if (times == timed::calendars[1].first) return next(day_s, 5'400);  // 02:30 is 01:30 UTC
  auto at = next(day_s, 28'800);                                      // 09:00 is 08:00 UTC
  while ((at / day_s + 3) % 7 > 4) at += day_s;                       // 1970 began with a Thursday; Monday is 0
  return at;
}

std::string numbered(const char* what, std::uint64_t number) { return what + std::to_string(number); }

}  // namespace

Timestamp played_due(const TimerSet& timer, Timestamp set) {
  if (timer.at) return *timer.at;
  if (!timer.calendar) return {set.micros + timer.after.count()};
  const auto s = set.micros / second_us - (set.micros % second_us < 0 ? 1 : 0);
  return {behind(timer.calendar->times, s) * second_us};
}

// -- clocks

void Simulation::set_wall(Node& node) {
  const auto by =
      static_cast<std::int64_t>(network_.one_in(2) ? network_.pick(5 * Network::second) : network_.pick(4 * hour_us));
  node.wall += network_.one_in(2) ? by : -by;
  tell("the wall clock of node", node.number, "is set, and is", node.wall / 1'000, "ms ahead");
  ++outcome_.clocks;
}

// What anybody has set for a later time comes due.
void Simulation::set_walls_to_rest() {
  std::int64_t most = 0;
  for (const auto& node : nodes_) most = std::max(most, node->wall);
  for (int day = 1; day != 4; ++day) {
    network_.after(static_cast<Network::Microseconds>(day) * 40 * Network::second - 39 * Network::second, [=, this] {
      for (auto& node : nodes_) node->wall = most + 24 * day * hour_us;
    });
  }
}

/// The process gets another home.
void Simulation::move_process() {
  hand_over_something(played_->shard_of(actors::ProcessDriver::log_of(*played_->process)));
}

// -- clients

/// With the same id, at any node, until somebody has said what became of it.
void Simulation::ask_until_answered(std::uint32_t node, const Asked& asked, int tries) {
  const auto& process = nodes_[node - 1]->process;
  const auto again = [this, asked, tries] {
    if (tries == 0 || resting_) return;
    network_.after(network_.pick(Network::second), [this, asked, tries] {
      ask_until_answered(1 + static_cast<std::uint32_t>(network_.pick(nodes_.size())), asked, tries - 1);
    });
  };
  if (!process || process->failed) return again();
  ask(*process, asked, [again](const AnyAnswer& answer) {
    if (answer.kind == AnswerKind::failed) again();
  });
}

void Simulation::play() {
  const auto node = 1 + static_cast<std::uint32_t>(network_.pick(nodes_.size()));
  const auto& process = nodes_[node - 1]->process;
  if (!process || process->failed) return;
  const auto command = [&]<class A, class C>(const std::string& id, const C& c, std::string command_id) {
    ask_until_answered(
        node, {{std::string(A::type), id}, std::string(Codec<C>::name), Codec<C>::encode(c), std::move(command_id)}, 5);
  };
  const auto id = [&] { return numbered("c", ++played_->commands); };
  const auto account = [&] { return numbered("a", network_.pick(accounts)); };
  const auto order = [&] { return numbered("o", network_.pick(played_->orders + 1)); };
  switch (network_.pick(16)) {
    case 12:  // so that who said no may say yes soon
    case 13:
      return command.operator()<bank::Account>(account(), bank::Refund{"-", "-", "-", 60}, id());
    case 0:
    case 1:
      return command.operator()<bank::Account>(account(), bank::Open{"-", "-", "-", 300}, id());
    case 14:
    case 2:
      return command.operator()<bank::Account>(account(), bank::Close{}, id());
    case 3:
    case 4:
    case 5: {
      const auto name = numbered("p", ++played_->payments);
      return command.operator()<bank::Desk>(
          std::to_string(network_.pick(3)),
          bank::Request{name, account(), account(), static_cast<std::int64_t>(1 + network_.pick(300))}, name);
    }
    case 6:
    case 7: {
      const auto name = numbered("o", ++played_->orders);
      if (network_.one_in(3))
        return command.operator()<timed::Order>(name, timed::Place{static_cast<std::int64_t>(network_.pick(60))}, name);
      return command.operator()<timed::Order>(
          name, timed::PlaceBriefly{static_cast<std::int64_t>(network_.pick(3'000))}, name);
    }
    case 8:
      return command.operator()<timed::Order>(order(), timed::Pay{}, id());
    case 15:
      return command.operator()<timed::Order>(
          order(), timed::RemindBy{static_cast<std::int64_t>(network_.pick(played_calendars))}, id());
    case 9:
      if (network_.one_in(2))
        return command.operator()<timed::Order>(order(), timed::Postpone{static_cast<std::int64_t>(network_.pick(30))},
                                                id());
      return command.operator()<timed::Order>(
          order(), timed::RemindEvery{static_cast<std::int64_t>(network_.one_in(2) ? 0 : 1 + network_.pick(90))}, id());
    default:
      return play_schedule(*process);
  }
}

// A new one, or another time and content for one that is there, or none any more; by what is known of it.
void Simulation::play_schedule(Process& process) {
  const bool fresh = played_->schedules == 0 || network_.one_in(2);
  const auto name = numbered("s", fresh ? ++played_->schedules : 1 + network_.pick(played_->schedules));
  const auto schedule = *schedule_of(name);
  const auto number = played_->number_of(schedule);
  const auto version = history_.version(played_->shard_of(schedule), number, history_.known());
  // What is done with stays so.
  for (GlobalPosition at{1}; at <= history_.known(); ++at) {
    const auto& [append, event] = history_.sequence()[at.value - 1].event;
    const auto& request = history_.request(append);
    if (request.events[event].aggregate == number &&
        request.content->append.events[event].type == schedule_settled_type)
      return;
  }
  if (!fresh && network_.one_in(2)) {
    if (version.value == 0) return;
    return store(process, cluster::DueAppends::settled(schedule, version, nullptr), [](const Result<Appended>&) {});
  }
  ScheduledAt at;
  at.due = wall(process.node);
  at.due.micros +=
      static_cast<std::int64_t>(network_.one_in(4) ? network_.pick(3 * hour_us) : network_.pick(3 * Network::second));
  for (auto n = 1 + network_.pick(2); n != 0; --n) {
    const auto ledger = numbered("", network_.pick(ledgers));
    Event event;
    event.aggregate = AggregateId{"ledger", ledger};
    event.type = noted_type;
    event.tags = {"ledger:" + ledger};
    event.payload = name + "/" + std::to_string(version.value + 1);
    at.append.event(std::move(event));
  }
  const AggregateId ledger = *at.append.events.front().aggregate;
  const auto ledger_version = history_.version(played_->shard_of(ledger), played_->number_of(ledger), history_.known());
  if (network_.one_in(4)) at.append.expect(ledger, ExpectedVersion::exactly(ledger_version.value + network_.pick(2)));
  if (network_.one_in(4))
    at.append.fail_if(Query{}.types({std::string(noted_type)}).tags(at.append.events.front().tags), history_.known());
  Event event;
  event.aggregate = schedule;
  event.type = append_scheduled_type;
  event.payload = encode(at);
  event.format = PayloadFormat::protobuf;
  store(process, Append{}.event(std::move(event)).expect(schedule, ExpectedVersion::exactly(version)),
        [](const Result<Appended>&) {});
}

// -- what came of it

namespace {

/// What the whole order says, event after event.
class Judge {
 public:
  void take(const RecordedEvent& event, const Append& of) {
    ++counts_[event.aggregate->text()][event.type];
    if (event.type == timers_changed_type) return take_timers(event, of);
    if (event.type == process_reacted_type) return take_reaction(event);
    if (event.type == append_scheduled_type || event.type == schedule_settled_type) return take_schedule(event, of);
    if (event.type == noted_type) ++notes_[event.payload];
    if (event.aggregate->type == bank::Account::type) {
      const auto said = Codec<bank::Debited>::decode(event.payload);
      if (said.transfer == "-") return;
      ++counts_["of " + said.transfer][event.type];
      if (event.type == bank::DebitedName::text) taken_ += said.amount;
      if (event.type == bank::CreditedName::text || event.type == bank::RefundedName::text) given_ += said.amount;
    }
    if (event.type == bank::RequestedName::text) {
      const auto said = Codec<bank::Requested>::decode(event.payload);
      if (!requested_.emplace(said.transfer).second) throw Broken("I-Once", said.transfer + " is requested twice");
    }
  }

  /// `rests_at`: every clock showed more, for long enough that all that was due by then is done.
  void at_rest(const std::set<std::string>& performed, Timestamp rests_at, SimulationOutcome& outcome) {
    for (const auto& [aggregate, timers] : timers_)
      for (const auto& [name, timer] : timers)
        if (!timer.repeats || timer.due < rests_at)
          throw Broken("I-Timer", "timer " + name + " of " + aggregate + ", set at position " +
                                      std::to_string(timer.set_at.value) + ", never fires");
    for (const auto& [schedule, at] : schedules_) {
      if (!at.settled) throw Broken("I-Schedule", schedule + " is never made");
      if (notes_[at.payload] != (at.settled == ScheduledState::appended ? at.events : 0))
        throw Broken("I-Schedule", schedule + " was " + std::string(name_of(*at.settled)) + ", and " +
                                       std::to_string(notes_[at.payload]) + " of its events are there");
      outcome.made += at.settled == ScheduledState::appended;
      outcome.cancelled += at.settled == ScheduledState::cancelled;
    }
    for (const auto& payment : requested_) judge(payment, outcome);
    outcome.by_calendar += calendars_;
    if (taken_ != given_)
      throw Broken("I-Process", std::to_string(taken_) + " was taken from accounts, and " + std::to_string(given_) +
                                    " was given to accounts");
    if (performed.size() > effects_)
      throw Broken("I-Process", "of " + std::to_string(effects_) + " effects " + std::to_string(performed.size()) +
                                    " were performed");
  }

 private:
  struct Timer {
    GlobalPosition set_at;
    bool repeats = false;
    Timestamp due{};
  };
  struct Schedule {
    std::uint64_t version = 0;
    std::string payload{};  ///< of what is to be made
    int events = 0;
    std::optional<ScheduledState> settled{};
  };

  void take_timers(const RecordedEvent& event, const Append& of) {
    const auto changed = *decode_timers_changed(event.payload);
    auto& timers = timers_[event.aggregate->text()];
    std::optional<Timer> fired;
    if (!changed.fired.empty()) {
      const auto found = timers.find(changed.fired);
      const auto& id = of.command ? of.command->id : std::string();
      if (found == timers.end() || !id.ends_with("/" + std::to_string(found->second.set_at.value)))
        throw Broken("I-Timer", "timer " + changed.fired + " of " + event.aggregate->text() + " fires at position " +
                                    std::to_string(event.position.value) + " by " + id +
                                    (found == timers.end()
                                         ? ", and is not set"
                                         : ", and is set at position " + std::to_string(found->second.set_at.value)));
      fired = found->second;
      timers.erase(found);
    }
    for (const auto& name : changed.cancelled) timers.erase(name);
    for (const auto& set : changed.set) {
      const Timer timer{event.position, set.repeats(), played_due(set, event.occurred_at)};
      // The next time of its calendar behind the moment at which it fired, whosever clock says that: not before the
      // time that it fired for.
      if (set.calendar && fired && set.name == changed.fired) {
        ++calendars_;
        if (!set.at || timer.due <= fired->due ||
            timer.due.micros != behind(set.calendar->times, timer.due.micros / second_us - 1) * second_us)
          throw Broken("I-Timer", "timer " + set.name + " of " + event.aggregate->text() + " by " +
                                      set.calendar->times + ", due at " + fired->due.text() + ", is due again at " +
                                      timer.due.text());
      }
      timers.insert_or_assign(set.name, timer);
    }
  }

  void take_reaction(const RecordedEvent& event) {
    const auto reacted = *decode_process_reacted(event.payload);
    effects_ += reacted.effects.size();
    if (reacted.cause == ProcessReacted::Cause::timer) return;
    // What became of an effect is one thing.
    const auto cause =
        reacted.cause == ProcessReacted::Cause::not_performed ? ProcessReacted::Cause::performed : reacted.cause;
    if (!reactions_.emplace(event.aggregate->text(), cause, reacted.position, reacted.number).second)
      throw Broken("I-Process", event.aggregate->text() + " reacts again, at position " +
                                    std::to_string(event.position.value) + ", to what stands at position " +
                                    std::to_string(reacted.position.value));
  }

  void take_schedule(const RecordedEvent& event, const Append& of) {
    auto& schedule = schedules_[event.aggregate->text()];
    ++schedule.version;
    if (schedule.settled)
      throw Broken("I-Schedule", event.aggregate->text() + " was " + std::string(name_of(*schedule.settled)) +
                                     " already, at position " + std::to_string(event.position.value));
    if (event.type == append_scheduled_type) {
      const auto at = *decode_scheduled(event.payload);
      schedule.payload = at.append.events.front().payload;
      schedule.events = static_cast<int>(at.append.events.size());
      return;
    }
    schedule.settled = decode_settled(event.payload)->state;
    if (schedule.settled == ScheduledState::appended && of.events.front().payload != schedule.payload)
      throw Broken("I-Schedule", event.aggregate->text() + " is made as it was before, at position " +
                                     std::to_string(event.position.value));
  }

  void judge(const std::string& payment, SimulationOutcome& outcome) {
    auto& is = counts_["payment-" + payment];
    auto& of = counts_["of " + payment];
    const auto count = [](auto& counts, std::string_view type) {
      const auto found = counts.find(std::string(type));
      return found == counts.end() ? 0 : found->second;
    };
    const auto finished = count(is, bank::FinishedName::text), refused = count(is, bank::RefusedName::text),
               taken_back = count(is, bank::TakenBackName::text);
    const bool right =
        count(is, bank::StartedName::text) == 1 && finished + refused + taken_back == 1 &&
        count(is, NotifiedName::text) + count(is, NotNotifiedName::text) == finished &&
        count(is, bank::RemindedName::text) <= 1 && count(of, bank::DebitedName::text) == finished + taken_back &&
        count(of, bank::CreditedName::text) == finished && count(of, bank::RefundedName::text) == taken_back;
    outcome.payments += static_cast<std::size_t>(finished);
    outcome.taken_back += static_cast<std::size_t>(taken_back);
    outcome.refused_payments += static_cast<std::size_t>(refused);
    if (right) return;
    std::string had;
    for (const auto* counts : {&is, &of})
      for (const auto& [type, n] : *counts) had += " " + type + " " + std::to_string(n);
    throw Broken("I-Process", "payment " + payment + " has" + had);
  }

  std::map<std::string, std::map<std::string, int>> counts_;  ///< of events, by aggregate
  std::map<std::string, std::map<std::string, Timer>> timers_;
  std::map<std::string, Schedule> schedules_;
  std::map<std::string, int> notes_;
  std::set<std::string> requested_;
  std::set<std::tuple<std::string, ProcessReacted::Cause, GlobalPosition, std::uint32_t>> reactions_;
  std::int64_t taken_ = 0, given_ = 0;
  std::size_t calendars_ = 0;
  std::size_t effects_ = 0;
};

}  // namespace

void Simulation::check_played() {
  Judge judge;
  for (GlobalPosition at{1}; at <= history_.watermark(); ++at) {
    const auto& content = history_.request(history_.sequence()[at.value - 1].event.append).content;
    if (content) judge.take(recorded(at, SeqNr{}), content->append);
  }
  judge.at_rest(played_->performed, {wall(*nodes_.front()).micros - 60 * second_us}, outcome_);
}

}  // namespace evershard::simulation
