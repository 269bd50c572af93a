// Simulation: a whole cluster of the real ordering classes in one thread, in virtual time, under seeded faults.

#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "evershard/actors/entity/entity_table.hpp"
#include "evershard/actors/model/answer.hpp"
#include "evershard/actors/process/process_driver.hpp"
#include "evershard/actors/timers/timer_queue.hpp"
#include "evershard/cluster/order/coordinator.hpp"
#include "evershard/cluster/order/history_merge.hpp"
#include "evershard/cluster/order/node_order.hpp"
#include "evershard/cluster/replication/shipping.hpp"
#include "evershard/sharding/memory_cut_log.hpp"
#include "tests/simulation/disk.hpp"
#include "tests/simulation/history.hpp"
#include "tests/simulation/link_end.hpp"
#include "tests/simulation/network.hpp"
#include "tests/simulation/real_writers.hpp"
#include "tests/simulation/rules.hpp"
#include "tests/simulation/writer.hpp"

namespace evershard::simulation {

struct SimulationOptions {
  std::uint64_t seed = 1;
  std::uint64_t steps = 5'000;
  Off off = Off::nothing;
  bool real_writers = false;  ///< the product's; else a small model of them
  bool links = false;  ///< between the processes the product's link sessions; else messages on their own, in any order,
                       ///< some of them twice
  bool aggregates = false;  ///< with real writers: clients load aggregates from their snapshots, and write snapshots
  bool processes = false;   ///< with real writers: nodes host the product's live aggregates, and run timers, scheduled
                            ///< appends and a process
  std::uint32_t nodes = 3;
  std::uint32_t shards = 4;
  std::uint32_t replicas = 1;                      ///< of each shard, with real writers
  bool changing_sets = false;                      ///< with replicas: who keeps what changes
  bool row_logs = false;                           ///< with replicas: writers keep states beside the journal
  std::function<void(const std::string&)> tell{};  ///< every line of the trace as it is written
};

struct SimulationOutcome {
  std::string invariant;  ///< empty: all hold
  std::string what;
  std::uint64_t steps = 0;
  std::vector<std::string> trace;
  // Not vacuous: what happened.
  std::size_t cuts = 0, placed = 0, placed_over_several = 0, placed_conditional = 0, refused_conditional = 0,
              acknowledged = 0, refused = 0, pages = 0, reads = 0, losses = 0, folds = 0, crashes = 0, disk_faults = 0,
              leaders = 0, fences = 0, coordinators_refused = 0, jumps = 0, clocks = 0, snapshots = 0, loads = 0,
              loads_from_snapshots = 0, loads_refused = 0, shipped = 0, read_behind = 0, follows = 0, hand_overs = 0,
              histories_of_several = 0, taken_off = 0, filled = 0, histories = 0, learned = 0, fired = 0,
              by_calendar = 0, overtaken = 0, made = 0, cancelled = 0, taken_over = 0, payments = 0, taken_back = 0,
              refused_payments = 0, performed = 0, ghosts = 0, ghosts_unheard = 0, counted_again = 0, settled = 0,
              settled_answered = 0, rows_asked = 0, rows_asked_late = 0;
  Letters::Counts letters{};  ///< with links
};

/// Shape: run() once.
class Simulation {
 public:
  explicit Simulation(SimulationOptions options);
  ~Simulation();
  SimulationOutcome run();

 private:
  struct Node;
  struct Process;
  struct Leader;
  struct Ghost;
  using Here = std::function<void(Process&)>;

  // nodes.cpp
  void start(Node& node);
  void crash(Node& node);
  void tick(Node& node, std::uint64_t incarnation);
  void connect(Process& process);
  void disconnect(Process& process);
  void perform(Process& process, cluster::NodeActions actions);
  void perform(Process& process, Writer::Actions actions);
  void carry_out(Process& process, const cluster::NodeStep& step);
  void open(Process& process, const sharding::Opening& opening);
  void recovered(Process& process, const sharding::Opening& opening);
  void sync(Process& process);
  void receive(Process& process, const cluster::ToNode& message, std::size_t leader);
  void receive(Process& process, cluster::Announce announce);
  void receive(Process& process, cluster::Cuts cuts);
  [[nodiscard]] sharding::Cut unfenced(const Process& process, sharding::Cut cut) const;
  void say_hello(Process& process);
  void say_held(Process& process, CutNumber cut);

