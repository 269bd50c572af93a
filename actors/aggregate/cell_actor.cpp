#include "evershard/actors/aggregate/cell_actor.hpp"

#include <algorithm>
#include <unordered_map>
#include <utility>
#include <vector>

#include "evershard/protocol/check.hpp"

namespace evershard::actors {
namespace {

// A delayed message keeps its actor, and with it the actor system, until it is due: none is sent far ahead.
constexpr std::chrono::milliseconds tick_max{250};
constexpr std::chrono::milliseconds tick_min{1};

/// Takes inputs to the table, and what the table wants done to the journal, the reading threads and the callers.
class CellState {
 public:
  CellState(CellActor::pointer self, std::uint32_t cell, EntityTable::Options options,
            std::shared_ptr<const CellSurroundings> around, std::shared_ptr<CellInbox> inbox,
            std::shared_ptr<CellWindow> window)
      : self_(self),
        cell_(cell),
        table_(options),
        around_(std::move(around)),
        inbox_(std::move(inbox)),
        window_(std::move(window)) {}

  /// One batch a message: what comes meanwhile waits for the next, and so do ticks.
  void wake() {
    inbox_->take(taken_);
    if (taken_.empty()) return;
    for (auto& input : taken_) {
      std::visit([this](auto& one) { take(one); }, input);
      act();
    }
    taken_.clear();
    after_step();
    self_->send(self_, WakeAtom::value);
  }

  void tick() {
    tick_at_ = never;
    table_.timer(now(), actions_);
    around_->desk.tick(now());
    act();
    after_step();
  }

 private:
  [[nodiscard]] SteadyTime now() const { return self_->clock().now(); }

  void take(inputs::Host& input) { input.done(table_.host(std::move(input.kind))); }
  void take(inputs::AskOne& input) {
    callers_.emplace(input.asked.ticket.value, std::move(input.done));
    table_.ask(input.aggregate, std::move(input.asked), now(), actions_);
  }
  void take(inputs::Cancel& input) { table_.cancel(input.aggregate, input.ticket, now(), actions_); }
  void take(inputs::Passivate& input) { table_.passivate(input.aggregate, now(), actions_); }
  void take(inputs::PassivateOfSubjects&) { table_.passivate_of_subjects(now(), actions_); }
  void take(inputs::End& input) { table_.end(input.which, now(), actions_); }
  void take(inputs::Permit&) { table_.permit(now(), actions_); }
  void take(inputs::Loaded& input) { table_.loaded(input.op, std::move(input.result), now(), actions_); }
  void take(inputs::ModelRead& input) { table_.model_read(input.op, std::move(input.result), now(), actions_); }
  void take(inputs::Prepared& input) { table_.prepared(input.op, std::move(input.answer), now(), actions_); }
  void take(inputs::LookedUp& input) { table_.looked_up(input.op, std::move(input.result), now(), actions_); }
  void take(inputs::AppendDone& input) { table_.appended(input.op, std::move(input.result), now(), actions_); }
  void take(inputs::SnapshotWritten& input) {
    table_.snapshot_written(input.op, std::move(input.result), now(), actions_);
  }
  void take(inputs::Stop&) { table_.stop(now(), actions_); }
  void take(inputs::Abandon&) { table_.abandon(now(), actions_); }

