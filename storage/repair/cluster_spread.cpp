#include "evershard/storage/repair/cluster_spread.hpp"

#include <algorithm>
#include <map>
#include <memory>
#include <system_error>
#include <utility>
#include <vector>

#include "evershard/sharding/node_cut.hpp"
#include "evershard/storage/journal/keys.hpp"
#include "evershard/storage/journal/removal_row.hpp"
#include "evershard/storage/journal/row_log.hpp"
#include "evershard/storage/open.hpp"
#include "evershard/storage/order/applied.hpp"
#include "evershard/storage/repair/left_out.hpp"
#include "evershard/storage/repair/new_rows.hpp"
#include "evershard/storage/repair/part_rows.hpp"
#include "evershard/storage/repair/store_copy.hpp"
#include "evershard/storage/repair/truth_copy.hpp"
#include "evershard/storage/repair/truth_source.hpp"
#include "evershard/storage/repair/verify.hpp"
#include "evershard/storage/rocks/rocks_families.hpp"
#include "evershard/storage/rocks/rocks_options.hpp"
#include "evershard/storage/rocks/rocks_status.hpp"

namespace evershard::storage {
namespace {

StoreOptions options_of_node(const std::filesystem::path& folder) {
  StoreOptions options;
  options.data_dir = folder;
  options.create = false;
  options.block_cache_bytes = 32u << 20;
  options.memtable_bytes = 16u << 20;
  options.disk_reserve_bytes = 0;
  return options;
}

/// One node's directory while it is filled.
struct NodeBeingMade {
  std::uint32_t node = 0;
  StoreCopy copy;
  std::unique_ptr<RocksFamilies> families;
  std::unique_ptr<NewRows> rows;
  std::vector<bool> keeps;  ///< by shard
};

/// Gives each node what it keeps, and follows what the cut log knows.
class Spreading final : public TruthSink {
 public:
  Spreading(std::vector<NodeBeingMade>& nodes, const TruthSource& source, const SpreadOptions& how)
      : nodes_(nodes), source_(source), how_(how), state_(source.identity().shards), rows_(source.identity().shards) {
    state_.epoch = Epoch{1};
    for (std::uint32_t s = 0; s != source.identity().shards; ++s) {
      const auto keepers = keepers_of(ShardId{static_cast<std::uint16_t>(s)}, how_);
      auto& shard = state_.shards[s];
      shard.epoch = Epoch{1};
      shard.node = keepers.front();
      if (keepers.size() == 1) continue;
      shard.replicas.nodes = keepers;
      std::ranges::sort(shard.replicas.nodes);
      shard.replicas.quorum = static_cast<std::uint32_t>(keepers.size() / 2 + 1);
    }
  }

  void cut(const sharding::Cut& cut) override {
    state_.last_cut = cut.number;
    state_.watermark = cut.last_position();
    state_.epoch = std::max(state_.epoch, cut.coordinator);
    auto at = cut.first_position;
    for (const auto& segment : cut.segments) {
      at = at + segment.events();
      auto& shard = state_.shards.at(segment.shard.value);
      shard.next = segment.end;
      shard.epoch = shard.written = segment.epoch;
      if (segment.events() != 0) shard.last_position = at - 1;
    }
    for (auto& node : nodes_) {
      const auto own = [&](const sharding::Segment& segment) { return node.keeps.at(segment.shard.value); };
      node.rows->put(Family::order, keys::order(cut.first_position),
                     sharding::encode(sharding::cut_of_node(cut, own, {})));
    }
  }
  void record(ShardId shard, ShardOffset first, std::string_view bytes) override {
    for (auto& node : nodes_)
      if (node.keeps.at(shard.value)) node.rows->put(Family::journal, keys::journal(shard, first), bytes);
  }
  void state(std::string_view key, std::string_view value) override {
    const auto of = state_of_part(key, source_.identity().shards);
    if (!of) {
      if (!failure_) failure_ = of.error();
      return;
    }
    if (!of->shard) return;
    put_state(*of->shard, key, value);
    if (how_.replicas > 1) log_row(*of->shard, key, value);
  }
  [[nodiscard]] Result<void> written() const override {
    if (failure_) return refuse(*failure_);
    for (const auto& node : nodes_) EVERSHARD_TRY(node.rows->written());
    return {};
  }

  /// Of each node what says which part it is, and how far it goes. Returns: what the cut log begins with.
  sharding::CutLogState finish(const Identity& cluster) {
    for (auto& shard : state_.shards) shard.folded = shard.next - 1;
    for (auto& node : nodes_) {
      Identity identity = cluster;
      identity.node = node.node;
      identity.format = format_version;
      node.rows->put(Family::state, keys::identity(), encode(identity));
      Applied applied{state_.last_cut, state_.watermark, state_.epoch, {}};
      for (std::uint32_t s = 0; s != state_.shards.size(); ++s) {
        const ShardId id{static_cast<std::uint16_t>(s)};
        const auto& shard = state_.shards[s];
        if (!node.keeps[s]) continue;
        if (shard.epoch != Epoch{1}) applied.epochs.emplace_back(id, shard.epoch);
        Covered covered;
        covered.end = shard.next;
        if (shard.node != node.node) covered.followed = shard.epoch;
        node.rows->put(Family::state, keys::covered(id), encode_covered(covered));
      }
      if (state_.watermark > GlobalPosition{0}) node.rows->put(Family::state, keys::applied(), encode(applied));
    }
    return state_;
  }

