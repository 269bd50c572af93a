// The simulation's hosts: the product's live aggregates at a node, over its real writers and its disk, and what they
// are asked from anywhere.

#include "tests/simulation/hosts.hpp"

#include <algorithm>

#include "evershard/actors/entity/replay.hpp"
#include "evershard/protocol/processes.hpp"
#include "evershard/protocol/scheduled.hpp"
#include "evershard/protocol/timers.hpp"
#include "evershard/sharding/stream_hash.hpp"
#include "tests/simulation/payments.hpp"

namespace evershard::simulation {

using actors::EntityActions;
using actors::EntityTable;

namespace {

constexpr Timestamp wall_begin{1'700'000'000'000'000};
constexpr Network::Microseconds patience = 3 * Network::second;  ///< of who waits for another node

/// Above all that clients make up.
sharding::Term term_of(std::string_view text) { return sharding::stream_hash(text) | 1ull << 63; }
sharding::Term term_of(const std::string& type, const std::string& tag) { return term_of(type + '\n' + tag); }

template <class A>
std::shared_ptr<const AggregateKind> kind_of() {
  return *make_kind<A>();
}

}  // namespace

// -- of the whole run

Simulation::Played::Played(std::uint32_t count)
    : shards(count),
      kinds{kind_of<bank::Account>(), kind_of<bank::Desk>(), kind_of<timed::Order>()},
      process(*make_process<Payments>()) {
  kinds.push_back(process->kind);
}

ShardId Simulation::Played::shard_of(const AggregateId& aggregate) const {
  return sharding::shard_of(sharding::stream_hash(aggregate), shards);
}

std::uint32_t Simulation::Played::number_of(const AggregateId& aggregate) {
  const auto next = first_number + static_cast<std::uint32_t>(aggregates.size());
  const auto [at, added] = numbers.emplace(aggregate, next);
  if (added) aggregates.push_back(aggregate);
  return at->second;
}

Timestamp Simulation::wall(const Node& node) const {
  return {wall_begin.micros + static_cast<std::int64_t>(network_.now()) + node.wall};
}

actors::SteadyTime Simulation::steady() const { return actors::SteadyTime(std::chrono::microseconds(network_.now())); }

Simulation::Process* Simulation::process_of(cluster::NodeProcess self) {
  const auto& process = nodes_[self.node - 1]->process;
  return process && process->self == self && !process->failed ? process.get() : nullptr;
}

// -- what is stored

// As the simulation's clients ask for it: terms are numbers, aggregates are numbers of a shard. A request that names
// itself is the same one, whoever sends it.
AppendId Simulation::requested(Append append, AppendChain chain, Timestamp now) {
  if (append.request_id) {
    if (const auto known = played_->requests.find(*append.request_id); known != played_->requests.end())
      return known->second;
  }
  const auto is_settling = [&] { return append.events.back().type == schedule_settled_type; };
  std::erase_if(append.conditions, [&](const AppendCondition& condition) {
    const auto& type = condition.query.items().front().types.front();
    return (options_.off == Off::timer_condition && type == timers_changed_type) ||
           ((options_.off == Off::process_taken || options_.off == Off::process_reads_first) &&
            type == process_taken_type);
  });
  if (options_.off == Off::schedule_expectation && is_settling()) append.expectations.clear();
  Request request;
  for (const Event& event : append.events) {
    Request::Event asked{played_->shard_of(*event.aggregate), {term_of(event.type)}, {}};
    asked.aggregate = played_->number_of(*event.aggregate);
    for (const auto& tag : event.tags) asked.terms.insert(asked.terms.end(), {term_of(tag), term_of(event.type, tag)});
    request.events.push_back(std::move(asked));
  }
  for (const auto& [aggregate, version] : append.expectations)
    request.expected.push_back({played_->shard_of(aggregate), played_->number_of(aggregate), version});
  for (const auto& [query, after] : append.conditions) {
    const auto& item = query.items().front();
    const auto term = item.tags.empty() ? term_of(item.types.front()) : term_of(item.types.front(), item.tags.front());
    request.conditions.push_back({{false, {{{}, {term}}}}, after});
  }
  append.snapshots.clear();
  const auto name = append.request_id;
  request.content = std::make_shared<Request::Content>(Request::Content{std::move(append), chain, now});
  const auto id = history_.add(std::move(request));
  if (name) played_->requests.emplace(*name, id);
  return id;
}

RecordedEvent Simulation::recorded(GlobalPosition position, SeqNr version) const {
  const auto& placed = history_.sequence()[position.value - 1];
  const auto& content = *history_.request(placed.event.append).content;
  const Event& event = content.append.events[placed.event.event];
  RecordedEvent recorded;
  recorded.position = position;
  recorded.shard = placed.shard;
  recorded.offset = placed.offset;
  RequestId name;
  for (std::size_t i = 0; i != 8; ++i) name.bytes[i] = static_cast<std::uint8_t>(placed.event.append >> (8 * i));
  name.bytes[15] = 1;
  recorded.id = EventId::derived(name, placed.event.event);
  recorded.aggregate = event.aggregate;
  recorded.seq_nr = version;
  recorded.type = event.type;
  recorded.tags = event.tags;
  recorded.payload = event.payload;
  recorded.format = event.format;
  recorded.occurred_at = event.occurred_at.value_or(content.appended_at);
  recorded.append_index = placed.event.event;
  recorded.append_events = static_cast<std::uint32_t>(content.append.events.size());
  return recorded;
}

/// A node's own shards, as its disk has them.
class Simulation::HostsJournal final : public actors::AggregateJournal {
 public:
  HostsJournal(Simulation& simulation, Process& process) : simulation_(simulation), process_(process) {}