  // real_nodes.cpp
  [[nodiscard]] std::shared_ptr<RealWriters> real_writers(const Node& node) const;
  void apply_real(Process& process, const cluster::NodeStep::Apply& apply);
  void fail(Process& process, ShardId shard);
  static std::optional<ShardId> shard_brought_back(const Process& process, const cluster::NodeStep::Apply& apply);
  void close_writers(Process& process, const cluster::NodeStep::Apply& apply);
  void session_begun(Process& process);
  void writers_step(Process& process, const std::function<void(actors::ShardWriters&, actors::WriterActions&)>& what);
  void write_real(Process& process);
  void synced_real(Process& process, std::size_t writes);
  void perform(Process& process, actors::WriterActions actions);
  void report_real(Leader& leader, cluster::NodeProcess from, const actors::WriterReport& said);
  void ask_part(Process& process, const actors::PartRequest& part);
  void take_part(Process& process, const actors::PartRequest& part, const RealWriters::Asker& asker);
  void reply_part(std::uint32_t from, const RealWriters::Asker& asker, actors::PartAnswer answer);
  void part_answered(const RealWriters::Asker& asker, const actors::PartAnswer& answer);
  void submit_real(Process& process, AppendId id, Letters::Answer reply = {},
                   std::function<void(const Result<Appended>&)> told = {});
  [[nodiscard]] Result<std::optional<Appended>> looked_up(actors::Attempt& attempt, GlobalPosition w, bool confirm,
                                                          GlobalPosition window_from) const;
  void answered_real(Process& process, const actors::WriterAnswer& answer);

  // replicas.cpp
  [[nodiscard]] bool replicated() const { return options_.replicas > 1; }
  void fence_real(Process& process, ShardId shard);
  void follow(Process& process, const cluster::NodeStep::Follow& step);
  void begin_shipping(Process& process, ShardId shard, Epoch epoch);
  void finish_sync(Process& process);
  void note_synced(Node& node);
  void ship(Process& process, const std::vector<JournalRecord>& made);
  void send(Process& process, const cluster::Shipping::Outgoing& outgoing);
  void send(Process& process, std::vector<actors::WriterReport> reports);
  void take_shipped(Process& process, std::uint32_t from, const cluster::Ship& ship);
  void shipped_is_synced(Process& process, const std::vector<RealWriters::Shipped>& shipped);
  void followed(Process& process, std::uint32_t from, const cluster::FollowerTold& told);
  void ask_history(Process& process, const cluster::NodeActions::History& wanted);
  [[nodiscard]] std::optional<cluster::NodeHistory> history_of(const Node& source, GlobalPosition after);
  void take_history(Process& here, GlobalPosition after, const std::vector<cluster::HistoryPart>& parts);
  void say_followed(Process& process, std::optional<std::uint32_t> to, std::optional<ShardId> of, bool again);
  void tell_follower(Process& process, std::uint32_t to, cluster::FollowerTold told);
  void turn_soon(Process& process);
  void read_behind(Process& process);
  [[nodiscard]] storage::ShippedRows journal_from(const Node& node, ShardId shard, ShardOffset from);
  [[nodiscard]] storage::ShippedRows rows_of(const std::vector<JournalRecord>& records, ShardOffset settled);
  void learn_owner(Process& process, ShardId shard, std::uint32_t node, Epoch epoch);
  [[nodiscard]] bool waits_for_shipped(const Process& process, const sharding::Cut& cut) const;
  bool to_peer(Process& process, std::uint32_t to, std::function<void(Process&)> what);
  void peer(Process& process, std::uint32_t node, bool up);
  void begin_session(Process& process, Process& with);
  void end_session(std::uint32_t a, std::uint32_t b);
  void look_at_sessions(Process& process);
  [[nodiscard]] bool may_break(const Node& node);
  void look_at_broken();
  void replace_disk(Node& node);
  void leave_ghost(const Process& process);
  [[nodiscard]] Ghost* ghost(std::uint32_t node, std::uint64_t incarnation);
  void ship_to_ghost(const Process& from, cluster::NodeProcess to, const cluster::Ship& ship);
  void ghost_says(cluster::NodeProcess self, cluster::NodeProcess to, bool again);
  void tell_members(const Leader& leader, std::uint32_t to);
  void forget_follower(Process& process, std::uint32_t node);
  void count(Process& process, std::uint32_t from, const cluster::FollowerTold& told);
  void receive(Process& process, const cluster::Members& members);
  void wrote(Process& process, const JournalRecord& record);
  void check_taken_off(const Node& node, const cluster::NodeStep::Follow& step, ShardOffset offset,
                       EventAt event) const;
  void check_applied(const Process& process, const cluster::NodeStep::Apply& apply);
  void check_opened(const Process& process, ShardId shard, Epoch epoch) const;
  void check_quorum(const sharding::Cut& cut) const;
  void check_same(bool all) const;
  void come_to_rest_replicated();
  void check_rest_replicated();

