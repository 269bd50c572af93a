// ServiceOf: a service of the door as a table. A row is a call: its name, who may ask for it, what answers it.

#pragma once

#include <google/protobuf/descriptor.h>

#include <algorithm>
#include <cstring>
#include <memory>
#include <utility>
#include <vector>

#include "evershard/api/calls/call.hpp"
#include "evershard/doors/grpc/work_call.hpp"
#include "evershard/protocol/check.hpp"
#include "evershard/v1/service.grpc.pb.h"  // with gRPC's handlers, wherever its version keeps them

namespace evershard::door {

/// A call as the .proto names it, and as the metrics count it where that is another word.
struct CallName {
  CallName(const char* name, const char* counted_as = nullptr)
      : call(name), counted(counted_as != nullptr ? counted_as : name) {}
  const char* call;
  const char* counted;
};

/// A call that says itself what answers it.
template <class Interface, class Offered>
class CallWork final : public PoolWork {
 public:
  CallWork(EventStore& store, const calls::CallOf<Interface>& call, Offered offered)
      : store_(store),
        call_(call),
        offered_(std::move(offered)),
        request_(call.request()),
        response_(call.response()) {}
  google::protobuf::Message& request() override { return *request_; }
  const google::protobuf::Message& response() const override { return *response_; }
  bool waits() const override { return call_.waits; }
  const pb::AtLeast* at_least() const override { return call_.at_least(*request_); }
  Result<void> answer(const serving::Caller&, std::chrono::milliseconds wait) override {
    const Result<Interface*> interface = offered_();
    if (!interface) return refuse(interface.error());
    if (call_.shows_head && at_least() == nullptr) {  // else each look would wait for what came meanwhile
      const auto head = store_.head();
      if (!head) return refuse(head.error());
      call_.mutable_at_least(*request_)->set_position(head->value);
    }
    response_->Clear();
    return call_.answer(**interface, *request_, *response_, wait);
  }

 private:
  EventStore& store_;
  const calls::CallOf<Interface>& call_;
  Offered offered_;
  const std::unique_ptr<google::protobuf::Message> request_, response_;
};

/// The constructor of a service writes one row for each of its calls. A row takes bytes and gives bytes: a message that
/// is none is answered INVALID_ARGUMENT, which generated code would not.
///
/// Shape: `Of`: what protoc makes of a service, as pb::Administration
template <class Of>
class ServiceOf : public Of::Service {
 public:
  /// Whether every call of the .proto has its row.
  [[nodiscard]] bool is_complete() const {
    return std::all_of(rows_.begin(), rows_.end(), [](bool there) { return there; });
  }

 protected:
  using Context = grpc::CallbackServerContext;
  using Bytes = grpc::ByteBuffer;
  using Counted = serving::MethodMetrics;
  using Scope = serving::Scope;

  explicit ServiceOf(Calls& calls)
      : calls_(calls),
        is_(*google::protobuf::DescriptorPool::generated_pool()->FindServiceByName(Of::service_full_name())),
        rows_(static_cast<std::size_t>(is_.method_count()), false) {}

  /// Answered from the pool, for who has `scope`.
  ///
  /// Shape: `answer`: as answer_from_pool() has it
  template <class Request, class Response, class Answer>
  void answers(CallName name, Scope scope, Answer answer) {
    check_messages<Request, Response>(name);
    unary(name,
          [this, scope, answer = std::move(answer)](Counted& counted, Context* context, const Bytes* in, Bytes* out) {
            return answer_from_pool<Request, Response>(calls_, counted, context, in, out, scope, answer);
          });
  }

  /// The calls of an interface, each as its row says.
  ///
  /// Shape: `offered`: Result<Interface*>(); why there is none here
  template <class Interface, class Offered>
  void offers(const calls::Calls<Interface>& rows, Offered offered) {
    for (const auto* row : rows) {
      const CallName name(std::strrchr(row->name.path, '/') + 1, row->name.counted);
      check_messages(name, *row->request()->GetDescriptor(), *row->response()->GetDescriptor());
      unary(name, [this, row, offered](Counted& counted, Context* context, const Bytes* in, Bytes* out) {
        auto work = std::make_unique<CallWork<Interface, Offered>>(calls_.served.store, *row, offered);
        return std::make_shared<PoolAnswer>(calls_, counted, context, out, row->scope, std::move(work))
            ->begin(*in, row->scope);
      });
    }
  }

