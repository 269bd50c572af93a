// The service evershard.v1.Documents.

#pragma once

#include "evershard/doors/grpc/calls.hpp"
#include "evershard/v1/documents.grpc.pb.h"

namespace evershard::door {

template <class Base>
using RawDocuments = pb::Documents::WithRawCallbackMethod_Define<
    pb::Documents::WithRawCallbackMethod_Drop<pb::Documents::WithRawCallbackMethod_Definitions<
        pb::Documents::WithRawCallbackMethod_Describe<pb::Documents::WithRawCallbackMethod_Get<
            pb::Documents::WithRawCallbackMethod_List<pb::Documents::WithRawCallbackMethod_Remove<Base>>>>>>>;

class DocumentsService final : public RawDocuments<pb::Documents::Service> {
 public:
  using Context = grpc::CallbackServerContext;
  using Bytes = grpc::ByteBuffer;

  explicit DocumentsService(Calls& calls) : calls_(calls) {}

  grpc::ServerUnaryReactor* Define(Context* context, const Bytes* in, Bytes* out) override;
  grpc::ServerUnaryReactor* Drop(Context* context, const Bytes* in, Bytes* out) override;
  grpc::ServerUnaryReactor* Definitions(Context* context, const Bytes* in, Bytes* out) override;
  grpc::ServerUnaryReactor* Describe(Context* context, const Bytes* in, Bytes* out) override;
  grpc::ServerUnaryReactor* Get(Context* context, const Bytes* in, Bytes* out) override;
  grpc::ServerUnaryReactor* List(Context* context, const Bytes* in, Bytes* out) override;
  grpc::ServerUnaryReactor* Remove(Context* context, const Bytes* in, Bytes* out) override;

 private:
  /// Errors: unavailable: this process keeps no documents
  [[nodiscard]] Result<Documents*> documents() const;
  Calls& calls_;
};

}  // namespace evershard::door