  void append(Append, AppendChain, std::uint64_t, std::function<void(Result<Appended>)>) override {}
  Result<std::optional<RecordedSnapshot>> snapshot(const AggregateId&, std::optional<GlobalPosition>) const override {
    return std::nullopt;
  }
  Result<Page> stream(const AggregateId& aggregate, const StreamOptions& options) const override {
    EVERSHARD_TRY(is_here(aggregate));
    Page page{{}, watermark(), true};
    const auto shard = simulation_.played_->shard_of(aggregate);
    const auto found = process_.node.disk.state().shards.find(shard);
    if (found == process_.node.disk.state().shards.end()) return page;
    const auto number = simulation_.played_->number_of(aggregate);
    for (const auto& [position, event] : found->second.placed) {
      if (position > watermark()) break;
      if (simulation_.history_.request(event.append).events[event.event].aggregate != number) continue;
      const auto version = found->second.versions.at(position);
      if (version >= options.from.value_or(SeqNr{1})) page.events.push_back(simulation_.recorded(position, version));
    }
    return page;
  }
  Result<Page> query(const Query&, const ReadOptions&) const override {
    return refuse(ErrorCode::invalid_argument, "nobody asks");
  }
  Result<std::optional<actors::RecordedCommand>> command(const AggregateId& aggregate,
                                                         std::string_view id) const override {
    EVERSHARD_TRY(is_here(aggregate));
    if (simulation_.options_.off == Off::command_ids) return std::nullopt;
    const auto& history = simulation_.history_;
    const auto found = history.command({aggregate, std::string(id), {}}, watermark());
    if (!found) return std::nullopt;
    const auto stored = *history.find(*found, watermark());
    return actors::RecordedCommand{history.request(*found).content->append.command->reply,
                                   stored.versions.front().version, stored.last_position};
  }
  Result<void> put_snapshot(Snapshot, std::uint64_t) override { return {}; }
  GlobalPosition watermark() const override { return process_.order.watermark(); }