  /// Does what the table wants, until it wants nothing. The table is not called from within: what an action brings back
  /// comes through the inbox, but for permits that are there at once.
  void act() {
    while (!actions_.empty()) {
      std::swap(actions_, doing_);
      actions_.clear();
      for (auto& send : doing_.sends) {
        around_->journal.append(std::move(send.append), send.chain, send.loaded_at,
                                [inbox = inbox_, op = send.op](Result<Appended> result) {
                                  inbox->put(inputs::AppendDone{op, std::move(result)});
                                });
      }
      for (auto& answer : doing_.answers) tell(answer);
      for (auto& load : doing_.loads) {
        around_->loads.add(inbox_, std::move(load));
        around_->reading.run([&loads = around_->loads] { loads.load(); });
      }
      for (auto& read : doing_.reads) {
        // std::function wants to copy: the model is moved into a pointer.
        auto work = std::make_shared<EntityActions::ReadModel>(std::move(read));
        around_->reading.run([&journal = around_->journal, inbox = inbox_, work] {
          inbox->put(inputs::ModelRead{
              work->op, read_decision(*work->kind, journal, work->command, std::move(work->decision), work->at_least)});
        });
      }
      for (auto& prepare : doing_.prepares) around_->desk.ask(inbox_, std::move(prepare), now());
      for (auto& look_up : doing_.look_ups) {
        around_->reading.run([&journal = around_->journal, inbox = inbox_, look_up = std::move(look_up)] {
          inbox->put(inputs::LookedUp{look_up.op, journal.command(look_up.aggregate, look_up.command_id)});
        });
      }
      for (auto& put : doing_.snapshots) {
        around_->reading.run([&journal = around_->journal, inbox = inbox_, put = std::move(put)]() mutable {
          inbox->put(inputs::SnapshotWritten{put.op, journal.put_snapshot(std::move(put.snapshot), put.loaded_at)});
        });
      }
      const auto returned = doing_.permits_returned, wanted = doing_.permits_wanted;
      doing_.clear();
      for (std::uint32_t i = 0; i < returned; ++i) return_permit();
      for (std::uint32_t i = 0; i < wanted; ++i) want_permit();
    }
  }

  void tell(EntityActions::Tell& answer) {
    const auto at = callers_.find(answer.ticket.value);
    EVERSHARD_CHECK(at != callers_.end(), "every ask is answered once");
    auto done = std::move(at->second);
    callers_.erase(at);
    done(std::move(answer.answer));
  }

  void want_permit() {
    {
      const std::lock_guard lock(around_->permits.mutex);
      if (!around_->permits.permits.ask(ShardId{static_cast<std::uint16_t>(cell_)})) return;
    }
    table_.permit(now(), actions_);
  }
  void return_permit() {
    std::optional<ShardId> next;
    {
      const std::lock_guard lock(around_->permits.mutex);
      next = around_->permits.permits.give_back();
    }
    if (next) around_->inbox(next->value).put(inputs::Permit{});
  }

  void after_step() {
    {
      const std::lock_guard lock(window_->mutex);
      window_->figures = {table_.counters(), table_.known(), table_.live()};
      window_->stopped = table_.stopped();
    }
    const auto wanted = table_.wake_at();
    if (wanted == never || (tick_at_ != never && tick_at_ <= wanted)) return;
    const auto at = now();
    const auto delay = std::clamp(std::chrono::ceil<std::chrono::milliseconds>(wanted - at), tick_min, tick_max);
    tick_at_ = at + delay;
    self_->delayed_send(self_, delay, TickAtom::value);
  }

  CellActor::pointer self_;
  const std::uint32_t cell_;
  EntityTable table_;
  const std::shared_ptr<const CellSurroundings> around_;
  const std::shared_ptr<CellInbox> inbox_;
  const std::shared_ptr<CellWindow> window_;
  std::unordered_map<std::uint64_t, AnswerDone> callers_;
  std::vector<CellInput> taken_;
  EntityActions actions_;
  EntityActions doing_;
  SteadyTime tick_at_ = never;
};

}  // namespace

CellActor spawn_cell(ActorSystem& system, std::uint32_t cell, EntityTable::Options options,
                     std::shared_ptr<const CellSurroundings> around, std::shared_ptr<CellInbox> inbox,
                     std::shared_ptr<CellWindow> window) {
  // With arguments and not with a capture: CAF binds a null reference where a functor has none (undefined behaviour
  // sanitizer).
  const auto begin = [](CellActor::pointer self, std::uint32_t number, const EntityTable::Options& table,
                        const std::shared_ptr<const CellSurroundings>& near, const std::shared_ptr<CellInbox>& in,
                        const std::shared_ptr<CellWindow>& seen) -> CellActor::behavior_type {
    auto state = std::make_shared<CellState>(self, number, table, near, in, seen);
    return {
        [state](WakeAtom) { state->wake(); },
        [state](TickAtom) { state->tick(); },
    };
  };
  auto spawned = system.scheduling() == Scheduling::threads
                     ? system.caf().spawn<caf::detached>(begin, cell, options, std::move(around), std::move(inbox),
                                                         std::move(window))
                     : system.caf().spawn(begin, cell, options, std::move(around), std::move(inbox), std::move(window));
  let_go_of_it();
  return spawned;
}

}  // namespace evershard::actors
