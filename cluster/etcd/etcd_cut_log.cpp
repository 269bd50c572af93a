#include "evershard/cluster/etcd/etcd_cut_log.hpp"

#include <map>
#include <string>
#include <utility>
#include <vector>

#include "evershard/cluster/etcd/etcd_client.hpp"
#include "evershard/protocol/limits.hpp"
#include "evershard/sharding/cut_log_rules.hpp"
#include "evershard/sharding/stream_hash.hpp"
#include "evershard/storage/journal/new_identity.hpp"
#include "evershard/storage/order/cut_log_rows.hpp"

namespace evershard::cluster {
namespace {

namespace pb = etcdserverpb;
namespace log_rows = storage::cut_log_rows;
using sharding::Cut;
using sharding::CutLogRules;
using sharding::CutLogState;
using sharding::CutsFound;
using sharding::HeldBy;

constexpr std::int64_t page_rows = 1'000;
constexpr std::size_t deletes_max = 100;  ///< a transaction: etcd takes 128 requests in one
constexpr int reads_max = 5;              ///< of the whole log, where its revision is given up meanwhile
constexpr int leads_max = 20;             ///< tries, where others lead at the same time
/// Rows of the log begin with a byte below it; names of others in clear text, as the keys of subjects, do not.
constexpr const char* behind_the_rows = " ";

Refused corrupt(const std::string& what) { return refuse(ErrorCode::corruption, what); }

Error went_back(const std::string& what) {
  return {ErrorCode::corruption, "etcd has lost what it acknowledged: " + what +
                                     " of the cut log is not there; it was restored from an older state"};
}

class EtcdCutLog final : public storage::DurableCutLog {
 public:
  EtcdCutLog(EtcdCutLogOptions options, std::unique_ptr<EtcdClient> etcd)
      : options_(std::move(options)), etcd_(std::move(etcd)) {}

  Result<void> open();

  [[nodiscard]] const storage::Identity& identity() const override { return identity_; }
  [[nodiscard]] const CutLogState& state() const override { return rules_->state(); }
  Result<CutLogState> lead() override;
  Result<void> put(const Cut& cut) override;
  [[nodiscard]] Result<CutsFound> cuts_after(CutNumber after, std::size_t bytes_max) const override;
  Result<void> fold(Epoch epoch, std::span<const HeldBy> held) override;

 private:
  /// All rows, as of one revision.
  struct Rows {
    std::map<std::string, std::string> of;
    [[nodiscard]] const std::string* find(const std::string& key) const {
      const auto found = of.find(key);
      return found == of.end() ? nullptr : &found->second;
    }
  };

  [[nodiscard]] std::string key_of(const std::string& row) const { return options_.etcd.prefix + row; }
  Result<Rows> read_all();
  Result<void> create();
  Result<void> identify(const Rows& rows);
  Result<void> read_back(const Rows& rows);
  Refused fails(Error error);
  /// Why etcd did not take a put, by the row that the transaction found instead. Nothing: an earlier try had put the
  /// cut.
  Result<void> refused_put(const Cut& cut, const std::string& row, const EtcdClient::TxnAnswer& answer);

  void compare_value(pb::TxnRequest& txn, const std::string& row, std::string value) const;
  void compare_there(pb::TxnRequest& txn, const std::string& row, bool there) const;
  void put_row(pb::TxnRequest& txn, const std::string& row, std::string value) const;

