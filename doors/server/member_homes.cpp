#include "evershard/doors/server/member_homes.hpp"

#include <utility>

namespace evershard::server {
namespace {

using Again = cluster::HomeCalls::Again;

serving::Homes::Asked asked_by(const cluster::HomeCall& call, const std::string& method) {
  return {method, call.aggregate, call.request,
          std::chrono::ceil<std::chrono::milliseconds>(call.deadline - std::chrono::steady_clock::now())};
}

cluster::HomeAsked home_asked(serving::Homes::Asked asked) {
  return {std::move(asked.method), std::move(asked.aggregate), std::move(asked.request), asked.time};
}

}  // namespace

void MemberHomes::serve(std::string method, Handler handler) {
  auto served = [method, handler = std::move(handler)](const cluster::HomeCall& call) {
    return handler(asked_by(call, method));
  };
  calls_.serve(std::move(method), std::move(served));
}

void MemberHomes::serve_later(std::string method, LateHandler handler) {
  auto served = [method, handler = std::move(handler)](const cluster::HomeCall& call,
                                                       std::function<void(Result<std::string>)> done) {
    handler(asked_by(call, method), std::move(done));
  };
  calls_.serve_later(std::move(method), std::move(served));
}

Result<std::string> MemberHomes::call(Asked asked, bool may_repeat) {
  return calls_.call(home_asked(std::move(asked)), may_repeat ? Again::always : Again::not_done);
}

void MemberHomes::ask(Asked asked, Done done) {
  calls_.ask_once(home_asked(std::move(asked)), [done = std::move(done)](Result<cluster::HomeAnswered> outcome) {
    if (!outcome) return done(refuse(std::move(outcome).error()));
    if (outcome->kind == cluster::HomeAnswered::Kind::answered) return done(std::move(outcome->response));
    done(refuse(std::move(outcome->error)));
  });
}

Result<std::uint64_t> MemberHomes::term(const AggregateId& aggregate) {
  const auto epoch = calls_.epoch(aggregate);
  if (!epoch) return refuse(ErrorCode::wrong_shard, "its home is not this node");
  return epoch->value;
}

void MemberHomes::watch(std::function<void()> changed) {
  if (!changed) return calls_.watch(this, {});
  calls_.watch(this, [changed = std::move(changed)](const cluster::NodeCommitter::OpenShards&) { changed(); });
}

}  // namespace evershard::server
