// The service evershard.v1.Retention.

#pragma once

#include "evershard/doors/grpc/calls.hpp"
#include "evershard/v1/retention.grpc.pb.h"

namespace evershard::door {

template <class Base>
using RawRetention = pb::Retention::WithRawCallbackMethod_TruncateAggregate<
    pb::Retention::WithRawCallbackMethod_RemoveAggregate<pb::Retention::WithRawCallbackMethod_EraseSubject<
        pb::Retention::WithRawCallbackMethod_ApplyRetention<pb::Retention::WithRawCallbackMethod_SetRetentionPolicy<
            pb::Retention::WithRawCallbackMethod_DropRetentionPolicy<
                pb::Retention::WithRawCallbackMethod_ListRetentionPolicies<
                    pb::Retention::WithRawCallbackMethod_ReadRetentionLog<Base>>>>>>>>;

class RetentionService final : public RawRetention<pb::Retention::Service> {
 public:
  using Context = grpc::CallbackServerContext;
  using Bytes = grpc::ByteBuffer;

  explicit RetentionService(Calls& calls) : calls_(calls) {}

  grpc::ServerWriteReactor<Bytes>* TruncateAggregate(Context* context, const Bytes* in) override;
  grpc::ServerWriteReactor<Bytes>* RemoveAggregate(Context* context, const Bytes* in) override;
  grpc::ServerWriteReactor<Bytes>* EraseSubject(Context* context, const Bytes* in) override;
  grpc::ServerWriteReactor<Bytes>* ApplyRetention(Context* context, const Bytes* in) override;
  grpc::ServerUnaryReactor* SetRetentionPolicy(Context* context, const Bytes* in, Bytes* out) override;
  grpc::ServerUnaryReactor* DropRetentionPolicy(Context* context, const Bytes* in, Bytes* out) override;
  grpc::ServerUnaryReactor* ListRetentionPolicies(Context* context, const Bytes* in, Bytes* out) override;
  grpc::ServerUnaryReactor* ReadRetentionLog(Context* context, const Bytes* in, Bytes* out) override;

 private:
  /// Errors: unavailable: it is not offered here
  [[nodiscard]] Result<HistoryRetention*> retention() const;
  Calls& calls_;
};

}  // namespace evershard::door