 private:
  void put_state(ShardId shard, std::string_view key, std::string_view value) {
    for (auto& node : nodes_)
      if (node.keeps.at(shard.value)) node.rows->put(Family::state, key, value);
  }
  /// What lies beside the journal is in the row log too: a replica whose disk is lost is given it by that.
  void log_row(ShardId shard, std::string_view key, std::string_view value) {
    const auto decoded = keys::decode_state(key);
    if (!decoded) return;  // state_of_part() has said so
    RowLogEntry entry;
    entry.at = {Epoch{1}, rows_[shard.value] + 1};
    std::vector<StateWrite> also;
    if (decoded->kind == keys::StateKey::Kind::checkpoint) {
      entry.state.push_back({std::string(key), std::string(value)});
    } else if (!decoded->retained && decoded->aggregate.type == groups_type) {
      entry.snapshots.push_back(decoded->aggregate);
      auto of = row_log_of(source_.rows(), shard, decoded->aggregate, entry.at);
      if (!of) {
        if (!failure_) failure_ = of.error();
        return;
      }
      also = *std::move(of);
    } else {
      return;
    }
    ++rows_[shard.value];
    put_state(shard, row_log_key(shard, entry.at), encode_row_log(shard, entry));
    for (const auto& write : also)
      if (write.value) put_state(shard, write.key, *write.value);
  }
  static constexpr std::string_view groups_type = "$group";

  std::vector<NodeBeingMade>& nodes_;
  const TruthSource& source_;
  const SpreadOptions how_;
  sharding::CutLogState state_;
  std::vector<std::uint64_t> rows_;  ///< entries of each shard's row log
  std::optional<Error> failure_;
};

Result<NodeBeingMade> begin_node(const std::filesystem::path& folder, std::uint32_t node, std::uint32_t shards,
                                 const SpreadOptions& how) {
  auto copy = StoreCopy::begin(folder / spread_node_name(node));
  if (!copy) return refuse(std::move(copy).error());
  NodeBeingMade made{node, std::move(*copy), nullptr, nullptr, std::vector<bool>(shards)};
  auto database = create_database(options_of_node(made.copy.folder()), false, made.copy.database());
  if (!database) return refuse(std::move(database).error());
  made.families = std::move(*database);
  made.rows = std::make_unique<NewRows>(*made.families);
  for (std::uint32_t s = 0; s != shards; ++s) {
    const auto keepers = keepers_of(ShardId{static_cast<std::uint16_t>(s)}, how);
    made.keeps[s] = std::ranges::find(keepers, node) != keepers.end();
  }
  return made;
}

Result<void> finish_node(NodeBeingMade& node, const Identity& cluster, const std::filesystem::path& source,
                         GlobalPosition end, const Progress& progress) {
  EVERSHARD_TRY(node.rows->finish());
  node.rows.reset();
  node.families.reset();
  EVERSHARD_TRY(sync_path(node.copy.database()));
  EVERSHARD_TRY(node.copy.carry_from(source));
  auto options = options_of_node(node.copy.folder());
  options.member = ClusterMember{node.node, cluster.store, cluster.fork, cluster.term_key, cluster.created_at};
  options.reading_back = part_of(progress, 0, 50);
  auto store = open_rocks_node_store(options);
  if (!store) return refuse(std::move(store).error());
  EVERSHARD_TRY((*store)->seal());
  auto verified = verify(**store, part_of(progress, 50, 100));
  if (!verified) return refuse(std::move(verified).error());
  (*store)->close();
  store->reset();
  if (verified->errors > 0)
    return refuse(ErrorCode::corruption, "node " + std::to_string(node.node) + "'s part has " +
                                             std::to_string(verified->errors) +
                                             " errors, the first of which is: " + verified->findings.front());
  auto settled = node.copy.settle();
  if (!settled) return refuse(std::move(settled).error());
  if (*settled != end)
    return refuse(ErrorCode::corruption, "node " + std::to_string(node.node) + "'s part ends with position " +
                                             std::to_string(settled->value) + ", not " + std::to_string(end.value));
  return node.copy.finish();
}

/// "<target>.part", with what is in it, until it has its name.
class TargetFolder {
 public:
  static Result<TargetFolder> begin(const std::filesystem::path& path) {
    auto target = target_of_copy(path);
    if (!target) return refuse(std::move(target).error());
    auto part = *target;
    part += ".part";
    EVERSHARD_TRY(replace_rest(part));
    std::error_code error;
    std::filesystem::create_directories(part, error);
    if (error) return failed_at("cannot create " + part.string(), error);
    return TargetFolder(*std::move(target), std::move(part));
  }
  ~TargetFolder() {
    std::error_code ignored;
    if (!part_.empty()) std::filesystem::remove_all(part_, ignored);
  }
  TargetFolder(TargetFolder&& from) noexcept : target_(std::move(from.target_)), part_(std::exchange(from.part_, {})) {}
  TargetFolder& operator=(TargetFolder&&) = delete;