  // row_logs.cpp
  struct RowPart;
  void begin_row_log(Process& process, ShardId shard, Epoch epoch);
  void tell_rows(const Process& process, cluster::FollowerTold& told) const;
  void look_at_row_logs(Process& process);
  void tick_row_logs(Process& process);
  [[nodiscard]] RowPart row_part(const Node& node, ShardId shard, storage::RowLogAt after);
  void take_asked_rows(Process& process, const cluster::RowLogs::Wanted& wanted, const RowPart& part);
  void take_rows(Process& process, std::uint32_t from, const RowPart& part);
  void log_state(Process& process, ShardId shard, std::uint32_t key);
  void log_owed(Process& process);
  void settle(Process& process);
  [[nodiscard]] bool may_settle(const Process& process, ShardId shard) const;
  [[nodiscard]] bool comes_from(std::uint64_t state, std::uint64_t earlier) const;
  void row_log_answered(const RealWriters::RowsWaiting& written);
  void check_row_log(const Process& process, ShardId shard) const;
  void check_row_logs_equal() const;

  // changing_sets.cpp
  void change_sets();
  void tend_sets(std::size_t leader);
  void look_at_narrowed(Process& process);
  void receive(Process& process, const cluster::Narrow& narrow);
  void learn(Process& process);
  void take_learned(Process& process, CutNumber as_of);
  void who_counts_has_it(const Leader& leader, ShardId shard, const sharding::ReplicaSet& set);

  struct Hosts;
  struct Played;
  class HostsJournal;

  // hosts.cpp
  struct Asked {
    AggregateId aggregate;
    std::string type;
    std::string bytes;
    std::string command_id;
    std::optional<AppendCondition> fail_if{};
  };
  using Answered = std::function<void(const AnyAnswer&)>;
  using Stored = std::function<void(const Result<Appended>&)>;
  void begin_hosts(Process& process);
  void ask(Process& process, Asked asked, Answered done);
  void ask_here(Process& process, const Asked& asked, Answered done);
  void perform(Process& process, ShardId shard, actors::EntityActions actions);
  void with_table(cluster::NodeProcess self, ShardId shard,
                  const std::function<void(Process&, actors::EntityTable&, actors::EntityActions&)>& what);
  void tend_tables(Process& process);
  [[nodiscard]] AppendId requested(Append append, AppendChain chain, Timestamp now);
  void store(Process& process, Append append, Stored done);
  void store_here(Process& process, AppendId id, Stored done);
  [[nodiscard]] RecordedEvent recorded(GlobalPosition position, SeqNr version) const;
  [[nodiscard]] Timestamp wall(const Node& node) const;
  [[nodiscard]] actors::SteadyTime steady() const;
  [[nodiscard]] Process* process_of(cluster::NodeProcess self);

  // driving.cpp
  void tend_hosts(cluster::NodeProcess self);
  void gather(Process& process, bool of_process);
  void gathered(Process& process, bool of_process, std::vector<RecordedEvent> events, GlobalPosition watermark);
  void fire_due(Process& process);
  [[nodiscard]] Result<RecordedEvent> event_at(GlobalPosition position);
  void fire_timer(Process& process, const actors::DueTimer& timer);
  void make_scheduled(Process& process, const actors::DueTimer& timer);
  void append_scheduled(Process& process, const actors::DueTimer& timer, const Append& append);
  void run_process(Process& process);
  void drive(Process& process, actors::ProcessActions actions);

  // playing.cpp
  void play();
  void play_schedule(Process& process);
  void ask_until_answered(std::uint32_t node, const Asked& asked, int tries);
  void set_wall(Node& node);
  void set_walls_to_rest();
  void move_process();
  void check_played();

