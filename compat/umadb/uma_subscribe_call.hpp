// A subscription of UmaDB's: events alone, without word of anything else.

#pragma once

#include "evershard/compat/umadb/words/uma_pages.hpp"
#include "evershard/doors/grpc/subscribe_call.hpp"

namespace evershard::umadb {

class UmaSubscribeCall final : public door::SubscribeCall {
 public:
  using SubscribeCall::SubscribeCall;

 protected:
  Result<bool> begin(grpc::CallbackServerContext* context, const grpc::ByteBuffer& in) override;
  std::optional<grpc::ByteBuffer> message_of(const FeedItem& item, GlobalPosition at) override;

 private:
  RecordedView view_;
  UmaResponse response_;
};

}  // namespace evershard::umadb
