// UmaDB's service, under the name it has, and under the one it had.

#pragma once

#include "evershard/compat/umadb/uma_append_call.hpp"
#include "evershard/compat/umadb/uma_read_call.hpp"
#include "evershard/compat/umadb/uma_subscribe_call.hpp"
#include "evershard/compat/umadb/uma_tracking.hpp"
#include "evershard/compat/umadb/words/uma_event.hpp"
#include "evershard/doors/grpc/service_of.hpp"
#include "evershard/umadb/umadb.pb.h"

namespace evershard::umadb {

/// Shape: `Of`: what protoc makes of either
template <class Of>
class UmaService final : public door::ServiceOf<Of> {
  using Base = door::ServiceOf<Of>;
  using typename Base::Bytes;
  using typename Base::Context;
  using typename Base::Counted;
  using typename Base::Scope;

 public:
  explicit UmaService(door::Calls& calls) : Base(calls) {
    namespace pb = ::umadb::v1;
    this->pages("Read", [&calls](Counted& counted, Context* context, const Bytes* in) {
      return UmaReadCall::start<UmaReadCall>(calls, counted, context, in);
    });
    this->pages("Subscribe", [&calls](Counted& counted, Context* context, const Bytes* in) {
      return UmaSubscribeCall::start<UmaSubscribeCall>(calls, counted, context, in);
    });
    this->unary("Append", [&calls](Counted& counted, Context* context, const Bytes* in, Bytes* out) {
      return answer_append(calls, counted, context, in, out);
    });
    this->template answers<pb::HeadRequest, pb::HeadResponse>(
        "Head", Scope::read, [&calls](pb::HeadRequest&, pb::HeadResponse& response) -> Result<void> {
          const auto head = calls.served.store.head();
          if (!head) return refuse(head.error());
          if (head->value != 0) response.set_position(head->value);
          return {};
        });
    this->template answers<pb::TrackingRequest, pb::TrackingResponse>(
        "GetTrackingInfo", Scope::read,
        [&calls](pb::TrackingRequest& request, pb::TrackingResponse& response) -> Result<void> {
          if (!check(Tracking{request.source(), 0})) return {};  // nobody can have tracked it
          const auto newest = newest_tracked(calls.served.store, request.source());
          if (!newest) return refuse(newest.error());
          if (*newest) response.set_position((*newest)->second);
          return {};
        });
  }
};

}  // namespace evershard::umadb