  const EtcdCutLogOptions options_;
  const std::unique_ptr<EtcdClient> etcd_;
  storage::Identity identity_;
  std::optional<CutLogRules> rules_;
  std::map<CutNumber, std::string> cuts_;  ///< those that were not given up, as rows
  std::optional<Error> failure_;
};

void EtcdCutLog::compare_value(pb::TxnRequest& txn, const std::string& row, std::string value) const {
  auto& compare = *txn.add_compare();
  compare.set_target(pb::Compare::VALUE);
  compare.set_key(key_of(row));
  compare.set_value(std::move(value));
}

void EtcdCutLog::compare_there(pb::TxnRequest& txn, const std::string& row, bool there) const {
  auto& compare = *txn.add_compare();
  compare.set_target(pb::Compare::CREATE);
  compare.set_result(there ? pb::Compare::GREATER : pb::Compare::EQUAL);
  compare.set_key(key_of(row));
  compare.set_create_revision(0);
}

void EtcdCutLog::put_row(pb::TxnRequest& txn, const std::string& row, std::string value) const {
  auto& put = *txn.add_success()->mutable_request_put();
  put.set_key(key_of(row));
  put.set_value(std::move(value));
}

Refused EtcdCutLog::fails(Error error) {
  failure_ = std::move(error);
  return refuse(*failure_);
}

Result<void> EtcdCutLog::open() {
  if (options_.shards > shards_max)
    return refuse(ErrorCode::invalid_argument, "a cluster has at most " + std::to_string(shards_max) + " shards, not " +
                                                   std::to_string(options_.shards));
  auto rows = read_all();
  if (!rows) return refuse(std::move(rows).error());
  const auto is_there = [&] {
    return refuse(ErrorCode::invalid_argument,
                  "there is a cut log in etcd (" + etcd_->members() + ") under " + options_.etcd.prefix + " already");
  };
  if (options_.begins_with && rows->find(log_rows::identity_key()) != nullptr) return is_there();
  if (rows->find(log_rows::identity_key()) == nullptr) {
    if (!rows->of.empty())
      return corrupt("the identity of the cut log in etcd, " + options_.etcd.prefix + ", is missing");
    if (!options_.create)
      return refuse(ErrorCode::not_found,
                    "there is no cut log in etcd (" + etcd_->members() + ") under " + options_.etcd.prefix);
    EVERSHARD_TRY(create());
    rows = read_all();  // or somebody else's, who was quicker
    if (!rows) return refuse(std::move(rows).error());
  }
  EVERSHARD_TRY(identify(*rows));
  if (options_.begins_with && identity_ != options_.begins_with->identity) return is_there();
  return read_back(*rows);
}

Result<EtcdCutLog::Rows> EtcdCutLog::read_all() {
  Result<Rows> given_up = refuse(ErrorCode::unavailable, "etcd gives up revisions faster than the cut log can be read");
  for (int tries = 0; tries < reads_max; ++tries) {
    Rows rows;
    pb::RangeRequest asked;
    asked.set_key(options_.etcd.prefix);
    asked.set_range_end(options_.etcd.prefix + behind_the_rows);
    asked.set_limit(page_rows);
    while (true) {
      auto page = etcd_->range(asked);
      if (!page && page.error().code == ErrorCode::not_found && asked.revision() != 0) break;  // anew
      if (!page) return refuse(std::move(page).error());
      asked.set_revision(page->header().revision());
      for (auto& row : *page->mutable_kvs())
        rows.of.emplace(row.key().substr(options_.etcd.prefix.size()), std::move(*row.mutable_value()));
      if (!page->more() || page->kvs().empty()) return rows;
      asked.set_key(page->kvs().rbegin()->key() + '\0');
    }
  }
  return given_up;
}

Result<void> EtcdCutLog::create() {
  const auto& begins_with = options_.begins_with;
  const auto identity = begins_with ? begins_with->identity : storage::new_identity(options_.shards, std::nullopt);
  const auto state = begins_with ? begins_with->state : CutLogState(identity.shards);
  pb::TxnRequest txn;
  compare_there(txn, log_rows::identity_key(), false);
  put_row(txn, log_rows::identity_key(), storage::encode(identity));
  put_row(txn, log_rows::epoch_key(), log_rows::epoch_row(state.epoch));
  put_row(txn, log_rows::checkpoint_key(), log_rows::checkpoint_row(state));
  const auto made = etcd_->txn(txn);
  if (!made) return refuse(made.error());
  return {};
}

Result<void> EtcdCutLog::identify(const Rows& rows) {
  const auto* row = rows.find(log_rows::identity_key());
  if (row == nullptr) return corrupt("the identity of the cut log in etcd is missing");
  auto identity = storage::decode_identity(*row);
  if (!identity) return refuse(std::move(identity).error());
  identity_ = *identity;
  if (options_.shards != 0 && options_.shards != identity_.shards)
    return refuse(ErrorCode::invalid_argument, "the cut log in etcd is of " + std::to_string(identity_.shards) +
                                                   " shards, not " + std::to_string(options_.shards));
  if (identity_.hash != sharding::hash_id)
    return refuse(ErrorCode::invalid_argument, "the cut log in etcd was made with shard hash " +
                                                   std::to_string(identity_.hash) + ", this program has " +
                                                   std::to_string(sharding::hash_id));
  return {};
}

Result<void> EtcdCutLog::read_back(const Rows& rows) {
  const auto* epoch_row = rows.find(log_rows::epoch_key());
  const auto* leaderships_row = rows.find(log_rows::leaderships_key());
  const auto* checkpoint_row = rows.find(log_rows::checkpoint_key());
  if (epoch_row == nullptr) return corrupt("the cut log's epoch is missing");
  if (checkpoint_row == nullptr) return corrupt("the cut log's checkpoint is missing");
  const auto epoch = log_rows::decode_epoch_row(*epoch_row);
  if (!epoch) return refuse(epoch.error());
  sharding::Leaderships leaderships;
  if (leaderships_row != nullptr) {
    auto decoded = log_rows::decode_leaderships_row(*leaderships_row);
    if (!decoded) return refuse(std::move(decoded).error());
    leaderships = *std::move(decoded);
  }
  auto checkpoint = log_rows::decode_checkpoint_row(*checkpoint_row, identity_.shards);
  if (!checkpoint) return refuse(std::move(checkpoint).error());
  CutLogRules rules(*std::move(checkpoint));
  std::map<CutNumber, std::string> cuts;
  for (auto row = rows.of.lower_bound(log_rows::cut_prefix()); row != rows.of.end(); ++row) {
    const auto number = log_rows::decode_cut_key(row->first);
    if (!number) return refuse(number.error());
    const auto cut = log_rows::decode_cut_row(*number, row->second);
    if (!cut) return refuse(cut.error());
    if (*number <= rules.checkpoint().last_cut) {
      EVERSHARD_TRY(rules.kept(*cut));
    } else {
      EVERSHARD_TRY(sharding::check_follows(rules.state(), *cut));
      rules.taken(*cut);
    }
    cuts.emplace(*number, row->second);
  }
  rules.read_back();
  rules.led(*epoch, std::move(leaderships));
  rules_ = std::move(rules);
  cuts_ = std::move(cuts);
  return {};
}

Result<CutLogState> EtcdCutLog::lead() {
  if (failure_) return refuse(*failure_);
  const auto identity = EventId::random();
  for (int tries = 0; tries < leads_max; ++tries) {
    auto rows = read_all();
    if (!rows) return refuse(std::move(rows).error());
    const auto known = state();
    const auto cluster = identity_.store;
    EVERSHARD_TRY(identify(*rows));
    if (identity_.store != cluster)
      return fails(Error(ErrorCode::corruption, "etcd has another cluster's cut log now"));
    EVERSHARD_TRY(read_back(*rows));
    if (state().epoch < known.epoch) return fails(went_back("epoch " + std::to_string(known.epoch.value)));
    if (state().last_cut < known.last_cut) return fails(went_back("cut " + std::to_string(known.last_cut.value)));
    const auto& led = state().leaderships;
    // Read behind the transaction: nobody else can have put anything since.
    if (!led.empty() && led.back().identity == identity && led.back().epoch == state().epoch) return state();
    const sharding::Leadership newest{rules_->next_epoch(), identity};
    auto leaderships = led;
    sharding::add_leadership(leaderships, newest);
    pb::TxnRequest txn;
    compare_value(txn, log_rows::epoch_key(), log_rows::epoch_row(state().epoch));
    put_row(txn, log_rows::epoch_key(), log_rows::epoch_row(newest.epoch));
    put_row(txn, log_rows::leaderships_key(), log_rows::leaderships_row(leaderships));
    const auto answer = etcd_->txn(txn);
    if (!answer) return refuse(answer.error());  // the epoch may be raised: whoever leads next raises it again
  }
  return refuse(ErrorCode::fenced, "others lead the cut log in etcd again and again");
}

Result<void> EtcdCutLog::put(const Cut& cut) {
  if (failure_) return refuse(*failure_);
  EVERSHARD_TRY(rules_->check_put(cut));
  auto row = log_rows::cut_row(cut);
  pb::TxnRequest txn;
  compare_value(txn, log_rows::epoch_key(), log_rows::epoch_row(state().epoch));
  compare_there(txn, log_rows::cut_key(cut.number), false);
  // An etcd that was restored from an older state has neither the cut before nor the checkpoint that stands for it.
  if (cuts_.contains(cut.number - 1))
    compare_there(txn, log_rows::cut_key(cut.number - 1), true);
  else
    compare_value(txn, log_rows::checkpoint_key(), log_rows::checkpoint_row(rules_->checkpoint()));
  put_row(txn, log_rows::cut_key(cut.number), row);
  for (const auto& seen : {log_rows::epoch_key(), log_rows::cut_key(cut.number)})
    txn.add_failure()->mutable_request_range()->set_key(key_of(seen));
  const auto answer = etcd_->txn(txn);
  if (!answer)
    return fails(Error(ErrorCode::io, "the cut log has failed, and whether it has cut " +
                                          std::to_string(cut.number.value) + " is unknown: " + answer.error().what));
  if (!answer->response.succeeded()) EVERSHARD_TRY(refused_put(cut, row, *answer));
  rules_->taken(cut);
  cuts_.emplace(cut.number, std::move(row));
  return {};
}

Result<void> EtcdCutLog::refused_put(const Cut& cut, const std::string& row, const EtcdClient::TxnAnswer& answer) {
  const auto found = [&](int which) -> const std::string* {
    if (which >= answer.response.responses_size()) return nullptr;
    const auto& range = answer.response.responses(which).response_range();
    return range.kvs().empty() ? nullptr : &range.kvs(0).value();
  };
  const auto* epoch_row = found(0);
  if (epoch_row == nullptr) return fails(Error(ErrorCode::corruption, "the cut log in etcd is gone"));
  const auto epoch = log_rows::decode_epoch_row(*epoch_row);
  if (!epoch) return fails(epoch.error());
  if (*epoch > state().epoch)
    return refuse(ErrorCode::fenced, "the cut log is led under epoch " + std::to_string(epoch->value) +
                                         ", not under epoch " + std::to_string(state().epoch.value));
  const auto* there = found(1);
  if (*epoch == state().epoch && there != nullptr) {
    if (answer.repeated && *there == row) return {};
    return refuse(ErrorCode::fenced, "the cut log has cut " + std::to_string(cut.number.value) + " already");
  }
  return fails(went_back(*epoch < state().epoch ? "epoch " + std::to_string(state().epoch.value)
                                                : "cut " + std::to_string(cut.number.value - 1)));
}

Result<CutsFound> EtcdCutLog::cuts_after(CutNumber after, std::size_t bytes_max) const {
  CutsFound found;
  std::size_t bytes = 0;
  for (auto row = cuts_.upper_bound(after); row != cuts_.end(); ++row) {
    if (!found.cuts.empty() && bytes + row->second.size() > bytes_max) {
      found.more = true;
      break;
    }
    auto cut = log_rows::decode_cut_row(row->first, row->second);
    if (!cut) return refuse(std::move(cut).error());
    bytes += row->second.size();
    found.cuts.push_back(*std::move(cut));
  }
  const auto& checkpoint = rules_->checkpoint();
  if (after < checkpoint.last_cut) found.folded = checkpoint;
  return found;
}

// The checkpoint first: rows at or before it that are still there are read back as kept.
Result<void> EtcdCutLog::fold(Epoch epoch, std::span<const HeldBy> held) {
  if (failure_) return refuse(*failure_);
  const auto folding = rules_->fold(epoch, held);
  if (!folding) return refuse(folding.error());
  std::vector<std::pair<CutNumber, CutNumber>> runs;  // [first, end)
  for (const auto number : folding->given_up) {
    if (!runs.empty() && runs.back().second == number)
      runs.back().second = number + 1;
    else
      runs.emplace_back(number, number + 1);
  }
  std::int64_t revision = 0;
  std::size_t at = 0;
  do {
    pb::TxnRequest txn;
    compare_value(txn, log_rows::epoch_key(), log_rows::epoch_row(state().epoch));
    if (at == 0) put_row(txn, log_rows::checkpoint_key(), log_rows::checkpoint_row(folding->checkpoint));
    for (std::size_t n = 0; n < deletes_max && at < runs.size(); ++n, ++at) {
      auto& gone = *txn.add_success()->mutable_request_delete_range();
      gone.set_key(key_of(log_rows::cut_key(runs[at].first)));
      gone.set_range_end(key_of(log_rows::cut_key(runs[at].second)));
    }
    txn.add_failure()->mutable_request_range()->set_key(key_of(log_rows::epoch_key()));
    const auto answer = etcd_->txn(txn);
    if (!answer) return fails(Error(ErrorCode::io, "the cut log has failed: cannot fold it: " + answer.error().what));
    if (!answer->response.succeeded())
      return refuse(ErrorCode::fenced,
                    "the cut log is not led under epoch " + std::to_string(epoch.value) + " any more");
    revision = answer->response.header().revision();
  } while (at < runs.size());
  rules_->folded(*folding);
  for (const auto number : folding->given_up) cuts_.erase(number);
  (void)etcd_->compact(revision);  // it costs room only, and the next one does it as well
  return {};
}

}  // namespace

Result<std::unique_ptr<storage::DurableCutLog>> open_etcd_cut_log(const EtcdCutLogOptions& options) {
  if (options.etcd.members.empty()) return refuse(ErrorCode::invalid_argument, "an etcd without members");
  auto client = EtcdClient::open(options.etcd);
  if (!client) return refuse(std::move(client).error());
  auto log = std::make_unique<EtcdCutLog>(options, *std::move(client));
  EVERSHARD_TRY(log->open());
  return log;
}

}  // namespace evershard::cluster
