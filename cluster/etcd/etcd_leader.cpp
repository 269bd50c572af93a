#include "evershard/cluster/etcd/etcd_leader.hpp"

#include <utility>

#include "evershard/cluster/etcd/etcd_client.hpp"
#include "evershard/storage/order/cut_log_rows.hpp"

namespace evershard::cluster {

namespace leader_rows = storage::cut_log_rows;
namespace {

constexpr std::uint64_t compact_after = 256;

}  // namespace

EtcdLeader::EtcdLeader(EtcdOptions options, std::unique_ptr<EtcdClient> etcd)
    : options_(std::move(options)), etcd_(std::move(etcd)) {}
EtcdLeader::~EtcdLeader() = default;

Result<std::unique_ptr<EtcdLeader>> EtcdLeader::open(EtcdOptions options) {
  auto client = EtcdClient::open(options);
  if (!client) return refuse(std::move(client).error());
  return std::unique_ptr<EtcdLeader>(new EtcdLeader(std::move(options), *std::move(client)));
}

Result<std::optional<Leader>> EtcdLeader::read() {
  etcdserverpb::TxnRequest both;
  for (const auto& row : {leader_rows::epoch_key(), leader_rows::leader_key()})
    both.add_success()->mutable_request_range()->set_key(options_.prefix + row);
  const auto answer = etcd_->txn(both);
  if (!answer) return refuse(answer.error());
  const auto found = [&](int which) -> const std::string* {
    if (which >= answer->response.responses_size()) return nullptr;
    const auto& range = answer->response.responses(which).response_range();
    return range.kvs().empty() ? nullptr : &range.kvs(0).value();
  };
  const auto* epoch_row = found(0);
  if (epoch_row == nullptr) return std::optional<Leader>();
  const auto epoch = leader_rows::decode_epoch_row(*epoch_row);
  if (!epoch) return refuse(epoch.error());
  if (epoch->value == 0) return std::optional<Leader>();
  Leader leader{*epoch};
  if (const auto* row = found(1)) {
    auto said = leader_rows::decode_leader_row(*row);
    if (!said) return refuse(std::move(said).error());
    if (said->epoch == *epoch) leader.address = std::move(said->address), leader.beat = said->beat;
  }
  return std::optional(std::move(leader));
}

Result<void> EtcdLeader::say(const Leader& leader) {
  etcdserverpb::TxnRequest txn;
  auto& compare = *txn.add_compare();
  compare.set_target(etcdserverpb::Compare::VALUE);
  compare.set_key(options_.prefix + leader_rows::epoch_key());
  compare.set_value(leader_rows::epoch_row(leader.epoch));
  auto& put = *txn.add_success()->mutable_request_put();
  put.set_key(options_.prefix + leader_rows::leader_key());
  put.set_value(leader_rows::leader_row({leader.epoch, leader.address, leader.beat}));
  const auto answer = etcd_->txn(txn);
  if (!answer) return refuse(answer.error());
  if (!answer->response.succeeded())
    return refuse(ErrorCode::fenced,
                  "the cut log is not led under epoch " + std::to_string(leader.epoch.value) + " any more");
  // What it said before is of no use to anybody, and etcd keeps it until it is told so.
  // It costs room only, and the next one does it as well.
  if (++said_ % compact_after == 0) (void)etcd_->compact(answer->response.header().revision());
  return {};
}

}  // namespace evershard::cluster
