// The service evershard.v1.Groups.

#pragma once

#include "evershard/doors/grpc/calls.hpp"
#include "evershard/v1/groups.grpc.pb.h"

namespace evershard::door {

template <class Base>
using RawGroups = pb::Groups::WithRawCallbackMethod_CreateGroup<pb::Groups::WithRawCallbackMethod_ChangeGroup<
    pb::Groups::WithRawCallbackMethod_ResetGroup<pb::Groups::WithRawCallbackMethod_DropGroup<
        pb::Groups::WithRawCallbackMethod_ListGroups<pb::Groups::WithRawCallbackMethod_DescribeGroup<
            pb::Groups::WithRawCallbackMethod_ListParked<pb::Groups::WithRawCallbackMethod_ReplayParked<
                pb::Groups::WithRawCallbackMethod_DiscardParked<pb::Groups::WithRawCallbackMethod_Work<Base>>>>>>>>>>;

class GroupService final : public RawGroups<pb::Groups::Service> {
 public:
  using Context = grpc::CallbackServerContext;
  using Bytes = grpc::ByteBuffer;

  explicit GroupService(Calls& calls) : calls_(calls) {}

  grpc::ServerUnaryReactor* CreateGroup(Context* context, const Bytes* in, Bytes* out) override;
  grpc::ServerUnaryReactor* ChangeGroup(Context* context, const Bytes* in, Bytes* out) override;
  grpc::ServerUnaryReactor* ResetGroup(Context* context, const Bytes* in, Bytes* out) override;
  grpc::ServerUnaryReactor* DropGroup(Context* context, const Bytes* in, Bytes* out) override;
  grpc::ServerUnaryReactor* ListGroups(Context* context, const Bytes* in, Bytes* out) override;
  grpc::ServerUnaryReactor* DescribeGroup(Context* context, const Bytes* in, Bytes* out) override;
  grpc::ServerUnaryReactor* ListParked(Context* context, const Bytes* in, Bytes* out) override;
  grpc::ServerUnaryReactor* ReplayParked(Context* context, const Bytes* in, Bytes* out) override;
  grpc::ServerUnaryReactor* DiscardParked(Context* context, const Bytes* in, Bytes* out) override;
  grpc::ServerBidiReactor<Bytes, Bytes>* Work(Context* context) override;

 private:
  /// Shape: `answer`: Result<void>(Groups&, Request&, Response&)
  template <class Request, class Response, class Answer>
  grpc::ServerUnaryReactor* ask(Method method, Context* context, const Bytes* in, Bytes* out, serving::Scope scope,
                                Answer answer);

  Calls& calls_;
};

/// Of a store that has none. Errors: unavailable
[[nodiscard]] Result<Groups*> groups_of(const Calls& calls);

}  // namespace evershard::door