  // linking.cpp
  void link(Process& process);
  void link(Leader& leader);
  [[nodiscard]] std::shared_ptr<LinkEnd> open_link(cluster::LinkIdentity who, std::size_t owner,
                                                   Network::Endpoint endpoint, LinkEnd::Setup setup);
  void tick(const std::shared_ptr<LinkEnd>& end);
  [[nodiscard]] std::shared_ptr<LinkEnd> link_of(cluster::NodeNumber number);
  void session_with_leader(Node& node, std::uint64_t incarnation, std::optional<std::size_t> leader);
  void jump(Node& node);
  void to_node(Leader& leader, std::uint32_t node, std::function<void(Process&)> what);
  void forward(Process& process, std::uint32_t owner, AppendId id);

  // leaders.cpp
  void stop(Leader& leader);
  void elect();
  void perform(Leader& leader, cluster::CoordinatorActions actions);
  void put(std::size_t leader, const sharding::Cut& cut);
  void to_leader(Process& process, std::function<void(Leader&)> what);
  void hello(Leader& leader, cluster::Hello hello);
  void report(Leader& leader, cluster::NodeProcess from, cluster::Report report, std::uint64_t naming = 0);
  void assign_something(bool all);
  void hand_over_something(std::optional<ShardId> which = std::nullopt);

  // clients.cpp
  void client(std::uint64_t number);
  void append(std::uint64_t number, std::optional<GlobalPosition> read_up_to);
  void expect_versions(Request& request);
  void send_whole(std::uint64_t number, AppendId id, int tries);
  void read(std::uint64_t number);
  void answer(const Process& process, const Writer::Actions::Answer& answer);

  // aggregates.cpp
  void command(std::uint64_t number);
  [[nodiscard]] std::optional<Fold> load(const Process& process, ShardId shard, std::uint32_t aggregate,
                                         GlobalPosition w);
  void check_snapshot(const Process& process, ShardId shard, std::uint32_t aggregate, const SnapshotAt& snapshot) const;
  [[nodiscard]] std::uint32_t node_of(ShardId shard);

  // faults.cpp
  enum class Profile : std::uint8_t { balanced, crashes, disks, owners };
  [[nodiscard]] Profile profile() const { return static_cast<Profile>(options_.seed % 4); }
  void fault();
  void crash_or_elect();
  void cut_off(Node& node);
  void break_disk(Node& node);
  void lose_end_of_log();
  void come_to_rest();
  void check_rest();

  template <class... Parts>
  void tell(const Parts&... parts) {
    std::string line = "[" + std::to_string(network_.now() / 1'000) + " ms]";
    ((line += ' ', line += text(parts)), ...);
    if (options_.tell) options_.tell(line);
    outcome_.trace.push_back(std::move(line));
  }
  static std::string text(const std::string& part) { return part; }
  static std::string text(const char* part) { return part; }
  template <class Tag, class Rep>
  static std::string text(Number<Tag, Rep> part) {
    return std::to_string(part.value);
  }
  template <class T>
  requires std::is_integral_v<T>
  static std::string text(T part) { return std::to_string(part); }

  SimulationOptions options_;
  SimulationOutcome outcome_;
  Network network_;
  History history_;
  sharding::MemoryCutLog log_;
  std::optional<sharding::MemoryCutLog::Disk> log_copy_;   ///< an old one
  std::optional<sharding::MemoryCutLog::Disk> right_log_;  ///< while an old one is in its place
  std::vector<std::unique_ptr<Node>> nodes_;
  std::map<CutNumber, sharding::Cut> stored_cuts_;  ///< all that ever were, with replicas
  std::vector<std::unique_ptr<Leader>> leaders_;
  std::vector<JournalRecord> shipped_records_;  ///< what rows that are shipped stand for
  std::set<ShardId> moved_;                     ///< given to another node while its own may have acknowledged more
  std::uint64_t incarnations_ = 0;
  std::vector<std::unique_ptr<Ghost>> ghosts_;
  Letters letters_;
  std::unique_ptr<Played> played_;
  bool resting_ = false;
  std::vector<std::uint64_t> states_before_{
      0};  ///< of each state that was kept in a row log: the one that it was made of
  std::map<std::pair<ShardId, std::uint32_t>, RowDisk::State> states_answered_;  ///< the last ones
  Epoch last_coordinator_;                                                       ///< of the last cut stored
  std::uint64_t steps_ = 0;
};

}  // namespace evershard::simulation
