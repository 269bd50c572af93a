// The service evershard.v1.Tables.

#pragma once

#include "evershard/doors/grpc/calls.hpp"
#include "evershard/v1/tables.grpc.pb.h"

namespace evershard::door {

template <class Base>
using RawTables = pb::Tables::WithRawCallbackMethod_Select<pb::Tables::WithRawCallbackMethod_Explain<
    pb::Tables::WithRawCallbackMethod_DescribeTable<pb::Tables::WithRawCallbackMethod_ListTables<
        pb::Tables::WithRawCallbackMethod_ListParkedRows<pb::Tables::WithRawCallbackMethod_SettleParkedRows<Base>>>>>>;

class TablesService final : public RawTables<pb::Tables::Service> {
 public:
  using Context = grpc::CallbackServerContext;
  using Bytes = grpc::ByteBuffer;

  explicit TablesService(Calls& calls) : calls_(calls) {}

  grpc::ServerUnaryReactor* Select(Context* context, const Bytes* in, Bytes* out) override;
  grpc::ServerUnaryReactor* Explain(Context* context, const Bytes* in, Bytes* out) override;
  grpc::ServerUnaryReactor* DescribeTable(Context* context, const Bytes* in, Bytes* out) override;
  grpc::ServerUnaryReactor* ListTables(Context* context, const Bytes* in, Bytes* out) override;
  grpc::ServerUnaryReactor* ListParkedRows(Context* context, const Bytes* in, Bytes* out) override;
  grpc::ServerUnaryReactor* SettleParkedRows(Context* context, const Bytes* in, Bytes* out) override;

 private:
  Calls& calls_;
};

}  // namespace evershard::door
