// `evershard cluster backup`: a whole cluster's store, as of one position, into a directory of this machine.

#include <algorithm>
#include <chrono>
#include <map>
#include <string>
#include <thread>
#include <utility>

#include "evershard/cli/events/query_flags.hpp"
#include "evershard/cli/long_work.hpp"
#include "evershard/cli/print.hpp"
#include "evershard/cli/server/cluster_flags.hpp"
#include "evershard/cli/server/part_plan.hpp"
#include "evershard/cli/store/copy_lacks.hpp"
#include "evershard/storage/repair/cluster_copy.hpp"
#include "evershard/storage/repair/stopped_parts.hpp"

namespace evershard::cli {
namespace {

using Clock = std::chrono::steady_clock;

constexpr auto tried_again_after = std::chrono::milliseconds(500);
constexpr auto nothing_came_for_default = std::chrono::minutes(2);
constexpr std::uint64_t copying_share = 60;  ///< of a hundred; the rest is making the store of it

/// A part that is here, and where it ends.
struct CopiedPart {
  storage::GivenPart given;
  std::uint32_t node = 0;
  GlobalPosition end;
};

/// Writes what a node gives into the part's folder.
class PartWriter final : public PartTaker {
 public:
  PartWriter(storage::PartFolder& folder, const std::vector<ShardId>& wanted) : folder_(folder), wanted_(wanted) {}

  Result<void> head(const Head& head) override {
    auto identity = storage::decode_identity(head.identity);
    if (!identity) return refuse(std::move(identity).error());
    identity_ = *std::move(identity);
    end_ = head.watermark;
    types_ = head.types;
    for (const ShardId shard : wanted_)
      if (std::ranges::find(head.shards, shard) == head.shards.end())
        return refuse(ErrorCode::unavailable, "it does not have all of shard " + std::to_string(shard.value));
    return {};
  }
  Result<void> row(std::uint8_t family, std::string_view key, std::string_view value) override {
    if (family > static_cast<std::uint8_t>(storage::Family::state))
      return refuse(ErrorCode::invalid_argument, "it gives rows that this program does not know");
    auto put = folder_.put(static_cast<storage::Family>(family), key, value);
    if (!put) own_failure_ = put.error();
    return put;
  }
  [[nodiscard]] const storage::Identity& identity() const { return identity_; }
  [[nodiscard]] GlobalPosition end() const { return end_; }
  [[nodiscard]] const std::string& types() const { return types_; }
  /// It cannot be written here: another node does not help.
  [[nodiscard]] const std::optional<Error>& own_failure() const { return own_failure_; }

 private:
  storage::PartFolder& folder_;
  const std::vector<ShardId>& wanted_;
  storage::Identity identity_;
  GlobalPosition end_;
  std::string types_;
  std::optional<Error> own_failure_;
};

/// Only its head.
class OfferTaker final : public PartTaker {
 public:
  Result<void> head(const Head& head) override {
    offer.watermark = head.watermark;
    offer.shards = head.shards;
    return {};
  }
  Result<void> row(std::uint8_t, std::string_view, std::string_view) override { return {}; }
  PartOffer offer;
};

/// Goes on until each shard was given by one node, whichever is there.
class ClusterBackup {
 public:
  ClusterBackup(RemoteOptions options, Remote& asked, storage::ClusterCopy& copy, Clock::duration patience,
                const Progress& progress)
      : options_(std::move(options)), asked_(asked), copy_(copy), patience_(patience), progress_(progress) {}

  Result<void> copy_parts(const ClusterStatus& begins_with, GlobalPosition at_least);
  [[nodiscard]] const std::vector<CopiedPart>& parts() const { return parts_; }
  [[nodiscard]] const std::string& types() const { return types_; }

 private:
  Result<bool> round(const ClusterStatus& status);
  Result<void> copy_part(const ClusterStatus& status, const PlannedPart& part);
  Result<Remote> connect(const ClusterStatus& status, std::uint32_t node);
  [[nodiscard]] Result<void> tell(std::uint64_t done, std::uint64_t total) const;