  /// Long work, for clients with the scope `admin`. The call reports its progress.
  ///
  /// Shape: `work`: Result<Response>(Request&, const Progress&); Response has a WorkProgress `progress`
  template <class Request, class Response, class Work>
  void works(CallName name, Work work) {
    gives<Request, Response>(name, [work = std::move(work)](Request& request, const Progress& progress, const auto&) {
      return work(request, progress);
    });
  }
  /// The same for work that gives further messages beside its result.
  ///
  /// Shape: `work`: as WorkCall::Work
  template <class Request, class Response, class Work>
  void gives(CallName name, Work work) {
    check_messages<Request, Response>(name);
    pages(name, [this, work = std::move(work)](Counted& counted, Context* context, const Bytes* in) {
      return WorkCall<Request, Response>::start(calls_, counted, context, in, work);
    });
  }

  /// Calls that are answered in a way of their own.
  ///
  /// Shape: `start`: grpc::ServerUnaryReactor*(Counted&, Context*, const Bytes* in, Bytes* out)
  template <class Start>
  void unary(CallName name, Start start) {
    row(name, false, false,
        new grpc::internal::CallbackUnaryHandler<Bytes, Bytes>(
            [&counted = counted_as(name), start = std::move(start)](Context* context, const Bytes* in, Bytes* out) {
              return start(counted, context, in, out);
            }));
  }
  /// Shape: `start`: grpc::ServerWriteReactor<Bytes>*(Counted&, Context*, const Bytes* in)
  template <class Start>
  void pages(CallName name, Start start) {
    row(name, false, true,
        new grpc::internal::CallbackServerStreamingHandler<Bytes, Bytes>(
            [&counted = counted_as(name), start = std::move(start)](Context* context, const Bytes* in) {
              return start(counted, context, in);
            }));
  }
  /// Shape: `start`: grpc::ServerReadReactor<Bytes>*(Counted&, Context*, Bytes* out)
  template <class Start>
  void gathers(CallName name, Start start) {
    row(name, true, false,
        new grpc::internal::CallbackClientStreamingHandler<Bytes, Bytes>(
            [&counted = counted_as(name), start = std::move(start)](Context* context, Bytes* out) {
              return start(counted, context, out);
            }));
  }
  /// Shape: `start`: grpc::ServerBidiReactor<Bytes, Bytes>*(Counted&, Context*)
  template <class Start>
  void both_ways(CallName name, Start start) {
    row(name, true, true,
        new grpc::internal::CallbackBidiHandler<Bytes, Bytes>(
            [&counted = counted_as(name), start = std::move(start)](Context* context) {
              return start(counted, context);
            }));
  }

  Calls& calls_;

 private:
  [[nodiscard]] const google::protobuf::MethodDescriptor& method_of(CallName name) const {
    const auto* method = is_.FindMethodByName(name.call);
    EVERSHARD_CHECK(method != nullptr, "a row of a service names a call that its .proto does not have");
    return *method;
  }
  template <class Request, class Response>
  void check_messages(CallName name) const {
    check_messages(name, *Request::descriptor(), *Response::descriptor());
  }
  void check_messages(CallName name, const google::protobuf::Descriptor& request,
                      const google::protobuf::Descriptor& response) const {
    const auto& method = method_of(name);
    EVERSHARD_CHECK(method.input_type() == &request && method.output_type() == &response,
                    "a row of a service has other messages than its .proto");
  }
  /// Looked up once: that takes a lock.
  [[nodiscard]] Counted& counted_as(CallName name) {
    return calls_.served.metrics->method(calls_.speaks, name.counted);
  }

  /// As generated code does it: WithRawCallbackMethod_.
  void row(CallName name, bool client_streams, bool server_streams, grpc::internal::MethodHandler* handler) {
    const auto& method = method_of(name);
    EVERSHARD_CHECK(method.client_streaming() == client_streams && method.server_streaming() == server_streams,
                    "a row of a service streams where its .proto does not, or the other way round");
    this->MarkMethodRawCallback(method.index(), handler);
    rows_[static_cast<std::size_t>(method.index())] = true;
  }

  const google::protobuf::ServiceDescriptor& is_;
  std::vector<bool> rows_;
};

/// A service that is the calls of an interface and nothing else.
template <class Of, class Interface>
class OfferedService final : public ServiceOf<Of> {
 public:
  /// `none`: why it is not offered where there is none.
  OfferedService(Calls& calls, const calls::Calls<Interface>& rows, Interface* serving::Served::*offered,
                 const char* none)
      : ServiceOf<Of>(calls) {
    this->offers(rows, [&calls, offered, none]() -> Result<Interface*> {
      if (calls.served.*offered == nullptr) return refuse(ErrorCode::unavailable, none);
      return calls.served.*offered;
    });
  }
};

}  // namespace evershard::door