  [[nodiscard]] const std::filesystem::path& part() const { return part_; }
  Result<void> finish() {
    EVERSHARD_TRY(sync_path(part_));
    std::error_code error;
    std::filesystem::rename(part_, target_, error);
    if (error) return failed_at("cannot rename " + part_.string() + " to " + target_.string(), error);
    part_.clear();
    return sync_path(target_.parent_path());
  }

 private:
  TargetFolder(std::filesystem::path target, std::filesystem::path part)
      : target_(std::move(target)), part_(std::move(part)) {}
  static Refused failed_at(const std::string& doing, const std::error_code& error) {
    return refuse(ErrorCode::io, doing + ": " + error.message());
  }
  static Result<void> replace_rest(const std::filesystem::path& part) {
    std::error_code error;
    if (!std::filesystem::exists(part, error)) return {};
    const auto in_the_way = [&](const std::string& why) {
      return refuse(ErrorCode::invalid_argument, part.string() + " is in the way: clusters are made there" + why);
    };
    if (!std::filesystem::is_directory(part, error)) return in_the_way("");
    for (const auto& entry : std::filesystem::directory_iterator(part, error)) {
      const auto name = entry.path().filename().string();
      if (!name.starts_with("node-") && name != "coordinator") return in_the_way(", and it holds " + name);
    }
    std::filesystem::remove_all(part, error);
    if (error) return failed_at("cannot remove " + part.string(), error);
    return {};
  }
  std::filesystem::path target_, part_;
};

}  // namespace

std::string spread_node_name(std::uint32_t node) { return "node-" + std::to_string(node); }

std::vector<std::uint32_t> keepers_of(ShardId shard, const SpreadOptions& how) {
  std::vector<std::uint32_t> keepers;
  for (std::uint32_t n = 0; n != how.replicas; ++n) keepers.push_back((shard.value + n) % how.nodes + 1);
  return keepers;
}

Result<GlobalPosition> spread_store(
    const std::filesystem::path& source, const std::filesystem::path& target, const SpreadOptions& how,
    const std::function<Result<void>(const std::filesystem::path& folder, const SpreadStore& cluster)>& cut_log,
    const Progress& progress) {
  if (how.nodes == 0 || how.replicas == 0 || how.replicas > how.nodes)
    return refuse(ErrorCode::invalid_argument,
                  std::to_string(how.replicas) + " replicas, of " + std::to_string(how.nodes) + " nodes");
  std::error_code error;
  if (!std::filesystem::exists(source / "db" / "CURRENT", error))
    return refuse(ErrorCode::not_found, "there is no store in " + source.string());
  if (source.extension() == ".part")
    return refuse(ErrorCode::invalid_argument, source.string() + " is a backup that was not finished");
  auto from = TruthSource::of_closed(source);
  if (!from) return refuse(std::move(from).error());
  if (from->identity().node != 0)
    return refuse(ErrorCode::invalid_argument, source.string() +
                                                   " is one node's part of a cluster: a cluster is made of a whole "
                                                   "store, as `cluster backup` copies it");
  const auto end = from->end_of_copy(how.up_to);
  if (!end) return refuse(end.error());
  auto folder = TargetFolder::begin(target);
  if (!folder) return refuse(std::move(folder).error());

  SpreadStore cluster{from->identity(), {}};
  cluster.identity.fork = EventId::random();
  std::vector<NodeBeingMade> nodes;
  for (std::uint32_t n = 1; n <= how.nodes; ++n) {
    auto node = begin_node(folder->part(), n, cluster.identity.shards, how);
    if (!node) return refuse(std::move(node).error());
    nodes.push_back(std::move(*node));
  }
  Spreading spreading(nodes, *from, how);
  std::vector<std::string> damaged;
  const TruthCopyOptions copying{.keeps = *end,
                                 .end = from->end(),
                                 .snapshot_left_out = [&](std::string_view key) { damaged.emplace_back(key); },
                                 .without_state = how.without_state};
  EVERSHARD_TRY(copy_truth_to(from->rows(), cluster.identity.shards, copying, spreading, part_of(progress, 0, 40)));
  const auto said = said_of_snapshots(from->rows(), damaged);
  if (!said) return refuse(said.error());
  if (how.left_out) std::ranges::for_each(*said, how.left_out);
  EVERSHARD_TRY(spreading.written());
  cluster.state = spreading.finish(cluster.identity);
  const Progress finishing = part_of(progress, 40, 100);
  for (std::size_t n = 0; n != nodes.size(); ++n)
    EVERSHARD_TRY(finish_node(nodes[n], cluster.identity, source, *end,
                              part_of(finishing, n * 100 / nodes.size(), (n + 1) * 100 / nodes.size())));
  EVERSHARD_TRY(cut_log(folder->part(), cluster));
  EVERSHARD_TRY(folder->finish());
  return *end;
}

}  // namespace evershard::storage
