// The service evershard.v1.EventStore: each call, with what it needs.

#pragma once

#include "evershard/doors/grpc/calls.hpp"
#include "evershard/doors/serving/types_cache.hpp"
#include "evershard/v1/service.grpc.pb.h"

namespace evershard::door {

/// Bytes in, bytes out: a message that is none is answered INVALID_ARGUMENT, which generated code would not.
template <class Base>
using RawEventStore = pb::EventStore::WithRawCallbackMethod_Append<
    pb::EventStore::WithRawCallbackMethod_AppendMany<pb::EventStore::WithRawCallbackMethod_Read<
        pb::EventStore::WithRawCallbackMethod_Subscribe<pb::EventStore::WithRawCallbackMethod_Head<
            pb::EventStore::WithRawCallbackMethod_GetEvent<pb::EventStore::WithRawCallbackMethod_GetAggregate<
                pb::EventStore::WithRawCallbackMethod_ListAggregates<pb::EventStore::WithRawCallbackMethod_GetState<
                    pb::EventStore::WithRawCallbackMethod_PutSnapshot<pb::EventStore::WithRawCallbackMethod_GetSnapshot<
                        pb::EventStore::WithRawCallbackMethod_ListSnapshots<
                            pb::EventStore::WithRawCallbackMethod_GetTypes<
                                pb::EventStore::WithRawCallbackMethod_Members<Base>>>>>>>>>>>>>>;

class EventService final : public RawEventStore<pb::EventStore::Service> {
 public:
  using Context = grpc::CallbackServerContext;
  using Bytes = grpc::ByteBuffer;

  explicit EventService(Calls& calls) : calls_(calls), types_(calls.served.types) {}

  grpc::ServerUnaryReactor* Append(Context* context, const Bytes* in, Bytes* out) override;
  grpc::ServerBidiReactor<Bytes, Bytes>* AppendMany(Context* context) override;
  grpc::ServerWriteReactor<Bytes>* Read(Context* context, const Bytes* in) override;
  grpc::ServerWriteReactor<Bytes>* Subscribe(Context* context, const Bytes* in) override;
  grpc::ServerUnaryReactor* Head(Context* context, const Bytes* in, Bytes* out) override;
  grpc::ServerUnaryReactor* GetEvent(Context* context, const Bytes* in, Bytes* out) override;
  grpc::ServerUnaryReactor* GetAggregate(Context* context, const Bytes* in, Bytes* out) override;
  grpc::ServerUnaryReactor* ListAggregates(Context* context, const Bytes* in, Bytes* out) override;
  grpc::ServerUnaryReactor* GetState(Context* context, const Bytes* in, Bytes* out) override;
  grpc::ServerUnaryReactor* PutSnapshot(Context* context, const Bytes* in, Bytes* out) override;
  grpc::ServerUnaryReactor* GetSnapshot(Context* context, const Bytes* in, Bytes* out) override;
  grpc::ServerUnaryReactor* ListSnapshots(Context* context, const Bytes* in, Bytes* out) override;
  grpc::ServerUnaryReactor* GetTypes(Context* context, const Bytes* in, Bytes* out) override;
  grpc::ServerUnaryReactor* Members(Context* context, const Bytes* in, Bytes* out) override;

 private:
  Calls& calls_;
  serving::TypesCache types_;
};

}  // namespace evershard::door
