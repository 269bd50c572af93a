// The service evershard.v1.Projections.

#pragma once

#include "evershard/doors/grpc/calls.hpp"
#include "evershard/v1/projections.grpc.pb.h"

namespace evershard::door {

template <class Base>
using RawProjectionDefinitions =
    pb::Projections::WithRawCallbackMethod_CreateIndex<pb::Projections::WithRawCallbackMethod_CreateValueIndex<
        pb::Projections::WithRawCallbackMethod_CreateProjection<pb::Projections::WithRawCallbackMethod_ChangeProjection<
            pb::Projections::WithRawCallbackMethod_AskProjection<Base>>>>>;
template <class Base>
using RawProjectionReads =
    pb::Projections::WithRawCallbackMethod_ListProjections<pb::Projections::WithRawCallbackMethod_DescribeProjection<
        pb::Projections::WithRawCallbackMethod_ReadIndex<pb::Projections::WithRawCallbackMethod_ReadValues<
            pb::Projections::WithRawCallbackMethod_WaitForProjection<Base>>>>>;

class ProjectionsService final : public RawProjectionDefinitions<RawProjectionReads<pb::Projections::Service>> {
 public:
  using Context = grpc::CallbackServerContext;
  using Bytes = grpc::ByteBuffer;

  explicit ProjectionsService(Calls& calls) : calls_(calls) {}

  grpc::ServerUnaryReactor* CreateIndex(Context* context, const Bytes* in, Bytes* out) override;
  grpc::ServerUnaryReactor* CreateValueIndex(Context* context, const Bytes* in, Bytes* out) override;
  grpc::ServerUnaryReactor* CreateProjection(Context* context, const Bytes* in, Bytes* out) override;
  grpc::ServerUnaryReactor* ChangeProjection(Context* context, const Bytes* in, Bytes* out) override;
  grpc::ServerUnaryReactor* AskProjection(Context* context, const Bytes* in, Bytes* out) override;
  grpc::ServerUnaryReactor* ListProjections(Context* context, const Bytes* in, Bytes* out) override;
  grpc::ServerUnaryReactor* DescribeProjection(Context* context, const Bytes* in, Bytes* out) override;
  grpc::ServerUnaryReactor* ReadIndex(Context* context, const Bytes* in, Bytes* out) override;
  grpc::ServerUnaryReactor* ReadValues(Context* context, const Bytes* in, Bytes* out) override;
  grpc::ServerUnaryReactor* WaitForProjection(Context* context, const Bytes* in, Bytes* out) override;

 private:
  Calls& calls_;
};

}  // namespace evershard::door
