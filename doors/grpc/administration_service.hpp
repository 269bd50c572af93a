// The service evershard.v1.Administration.

#pragma once

#include "evershard/doors/grpc/calls.hpp"
#include "evershard/v1/service.grpc.pb.h"

namespace evershard::door {

template <class Base>
using RawAdministration =
    pb::Administration::WithRawCallbackMethod_Stats<pb::Administration::WithRawCallbackMethod_Flush<
        pb::Administration::WithRawCallbackMethod_Verify<pb::Administration::WithRawCallbackMethod_Vacuum<
            pb::Administration::WithRawCallbackMethod_Backup<pb::Administration::WithRawCallbackMethod_ClusterStatus<
                pb::Administration::WithRawCallbackMethod_ClusterAssign<Base>>>>>>>;

class AdministrationService final : public RawAdministration<pb::Administration::Service> {
 public:
  using Context = grpc::CallbackServerContext;
  using Bytes = grpc::ByteBuffer;

  explicit AdministrationService(Calls& calls) : calls_(calls) {}

  grpc::ServerUnaryReactor* Stats(Context* context, const Bytes* in, Bytes* out) override;
  grpc::ServerUnaryReactor* Flush(Context* context, const Bytes* in, Bytes* out) override;
  grpc::ServerWriteReactor<Bytes>* Verify(Context* context, const Bytes* in) override;
  grpc::ServerWriteReactor<Bytes>* Vacuum(Context* context, const Bytes* in) override;
  grpc::ServerWriteReactor<Bytes>* Backup(Context* context, const Bytes* in) override;
  grpc::ServerUnaryReactor* ClusterStatus(Context* context, const Bytes* in, Bytes* out) override;
  grpc::ServerUnaryReactor* ClusterAssign(Context* context, const Bytes* in, Bytes* out) override;

 private:
  Calls& calls_;
};

}  // namespace evershard::door
