// EtcdClient: one request at a time to whichever member answers.

#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "evershard/cluster/etcd/etcd_options.hpp"
#include "evershard/etcd/etcd.grpc.pb.h"
#include "evershard/protocol/result.hpp"

namespace evershard::cluster {

/// Owner: one thread.
class EtcdClient {
 public:
  /// Nothing is asked yet. Errors: invalid_argument (a file of TLS cannot be read)
  [[nodiscard]] static Result<std::unique_ptr<EtcdClient>> open(const EtcdOptions& options);

  struct TxnAnswer {
    etcdserverpb::TxnResponse response;
    bool repeated = false;  ///< it was sent before, to who did not answer: that one may have been carried out
  };
  // Errors of each: unavailable (no member answers, or there is no majority), io (etcd is full, or refuses it),
  //                 permission_denied, unauthenticated. Of a transaction all of them leave it unknown what became of it
  [[nodiscard]] Result<TxnAnswer> txn(const etcdserverpb::TxnRequest& request);
  /// Errors: out of those above, not_found: the revision was given up
  [[nodiscard]] Result<etcdserverpb::RangeResponse> range(const etcdserverpb::RangeRequest& request);
  /// After this no member answers reads of revisions before `revision`. A revision that was given up already is no
  /// error. `physical`: the member that is asked has also taken those revisions out of its pages by then, unless that
  /// took longer than a try.
  enum class Physical : std::uint8_t { no, yes };
  [[nodiscard]] Result<void> compact(std::int64_t revision, Physical physical = Physical::no);

  /// `h1:2379, h2:2379`
  [[nodiscard]] std::string members() const;

 private:
  struct Member {
    std::string address;
    std::shared_ptr<grpc::Channel> channel;
    std::unique_ptr<etcdserverpb::KV::Stub> kv;
    std::unique_ptr<etcdserverpb::Auth::Stub> auth;
  };
  explicit EtcdClient(EtcdOptions options) : options_(std::move(options)) {}

  template <class Call>
  Result<void> ask(Call call, bool* repeated);
  grpc::Status authenticate(Member& member);

  const EtcdOptions options_;
  std::vector<Member> members_;
  std::size_t at_ = 0;  ///< who answered last
  std::string token_;
};

}  // namespace evershard::cluster
