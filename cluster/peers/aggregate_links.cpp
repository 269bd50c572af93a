#include "evershard/cluster/peers/aggregate_links.hpp"

#include <algorithm>
#include <chrono>
#include <memory>
#include <utility>

#include "evershard/cluster/peers/aggregate_messages.hpp"

namespace evershard::cluster {
namespace {

// The other node answers when the time is over: its answer has so long to arrive.
constexpr std::chrono::milliseconds answer_time = std::chrono::seconds(1);

}  // namespace

void AggregateLinks::ask(std::uint32_t node, AggregateAsked asked, AggregateDone done) {
  const auto time = asked.time + answer_time;
  links_.request(node, PeerKind::aggregate, encode(asked), time, [done = std::move(done)](Result<std::string> bytes) {
    auto answered =
        bytes ? decode_aggregate_answered(*bytes) : Result<AggregateAnswered>(refuse(std::move(bytes).error()));
    if (answered) return done(std::move(*answered));
    // An answer that cannot be read was one: what it was is not known.
    auto error = std::move(answered).error();
    if (error.code == ErrorCode::corruption) error.code = ErrorCode::timeout;
    done({AnyAnswer::failed(std::move(error)), PayloadFormat::unspecified});
  });
}

void AggregateLinks::serve(ClusterAggregates& aggregates) {
  links_.serve(PeerKind::aggregate, [&aggregates](LinkRequest request) {
    auto asked = decode_aggregate_asked(request.bytes);
    if (!asked) return request.reply(refuse(std::move(asked).error()));
    // It may have waited on the way.
    const auto left =
        std::chrono::ceil<std::chrono::milliseconds>(request.deadline - answer_time - LinkTime::clock::now());
    asked->time = std::clamp(left, std::chrono::milliseconds(0), asked->time);
    auto reply = std::make_shared<LinkReply>(std::move(request.reply));
    aggregates.answer(std::move(*asked), [reply](const AggregateAnswered& answered) { (*reply)(encode(answered)); });
  });
}

}  // namespace evershard::cluster
