// The simulation's hosts: timers, scheduled appends and a process, as what is around them in a node drives them.

#include <algorithm>
#include <utility>

#include "evershard/protocol/scheduled.hpp"
#include "evershard/protocol/timers.hpp"
#include "tests/simulation/hosts.hpp"
#include "tests/simulation/payments.hpp"

namespace evershard::simulation {

using actors::DueTimer;
using actors::ProcessActions;
using actors::ProcessDriver;

namespace {

constexpr Network::Microseconds feed_patience = Network::second;
constexpr Network::Microseconds checkpoint_every = Network::second;
constexpr std::int64_t look_again_us = 1'000'000;

ProcessOptions process_options() {
  ProcessOptions options;
  options.waiting_max = 20;  // so that it is full at times
  options.retry_most = std::chrono::milliseconds(1'000);
  return options;
}

std::map<std::string, EffectBounds> effect_bounds() {
  EffectOptions options;
  options.at_a_time = 2;
  options.attempts_max = 4;
  options.retry_first = std::chrono::milliseconds(50);
  options.retry_most = std::chrono::milliseconds(500);
  options.timeout = std::chrono::milliseconds(500);
  return {{std::string(NoticeName::text), EffectBounds{options}}};
}

}  // namespace

void Simulation::tend_hosts(cluster::NodeProcess self) {
  Process* const process = process_of(self);
  if (process == nullptr) return;
  tend_tables(*process);
  if (!resting_ && network_.one_in(40)) set_wall(process->node);
  gather(*process, false);
  fire_due(*process);
  run_process(*process);
  const auto every = resting_ ? 200 * Network::millisecond : 30 * Network::millisecond;
  network_.after(every + network_.pick(every), [this, self] { tend_hosts(self); });
}

// -- what is followed

// All shards up to this node's watermark, each by who is known here to have it; where one does not answer, all again.
void Simulation::gather(Process& process, bool of_process) {
  const auto feed_of = [of_process](Process& here) -> Hosts::Feed& {
    return of_process ? here.hosts->events : here.hosts->due;
  };
  Hosts::Feed& feed = feed_of(process);
  if (feed.asks && network_.now() - feed.asked_at < feed_patience) return;
  const auto w = process.order.watermark();
  if (w <= feed.read_to && feed.caught_up) return;
  feed.asks = true;
  feed.asked_at = network_.now();
  feed.missing = options_.shards;
  feed.found.clear();
  const auto round = ++feed.round;
  for (std::uint16_t s = 0; s != options_.shards; ++s) {
    const ShardId shard{s};
    const auto owner = process.real->owners[s].node;
    if (owner == 0) continue;
    const auto asked = [this, self = process.self, of_process, feed_of, owner, shard, after = feed.read_to, w, round] {
      const auto& there = nodes_[owner - 1]->process;
      Process* const here = process_of(self);
      if (!there || here == nullptr || there->order.page(shard, w) != cluster::NodeOrder::Page::answer) return;
      Hosts::Feed& feed = feed_of(*here);
      if (feed.round != round) return;
      if (const auto disk = there->node.disk.state().shards.find(shard);
          disk != there->node.disk.state().shards.end()) {
        auto placed = disk->second.placed.upper_bound(after);
        for (; placed != disk->second.placed.end() && placed->first <= w; ++placed)
          if (history_.request(placed->second.append).content)
            feed.found.push_back(recorded(placed->first, disk->second.versions.at(placed->first)));
      }
      if (--feed.missing != 0) return;
      feed.asks = false;
      feed.caught_up = true;
      feed.read_to = std::max(feed.read_to, w);
      std::ranges::sort(feed.found, {}, &RecordedEvent::position);
      gathered(*here, of_process, std::exchange(feed.found, {}), w);
    };
    owner == process.self.node ? network_.after(network_.pick(Network::millisecond), asked)
                               : network_.send_once(process.self.node, owner, asked);
  }
}

void Simulation::gathered(Process& process, bool of_process, std::vector<RecordedEvent> events,
                          GlobalPosition watermark) {
  Hosts& hosts = *process.hosts;
  if (of_process) {
    if (!hosts.driver) return;
    std::erase_if(
        events, [query = ProcessDriver::query(*played_->process)](const auto& event) { return !query.matches(event); });
    if (options_.off == Off::process_reads_first)
      std::erase_if(events, [&](const auto& event) {
        return event.type == process_taken_type && event.position <= hosts.taken_at;
      });
    ProcessActions actions;
    hosts.driver->events(events, watermark, steady(), actions);
    return drive(process, std::move(actions));
  }
  for (const auto& event : events) {
    if (actors::TimerFiring::query().matches(event) && !hosts.timers.event(event))
      throw Broken("I-Timer",
                   "what sets timers at position " + std::to_string(event.position.value) + " is unreadable");
    if (cluster::DueAppends::query().matches(event) && !hosts.appends.event(event))
      throw Broken("I-Schedule",
                   "what schedules at position " + std::to_string(event.position.value) + " is unreadable");
  }
}

// -- what is due

void Simulation::fire_due(Process& process) {
  Hosts& hosts = *process.hosts;
  if (!hosts.due.caught_up) return;
  auto now = wall(process.node);
  if (options_.off == Off::due_clock) now.micros += 1'000'000;
  // Now and then who has just lost a shard does not know it yet.
  const auto lives_here = [&](ShardId shard) {
    return process.real->owners[shard.value].node == process.self.node || (!resting_ && network_.one_in(8));
  };
  const auto each = [&](actors::PacedQueue& queue, void (Simulation::*send)(Process&, const DueTimer&)) {
    if (const auto next = queue.next(now); !next || *next > now) return;
    for (const auto& timer : queue.take(now))
      lives_here(timer.shard) ? (this->*send)(process, timer) : queue.leave(timer, {now.micros + look_again_us});
  };
  each(hosts.timers.queue(), &Simulation::fire_timer);
  each(hosts.appends.queue(), &Simulation::make_scheduled);
}

/// The event that set it, as its shard's owner says: or that does not answer.
Result<RecordedEvent> Simulation::event_at(GlobalPosition position) {
  if (!resting_ && network_.one_in(20)) return refuse(ErrorCode::unavailable, "a node is away");
  const auto& placed = history_.sequence()[position.value - 1];
  const auto& event = history_.request(placed.event.append).events[placed.event.event];
  return recorded(position, history_.version(placed.shard, *event.aggregate, position));
}

void Simulation::fire_timer(Process& process, const DueTimer& timer) {
  network_.after(network_.pick(5 * Network::millisecond), [this, self = process.self, timer] {
    Process* const here = process_of(self);
    if (here == nullptr) return;
    const auto now = wall(here->node);
    const auto set = event_at(timer.set_at);
    auto said = now;
    if (options_.off == Off::due_clock) said.micros += 1'000'000;
    auto fire = here->hosts->timers.fire(timer, set, said);
    if (!fire) return;
    if (options_.off == Off::calendar_time) {
      auto wanted = *decode_fire_timer(fire->command);
      if (wanted.timer.calendar) wanted.next->micros += 3'601'000'000;
      fire->command = encode(wanted);
    }
    const auto changed = *decode_timers_changed(set->payload);
    for (const auto& of : changed.set) {
      if (timer_key(*set->aggregate, of.name) != timer.key) continue;
      const auto due = played_due(of, set->occurred_at).micros;
      if (due > now.micros)
        throw Broken("I-Timer", "node " + std::to_string(self.node) + " fires timer " + of.name + " of " +
                                    set->aggregate->text() + " " + std::to_string(due - now.micros) +
                                    " us before its time");
    }
    ask(*here, {fire->aggregate, std::string(fire_timer_type), fire->command, fire->command_id},
        [this, self, timer](const AnyAnswer& answer) {
          Process& there = *process_of(self);
          outcome_.fired += answer.kind == AnswerKind::replied && !answer.duplicate;
          outcome_.overtaken += answer.kind == AnswerKind::failed && answer.error.code == ErrorCode::condition_failed;
          there.hosts->timers.answered(timer, answer, wall(there.node));
        });
  });
}

void Simulation::make_scheduled(Process& process, const DueTimer& timer) {
  network_.after(network_.pick(5 * Network::millisecond), [this, self = process.self, timer] {
    Process* const here = process_of(self);
    if (here == nullptr) return;
    const auto now = wall(here->node);
    const auto set = event_at(timer.set_at);
    auto said = now;
    if (options_.off == Off::due_clock) said.micros += 1'000'000;
    const auto append = here->hosts->appends.fire(timer, set, said);
    if (!append) return;
    if (const auto due = decode_scheduled(set->payload)->due; due > now)
      throw Broken("I-Schedule",
                   "node " + std::to_string(self.node) + " makes " + set->aggregate->text() + " before its time");
    append_scheduled(*here, timer, *append);
  });
}

void Simulation::append_scheduled(Process& process, const DueTimer& timer, const Append& append) {
  store(process, append, [this, self = process.self, timer, append](const Result<Appended>& answer) {
    Process& here = *process_of(self);
    const auto then = here.hosts->appends.answered(timer, append, answer, wall(here.node));
    if (then) append_scheduled(here, timer, *then);
  });
}

// -- the process

void Simulation::run_process(Process& process) {
  Hosts& hosts = *process.hosts;
  const auto self = process.self;
  const auto& definition = *played_->process;
  // Who has lost it does not know it at once, and who has it now may be told by others that it is theirs.
  if (!resting_ && network_.one_in(60)) hosts.believes_until = network_.now() + network_.pick(3 * Network::second);
  const auto owner = process.real->owners[played_->shard_of(ProcessDriver::log_of(definition)).value].node;
  const bool home = owner == self.node || (!resting_ && network_.now() < hosts.believes_until);
  if (!hosts.driver) {
    if (!home || std::exchange(hosts.taking, true)) return;
    tell("node", self.node, "wants to take the process over");
    return store(process, ProcessDriver::taking_over(definition), [this, self](const Result<Appended>& taken) {
      Process& here = *process_of(self);
      Hosts& hosts = *here.hosts;
      hosts.taking = false;
      if (!taken) return tell("node", self.node, "does not take the process over:", taken.error().what);
      // Of what was kept: the last one, an older one, or none.
      GlobalPosition checkpoint;
      if (const auto& kept = played_->checkpoints; !kept.empty() && !network_.one_in(4))
        checkpoint = network_.one_in(2) ? kept.back() : kept[network_.pick(kept.size())];
      // A rule that is off: it has read all there is to know. What rests on where it took over is left out.
      // It knows its own event, and who had it before, all the same: gathered().
      const auto taken_at = options_.off == Off::process_reads_first ? GlobalPosition{0} : taken->last_position;
      hosts.taken_at = taken->last_position;
      hosts.driver.emplace(played_->process, ProcessCheckpoint{.position = checkpoint}, taken_at, process_options(),
                           effect_bounds());
      hosts.events.read_to = checkpoint;
      hosts.events.caught_up = hosts.events.asks = false;
      ++hosts.events.round;
      hosts.over = false;
      hosts.kept_at = network_.now();
      ++outcome_.taken_over;
      tell("node", self.node, "takes the process over at position", taken->last_position, "and begins behind",
           checkpoint);
    });
  }
  const auto keep = [&] {
    const auto checkpoint = hosts.driver->checkpoint().position;
    auto& kept = played_->checkpoints;
    if (kept.empty() || kept.back() < checkpoint) kept.push_back(checkpoint);
    hosts.kept_at = network_.now();
  };
  if (hosts.over || (!home && (resting_ || network_.one_in(10)))) {
    keep();
    hosts.driver.reset();
    ++hosts.session;
    tell("node", self.node, "leaves the process");
    return;
  }
  if (!hosts.driver->is_full()) gather(process, true);
  ProcessActions actions;
  if (hosts.driver->wake_at() <= steady()) hosts.driver->timer(steady(), actions);
  if (network_.now() - hosts.kept_at >= checkpoint_every) keep();
  drive(process, std::move(actions));
}

void Simulation::drive(Process& process, ProcessActions actions) {
  Hosts& hosts = *process.hosts;
  if (actions.over && !std::exchange(hosts.over, true))
    tell("node", process.self.node, "hears that it has lost the process");
  if (hosts.over) return;
  // What a driver wanted that is gone by now, the next one does.
  const auto then = [this, self = process.self, session = hosts.session](auto what) {
    Process* const here = process_of(self);
    if (here == nullptr || here->hosts->session != session || !here->hosts->driver) return;
    ProcessActions next;
    what(*here->hosts->driver, next);
    drive(*here, std::move(next));
  };
  for (auto& asked : actions.asks) {
    tell("node", process.self.node, "asks", asked.aggregate.text(), asked.type, asked.command_id);
    ask(process,
        {asked.aggregate, std::move(asked.type), std::move(asked.bytes), std::move(asked.command_id),
         std::move(asked.fail_if)},
        [this, then, number = asked.number](const AnyAnswer& answer) {
          then([&](ProcessDriver& driver, ProcessActions& next) { driver.answered(number, answer, steady(), next); });
        });
  }
  for (auto& wanted : actions.performs) {
    const auto roll = resting_ ? 9 : network_.pick(10);
    network_.after(network_.pick(100 * Network::millisecond), [this, then, wanted, roll] {
      Result<std::string> answer = refuse(ErrorCode::unavailable, "it does not answer");
      if (roll > 1) {
        answer = Codec<Receipt>::encode(Codec<Notice>::decode(wanted.effect.payload).as<ReceiptName>());
        played_->performed.insert(wanted.attempt.key);
        ++outcome_.performed;
      }
      if (roll == 2) return;  // it was done, and nobody says so
      then([&](ProcessDriver& driver, ProcessActions& next) {
        driver.performed(wanted.number, answer, steady(), next);
      });
    });
  }
}

}  // namespace evershard::simulation