 private:
  [[nodiscard]] Result<void> is_here(const AggregateId& aggregate) const {
    if (process_.order.page(simulation_.played_->shard_of(aggregate), watermark()) == cluster::NodeOrder::Page::answer)
      return {};
    return refuse(ErrorCode::wrong_shard, "its shard is another node's");
  }
  Simulation& simulation_;
  Process& process_;
};

void Simulation::store_here(Process& process, AppendId id, Stored done) {
  // What is answered, is answered later: who asked may be in the middle of something.
  submit_real(process, id, {}, [this, self = process.self, done = std::move(done)](const Result<Appended>& answer) {
    auto said = answer;
    if (!said && said.error().details && said.error().details->aggregate) {
      auto details = *said.error().details;
      const auto number = numbers_of(*details.aggregate).second;
      if (number >= Played::first_number) details.aggregate = played_->aggregates[number - Played::first_number];
      said = refuse(said.error().code, said.error().what, std::move(details));
    }
    network_.after(network_.pick(2 * Network::millisecond), [this, self, done, said] {
      if (process_of(self)) done(said);
    });
  });
}

// From any node, to the owner of its first event's shard.
void Simulation::store(Process& process, Append append, Stored done) {
  const auto id = requested(std::move(append), {}, wall(process.node));
  const auto owner = process.real->owners[history_.request(id).events.front().shard.value].node;
  const auto once = std::make_shared<bool>();
  const auto answer = [this, self = process.self, once, done = std::move(done)](const Result<Appended>& said) {
    if (!std::exchange(*once, true) && process_of(self)) done(said);
  };
  if (owner == process.self.node) return store_here(process, id, answer);
  network_.after(patience, [answer] { answer(refuse(ErrorCode::timeout, "no answer")); });
  if (owner == 0) return;
  network_.send_once(process.self.node, owner, [this, owner, to = process.self.node, id, answer] {
    const auto& there = nodes_[owner - 1]->process;
    if (!there || there->failed) return;
    store_here(*there, id, [this, owner, to, answer](const Result<Appended>& said) {
      network_.send_once(owner, to, [answer, said] { answer(said); });
    });
  });
}

// -- aggregates

void Simulation::begin_hosts(Process& process) {
  process.hosts = std::make_shared<Hosts>();
  tend_hosts(process.self);
}

void Simulation::ask(Process& process, Asked asked, Answered done) {
  const auto owner = process.real->owners[played_->shard_of(asked.aggregate).value].node;
  const auto once = std::make_shared<bool>();
  const auto answer = [this, self = process.self, once, done = std::move(done)](const AnyAnswer& said) {
    if (!std::exchange(*once, true) && process_of(self)) done(said);
  };
  if (owner == process.self.node) return ask_here(process, asked, answer);
  network_.after(patience, [answer] { answer(AnyAnswer::failed({ErrorCode::timeout, "no answer"})); });
  if (owner == 0) return;
  network_.send_once(process.self.node, owner, [this, owner, to = process.self.node, asked = std::move(asked), answer] {
    const auto& there = nodes_[owner - 1]->process;
    if (!there || there->failed) return;
    ask_here(*there, asked, [this, owner, to, answer](const AnyAnswer& said) {
      network_.send_once(owner, to, [answer, said] { answer(said); });
    });
  });
}

void Simulation::ask_here(Process& process, const Asked& asked, Answered done) {
  const auto shard = played_->shard_of(asked.aggregate);
  Hosts& hosts = *process.hosts;
  if (!process.real->writers.is_open(shard)) {
    network_.after(network_.pick(Network::millisecond), [done] {
      done(AnyAnswer::failed({ErrorCode::wrong_shard, "it lives elsewhere"}));
    });
    return;
  }
  auto table = hosts.tables.find(shard);
  if (table == hosts.tables.end()) {
    EntityTable::Options options;
    options.live_max = 4;  // so that they are loaded again and again
    options.idle_after = std::chrono::seconds(2);
    options.seed = process.self.incarnation * 1'000 + shard.value + 1;
    table = hosts.tables.try_emplace(shard, options).first;
    for (const auto& kind : played_->kinds) {
      actors::HostedKind hosted{kind};
      hosted.options.command_timeout = std::chrono::seconds(3);
      hosted.options.journal_timeout = std::chrono::seconds(5);
      static_cast<void>(table->second.host(std::move(hosted)));
    }
  }
  const auto ticket = ++hosts.tickets;
  hosts.waiting.emplace(ticket, std::move(done));
  EntityActions actions;
  table->second.ask(
      asked.aggregate,
      {actors::AskTicket{ticket}, actors::AskKind::command, {asked.type, asked.bytes}, asked.command_id, asked.fail_if},
      steady(), actions);
  perform(process, shard, std::move(actions));
}

void Simulation::with_table(cluster::NodeProcess self, ShardId shard,
                            const std::function<void(Process&, EntityTable&, EntityActions&)>& what) {
  Process* const process = process_of(self);
  if (process == nullptr) return;
  EntityActions actions;
  what(*process, process->hosts->tables.at(shard), actions);
  perform(*process, shard, std::move(actions));
}

void Simulation::perform(Process& process, ShardId shard, EntityActions actions) {
  const auto self = process.self;
  const auto later = [&](Network::Microseconds most, std::function<void(Process&, EntityTable&, EntityActions&)> what) {
    network_.after(network_.pick(most), [this, self, shard, what = std::move(what)] { with_table(self, shard, what); });
  };
  for (; actions.permits_wanted != 0; --actions.permits_wanted)
    later(Network::millisecond, [this](auto&, auto& table, auto& next) { table.permit(steady(), next); });
  for (auto& load : actions.loads)
    later(3 * Network::millisecond, [this, load](Process& here, auto& table, auto& next) {
      table.loaded(load.op, actors::replay(*load.kind, HostsJournal(*this, here), load.aggregate), steady(), next);
    });
  for (auto& look_up : actions.look_ups)
    later(3 * Network::millisecond, [this, look_up](Process& here, auto& table, auto& next) {
      table.looked_up(look_up.op, HostsJournal(*this, here).command(look_up.aggregate, look_up.command_id), steady(),
                      next);
    });
  for (auto& send : actions.sends) {
    const auto id = requested(std::move(send.append), send.chain, wall(process.node));
    store_here(process, id, [this, self, shard, op = send.op](const Result<Appended>& answer) {
      with_table(self, shard, [&](Process&, EntityTable& table, EntityActions& next) {
        table.appended(op, answer, steady(), next);
      });
    });
  }
  for (auto& tell_it : actions.answers) {
    auto waiting = process.hosts->waiting.extract(tell_it.ticket.value);
    if (waiting.empty()) continue;
    network_.after(network_.pick(Network::millisecond),
                   [done = std::move(waiting.mapped()), answer = std::move(tell_it.answer)] { done(answer); });
  }
}

// Time passes, and those whose shard is gone live elsewhere.
void Simulation::tend_tables(Process& process) {
  for (auto& [shard, table] : process.hosts->tables) {
    EntityActions actions;
    if (!process.real->writers.is_open(shard)) table.end([](const AggregateId&) { return true; }, steady(), actions);
    if (table.wake_at() <= steady()) table.timer(steady(), actions);
    perform(process, shard, std::move(actions));
  }
}

}  // namespace evershard::simulation