  const RemoteOptions options_;
  Remote& asked_;
  storage::ClusterCopy& copy_;
  const Clock::duration patience_;
  const Progress& progress_;
  GlobalPosition at_least_;
  std::size_t shards_ = 0;
  std::vector<ShardId> left_;
  std::vector<CopiedPart> parts_;
  std::map<std::uint32_t, std::uint32_t> failures_;
  std::uint32_t begun_ = 0;
  std::string types_, why_;
};

Result<void> ClusterBackup::tell(std::uint64_t done, std::uint64_t total) const {
  return storage::report(progress_, done * copying_share / std::max<std::uint64_t>(total, 1), 100);
}

Result<Remote> ClusterBackup::connect(const ClusterStatus& status, std::uint32_t node) {
  const auto found = std::ranges::find_if(status.nodes, [&](const auto& of) { return of.is.node == node; });
  if (found == status.nodes.end() || found->is.door.empty())
    return refuse(ErrorCode::unavailable, "nobody knows where its door is");
  auto options = options_;
  options.servers.clear();
  options.server = found->is.door;
  options.follow_shards = false;
  return Remote::connect(std::move(options));
}

Result<void> ClusterBackup::copy_parts(const ClusterStatus& begins_with, GlobalPosition at_least) {
  at_least_ = at_least;
  shards_ = begins_with.shards.size();
  for (std::size_t s = 0; s != shards_; ++s) left_.push_back(ShardId{static_cast<std::uint16_t>(s)});
  auto status = Result<ClusterStatus>(begins_with);
  for (auto until = Clock::now() + patience_; !left_.empty();) {
    EVERSHARD_TRY(tell(shards_ - left_.size(), shards_));
    if (status) {
      const auto came = round(*status);
      if (!came) return refuse(came.error());
      if (*came) until = Clock::now() + patience_;
    } else {
      why_ = status.error().what;
    }
    if (left_.empty()) break;
    if (Clock::now() >= until)
      return refuse(ErrorCode::unavailable,
                    std::to_string(left_.size()) + " of " + std::to_string(shards_) +
                        " shards were given by no node, shard " + std::to_string(left_.front().value) +
                        " among them: " + (why_.empty() ? "nobody who is up keeps them" : why_));
    std::this_thread::sleep_for(tried_again_after);
    status = asked_.cluster_status();
  }
  return {};
}

/// Returns: whether something came.
Result<bool> ClusterBackup::round(const ClusterStatus& status) {
  std::vector<PartOffer> offers;
  for (const auto& node : status.nodes) {
    if (!node.is.up || node.is.node == 0) continue;
    const auto kept = kept_by(status, node.is.node);
    if (kept.empty()) continue;
    auto there = connect(status, node.is.node);
    OfferTaker taker;
    const auto offered =
        there ? there->cluster().copy_part({.head_only = true}, taker, progress_) : Result<void>(refuse(there.error()));
    if (!offered && offered.error().code == ErrorCode::cancelled && !tell(0, 1)) return refuse(offered.error());
    if (!offered &&
        (offered.error().code == ErrorCode::permission_denied || offered.error().code == ErrorCode::unauthenticated))
      return refuse(offered.error());
    if (!offered) {
      why_ = "node " + std::to_string(node.is.node) + " at " + node.is.door + ": " + offered.error().what;
      continue;
    }
    taker.offer.node = node.is.node;
    taker.offer.failures = failures_[node.is.node];
    std::erase_if(taker.offer.shards, [&](ShardId shard) { return !std::ranges::binary_search(kept, shard); });
    offers.push_back(std::move(taker.offer));
  }
  bool came = false;
  for (const auto& part : plan_parts(std::move(offers), left_)) {
    const auto copied = copy_part(status, part);
    if (!copied) return refuse(copied.error());
    came = came || std::ranges::find(left_, part.shards.front()) == left_.end();
  }
  return came;
}

/// What a node fails with is remembered, and another one is asked. Errors: what another one does not help against
Result<void> ClusterBackup::copy_part(const ClusterStatus& status, const PlannedPart& part) {
  const auto number = ++begun_;
  auto folder = copy_.begin_part(number);
  if (!folder) return refuse(std::move(folder).error());
  const auto before = shards_ - left_.size();
  PartWriter writer(**folder, part.shards);
  bool stopped = false;
  const Progress watching = [&](std::uint64_t done, std::uint64_t total) {
    const auto share = total == 0 ? 0 : done * part.shards.size() * 1'000 / total;
    stopped = stopped || !tell(before * 1'000 + share, shards_ * 1'000);
    return !stopped;
  };
  auto node = connect(status, part.node);
  const PartWanted wanted{.shards = part.shards, .at_least = at_least_};
  auto given = node ? node->cluster().copy_part(wanted, writer, watching) : Result<void>(refuse(node.error()));
  if (stopped) return refuse(ErrorCode::cancelled, "stopped as asked");
  if (writer.own_failure()) return refuse(*writer.own_failure());
  if (given && writer.end() < at_least_)
    given = refuse(ErrorCode::unavailable, "it ends with position " + std::to_string(writer.end().value));
  if (!given) {
    ++failures_[part.node];
    why_ = "node " + std::to_string(part.node) + ": " + given.error().what;
    return {};
  }
  EVERSHARD_TRY((*folder)->finish());
  parts_.push_back({{number, writer.identity(), part.shards}, part.node, writer.end()});
  if (types_.empty()) types_ = writer.types();
  std::erase_if(left_, [&](ShardId shard) { return std::ranges::binary_search(part.shards, shard); });
  return {};
}

Options cluster_backup_options() {
  Options options = cluster_options();
  options.argument("TARGET", "an empty directory on this machine, or one that does not exist yet")
      .flag("truth-only", "leave out the indexes, which is less than half of the size; `restore` builds them again")
      .value("up-to", "POSITION", "end the copy with this position; it must be the last one of an append")
      .duration("patience", "how long to wait for a node that has what no other has", wait_rule(),
                nothing_came_for_default)
      .values("from", "DIR",
              "instead of a cluster that runs: the directory of a node that is stopped, or a copy of it; once for each "
              "node that there is");
  return options;
}

/// Who gave how many shards.
struct ShardsOfNode {
  std::uint32_t node = 0;
  std::vector<ShardId> shards;
};

void print_backup(const Invocation& invocation, const std::string& target, GlobalPosition end, bool truth_only,
                  const std::vector<ShardsOfNode>& parts, const CopyLacks& lacks) {
  JsonText json;
  json.begin_object().key("backup").string(target).key("truth_only").boolean(truth_only);
  json.key("up_to").number(end.value).key("parts").begin_array();
  std::vector<std::pair<std::string, std::string>> lines{
      {"backup", target},
      {"holds", truth_only ? "the truth only: `evershard restore` makes a store of it" : "a whole store"},
      {"up to position", std::to_string(end.value)}};
  for (const auto& part : parts) {
    json.begin_object().key("node").number(part.node).key("shards").begin_array();
    for (const ShardId shard : part.shards) json.number(shard.value);
    json.end_array().end_object();
    lines.emplace_back("from node " + std::to_string(part.node), std::to_string(part.shards.size()) + " shards");
  }
  json.end_array();
  lacks.put(json);
  json.end_object();
  lacks.put(lines);
  print_one(invocation, json, lines);
}

/// Of nodes that are stopped: nobody is asked, and what they have decides.
Outcome backup_of_stopped(const Invocation& invocation, const std::vector<std::string>& folders) {
  const std::string target = *invocation.arguments.text("TARGET");
  const auto up_to = position_of(invocation.arguments, "up-to");
  LongWork work(invocation, "backup");
  auto stopped = storage::open_stopped_parts({folders.begin(), folders.end()});
  if (!stopped) return Failed(Failure(std::move(stopped).error()));
  if (up_to.value_or(GlobalPosition{0}) > stopped->end)
    return Failed(Failure(ErrorCode::invalid_argument, "these directories have the whole store up to position " +
                                                           std::to_string(stopped->end.value) +
                                                           " only: name those of the other nodes too"));
  if (!up_to && stopped->known > stopped->end)
    return Failed(Failure(ErrorCode::corruption,
                          "positions up to " + std::to_string(stopped->known.value) +
                              " were given, and these directories have the whole store up to position " +
                              std::to_string(stopped->end.value) +
                              " only: name those of the other nodes too, or leave out what is behind it with --up-to " +
                              std::to_string(stopped->end.value)));
  storage::ClusterCopyOptions how{.keeps = up_to.value_or(stopped->end),
                                  .truth_only = invocation.arguments.has("truth-only"),
                                  .types = stopped->types};
  CopyLacks lacks;
  lacks.gather(how);
  auto copy = storage::ClusterCopy::begin(target);
  if (!copy) return Failed(work.failure(std::move(copy).error()));
  const auto made = (*copy)->finish_from(stopped->parts, how, work.progress());
  if (!made) return Failed(work.failure(made.error()));
  work.clear();
  std::vector<ShardsOfNode> given;
  for (const auto& part : stopped->parts) given.push_back({part.identity.node, part.shards});
  print_backup(invocation, target, how.keeps, how.truth_only, given, lacks);
  return {};
}

Outcome run_cluster_backup(const Invocation& invocation) {
  const std::string target = *invocation.arguments.text("TARGET");
  const auto up_to = position_of(invocation.arguments, "up-to");
  if (const auto folders = invocation.arguments.texts("from"); !folders.empty()) {
    for (const char* flag : {"server", "patience"})
      if (invocation.arguments.has(flag))
        throw UsageError("--from copies nodes that are stopped: --" + std::string(flag) +
                         " is for a cluster that runs");
    return backup_of_stopped(invocation, folders);
  }
  auto node = node_asked(invocation);
  if (!node) return Failed(std::move(node).error());
  LongWork work(invocation, "backup");
  const auto progress = work.progress();
  const auto status = node->cluster_status();
  if (!status) return Failed(Failure(status.error()));
  const auto ends = std::max(status->watermark, status->applied);
  if (up_to && *up_to > ends)
    return Failed(Failure(ErrorCode::invalid_argument, "there is no position " + std::to_string(up_to->value) +
                                                           ": the cluster's store ends with position " +
                                                           std::to_string(ends.value)));
  auto copy = storage::ClusterCopy::begin(target);
  if (!copy) return Failed(work.failure(std::move(copy).error()));
  ClusterBackup backup(*invocation.server(), *node, **copy, *invocation.arguments.duration("patience"), progress);
  if (auto copied = backup.copy_parts(*status, up_to.value_or(ends)); !copied)
    return Failed(work.failure(std::move(copied).error()));

  storage::ClusterCopyOptions how;
  how.truth_only = invocation.arguments.has("truth-only");
  how.types = backup.types();
  CopyLacks lacks;
  lacks.gather(how);
  std::vector<storage::GivenPart> parts;
  how.keeps = backup.parts().front().end;
  for (const auto& part : backup.parts()) {
    parts.push_back(part.given);
    how.keeps = std::min(how.keeps, part.end);
  }
  if (up_to) how.keeps = *up_to;
  const auto made = (*copy)->finish(parts, how, storage::part_of(progress, copying_share, 100));
  if (!made) return Failed(work.failure(made.error()));
  work.clear();
  std::vector<ShardsOfNode> given;
  for (const auto& part : backup.parts()) given.push_back({part.node, part.given.shards});
  print_backup(invocation, target, how.keeps, how.truth_only, given, lacks);
  return {};
}

}  // namespace

Command cluster_backup_command() {
  return {
      "cluster backup",
      "cluster",
      "Copies a whole cluster's store into an empty directory of this machine.",
      "evershard cluster backup /backups/monday --server 127.0.0.1:7420",
      cluster_backup_options,
      run_cluster_backup,
      nullptr,
      "The copy is a store of one process, as of one position: `serve --data` runs it, `verify --data` checks it, "
      "`cluster restore` makes a cluster of it. The cluster goes on meanwhile. With --from it is made of what nodes "
      "have that are stopped: where the order is lost, as with etcd, and no backup is new enough."};
}

}  // namespace evershard::cli
