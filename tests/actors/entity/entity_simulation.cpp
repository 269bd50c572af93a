#include "tests/actors/entity/entity_simulation.hpp"

#include <algorithm>
#include <utility>

namespace evershard::actors {
namespace {

using std::chrono::milliseconds;

AggregateId aggregate_of(std::uint64_t number) { return {"counter", std::to_string(number)}; }

}  // namespace

EntitySimulation::EntitySimulation(std::uint64_t seed)
    : random_(seed * 2'654'435'761u + 1),
      faults_(seed % 4 != 0),
      outsiders_(seed % 3 != 0),
      kind_(std::make_shared<CounterKind>()) {
  journal_.page_events_max = 1 + up_to(5);
  kind_->retained.snapshot_every = static_cast<std::uint32_t>(up_to(6));
  kind_->retained.replayed_max = static_cast<std::uint32_t>(up_to(10));
  start();
}

void EntitySimulation::wrong(const std::string& what) {
  if (wrong_.empty()) wrong_ = what;
}

void EntitySimulation::start() {
  EntityTable::Options shard;
  shard.live_max = 2;
  shard.idle_after = milliseconds(200);
  shard.recent_ids_max = 4;
  shard.seed = random_();
  table_ = std::make_unique<EntityTable>(shard);
  EntityOptions options;
  options.asks_max = 12;
  options.in_flight_max = 5;
  options.command_timeout = milliseconds(400);
  options.journal_timeout = milliseconds(600);
  options.conflict_retries = 3;
  options.reload_delay_max = milliseconds(200);
  options.doubts = 3;
  Limits limits;
  limits.reply_bytes_max = 60;
  if (!table_->host({kind_, options, limits})) wrong("the kind is not taken");
}

// What was sent may still be written; nobody hears of it.
void EntitySimulation::crash() {
  ++crashes;
  const auto& counters = table_->counters();
  total.conflicts += counters.conflicts;
  total.duplicates += counters.duplicates;
  total.discarded += counters.discarded;
  total.evicted += counters.evicted;
  total.passivated += counters.passivated;
  total.outcomes_unknown += counters.outcomes_unknown;
  total.condition_retries += counters.condition_retries;
  total.snapshots_used += counters.snapshots_used;
  total.snapshots_skipped += counters.snapshots_skipped;
  total.replied += counters.replied;
  total.rejected += counters.rejected;
  total.look_ups += counters.look_ups;
  total.timed_out += counters.timed_out;
  total.late += counters.late;
  for (Pending& pending : pending_) {
    if (!pending.done && pending.send && chance(50)) static_cast<void>(pending.carry_out());
  }
  pending_.clear();
  permits_ = 0;
  ++process_;
  if (chance(30)) {
    auto next = std::make_shared<CounterKind>(*kind_);
    ++next->revision;
    kind_ = next;
  }
  start();
}

std::string EntitySimulation::run(int steps) {
  for (int i = 0; i < steps && wrong_.empty(); ++i) step();
  if (wrong_.empty()) finish();
  if (wrong_.empty()) check_end();
  return wrong_;
}

void EntitySimulation::step() {
  const auto what = up_to(1'000);
  if (what < 300) return ask();
  if (what < 880) return advance_pending();
  if (what < 950) return pass(milliseconds(up_to(30)));
  if (what < 955) return pass(milliseconds(up_to(700)));
  if (what < 975) return outside();
  if (what < 985) {
    table_->passivate(aggregate_of(up_to(simulated_aggregates)), now_, actions_);
    return absorb();
  }
  if (what < 993) {
    const auto caller = callers_.find(1 + up_to(tickets_ + 1));
    if (caller == callers_.end()) return;
    table_->cancel(commands_[caller->second.command].aggregate, AskTicket{caller->first}, now_, actions_);
    return absorb();
  }
  if (what < 996 && faults_) return crash();
  if (!ghosts_.empty()) {
    const auto at = ghosts_.begin() + static_cast<std::ptrdiff_t>(up_to(ghosts_.size()));
    if (journal_.write(at->append, at->chain)) ++ghosts_landed;
    ghosts_.erase(at);
  }
}

std::size_t EntitySimulation::new_command() {
  Command command;
  command.aggregate = aggregate_of(up_to(simulated_aggregates));
  command.token = "t" + std::to_string(commands_.size());
  const std::string argument = " " + command.token + ":" + std::to_string(1 + up_to(9));
  static const std::vector<std::pair<std::string, std::size_t>> kinds = {
      {"add", 1}, {"take", 1}, {"take", 1}, {"twice", 2}, {"snap", 1}};
  const auto kind = up_to(12);
  if (kind < kinds.size()) {
    command.text = kinds[kind].first + argument;
    command.events = kinds[kind].second;
  } else if (kind < 8) {
    command.text = "get";
  } else if (kind == 8) {
    command.text = "book " + command.token + ":" + std::to_string(simulated_seats);
    command.events = 1;
  } else {
    static const std::vector<std::string> rest = {"noop", "throw", "poison", "big 100"};
    command.text = rest[up_to(rest.size())];
  }
  if (chance(50)) {
    command.id = "id" + std::to_string(commands_.size());
    with_id_.push_back(commands_.size());
  }
  commands_.push_back(std::move(command));
  return commands_.size() - 1;
}

void EntitySimulation::ask() {
  const std::size_t which = !with_id_.empty() && chance(30)
                                ? with_id_[with_id_.size() - 1 - up_to(std::min<std::size_t>(with_id_.size(), 10))]
                                : new_command();
  const Command& asked = commands_[which];
  const AskTicket ticket{++tickets_};
  callers_[ticket.value] = {which, process_, answered_[asked.aggregate], acknowledged_.contains(which), false};
  table_->ask(asked.aggregate, {ticket, AskKind::command, command(asked.text), asked.id, {}}, now_, actions_);
  absorb();
}

void EntitySimulation::outside() {
  if (!outsiders_) return;
  const AggregateId aggregate = aggregate_of(up_to(simulated_aggregates));
  const std::int64_t amount = 1 + static_cast<std::int64_t>(up_to(9));
  if (sum_of(aggregate) >= amount && chance(70))
    return journal_.outside(aggregate, "taken", "x:" + std::to_string(amount));
  journal_.outside(aggregate, "added", "x:" + std::to_string(amount));
}

void EntitySimulation::pass(milliseconds time) {
  const SteadyTime until = now_ + time;
  for (int i = 0; table_->wake_at() <= until; ++i) {
    if (i > 100'000) return wrong("timers never end");
    now_ = std::max(now_, table_->wake_at());
    table_->timer(now_, actions_);
    absorb();
  }
  now_ = until;
}

// One of the things under way gets on: the first append of an aggregate before the next, but for one prepared again.
void EntitySimulation::advance_pending() {
  if (permits_ > 0 && chance(50)) {
    --permits_;
    table_->permit(now_, actions_);
    return absorb();
  }
  if (pending_.empty()) return;
  std::size_t at = up_to(pending_.size());
  if (pending_[at].send && !pending_[at].done && !(faults_ && chance(5))) {
    const AggregateId aggregate = pending_[at].aggregate;
    at = 0;
    while (!pending_[at].send || pending_[at].done || pending_[at].aggregate != aggregate) ++at;
  }
  if (!pending_[at].done) {
    pending_[at].done = true;
    pending_[at].tell = pending_[at].carry_out();
    return;
  }
  const auto tell = std::move(pending_[at].tell);
  pending_.erase(pending_.begin() + static_cast<std::ptrdiff_t>(at));
  tell();
  absorb();
}

void EntitySimulation::absorb() {
  for (auto& load : actions_.loads) {
    pending_.push_back({process_,
                        {},
                        false,
                        false,
                        [this, load] {
                          auto result = std::make_shared<Result<Replayed>>(
                              faults_ && !ending_ && chance(4) ? Result<Replayed>(refuse(ErrorCode::io, "a fault"))
                                                               : replay(*load.kind, journal_, load.aggregate));
                          return [this, load, result] { table_->loaded(load.op, std::move(*result), now_, actions_); };
                        },
                        {}});
  }
  for (auto& read : actions_.reads) {
    auto held = std::make_shared<EntityActions::ReadModel>(std::move(read));
    pending_.push_back({process_,
                        {},
                        false,
                        false,
                        [this, held] {
                          auto result = std::make_shared<Result<DecisionRead>>(read_decision(
                              *held->kind, journal_, held->command, std::move(held->decision), held->at_least));
                          return [this, held, result] {
                            table_->model_read(held->op, std::move(*result), now_, actions_);
                          };
                        },
                        {}});
  }
  for (auto& look_up : actions_.look_ups) {
    pending_.push_back({process_,
                        {},
                        false,
                        false,
                        [this, look_up] {
                          auto result = journal_.command(look_up.aggregate, look_up.command_id);
                          return [this, look_up, result] { table_->looked_up(look_up.op, result, now_, actions_); };
                        },
                        {}});
  }
  for (auto& send : actions_.sends) {
    const AggregateId aggregate = *send.append.events[0].aggregate;
    pending_.push_back({process_, aggregate, true, false, [this, send] { return write(send); }, {}});
  }
  for (auto& told : actions_.answers) {
    const auto caller = callers_.find(told.ticket.value);
    if (caller == callers_.end()) {
      wrong("an answer to nobody");
    } else {
      check_answer(caller->second, told.answer);
    }
  }
  permits_ += actions_.permits_wanted;
  actions_.clear();
}

std::function<void()> EntitySimulation::write(const EntityActions::Send& send) {
  Result<Appended> result = refuse(ErrorCode::overloaded, "a fault");
  const auto fate = faults_ && !ending_ ? up_to(100) : 0;
  if (fate < 84) {
    result = journal_.write(send.append, send.chain);
  } else if (fate < 88) {
    result = refuse(fate % 2 == 0 ? ErrorCode::overloaded : ErrorCode::too_large, "a fault");
  } else {
    if (fate < 92) static_cast<void>(journal_.write(send.append, send.chain));
    if (fate >= 96) ghosts_.push_back({send.append, send.chain});
    result = refuse(fate % 3 == 0   ? ErrorCode::timeout
                    : fate % 3 == 1 ? ErrorCode::io
                                    : ErrorCode::unavailable,
                    "a fault");
  }
  if (faults_ && !ending_ && chance(1)) return [] {};  // its answer is lost
  return [this, op = send.op, result] { table_->appended(op, result, now_, actions_); };
}

void EntitySimulation::finish() {
  ending_ = true;
  for (int i = 0; i < 20'000 && wrong_.empty(); ++i) {
    if (pending_.empty() && permits_ == 0) {
      if (table_->wake_at() == never) break;
      pass(milliseconds(50));
    }
    advance_pending();
  }
  for (const Ghost& ghost : ghosts_) ghosts_landed += journal_.write(ghost.append, ghost.chain) ? 1 : 0;
  if (table_->known() != 0) wrong("aggregates are left over");
  for (const auto& [ticket, caller] : callers_) {
    if (!caller.answered && caller.process == process_)
      wrong("ticket " + std::to_string(ticket) + " was never answered");
  }
  const auto& counters = table_->counters();
  if (counters.asked != counters.replied + counters.rejected + counters.failed) wrong("the counters do not add up");
}

}  // namespace evershard::actors
