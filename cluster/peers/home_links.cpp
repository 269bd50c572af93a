#include "evershard/cluster/peers/home_links.hpp"

#include <algorithm>
#include <chrono>
#include <memory>
#include <utility>

#include "evershard/cluster/peers/home_messages.hpp"

namespace evershard::cluster {
namespace {

// The other node answers when the time is over: its answer has so long to arrive.
constexpr std::chrono::milliseconds home_answer_time = std::chrono::seconds(1);

}  // namespace

Result<HomeAnswered> home_outcome(std::uint32_t node, Result<std::string> bytes) {
  if (bytes) {
    auto answered = decode_home_answered(*bytes);
    // An answer that cannot be read was one: what it was is not known.
    if (!answered)
      return refuse(ErrorCode::timeout, "the outcome is unknown: node " + std::to_string(node) +
                                            " answered what cannot be read: " + answered.error().what);
    return answered;
  }
  auto error = std::move(bytes).error();
  // Said by NodeLinks of a kind that it does not know, and by nobody else.
  if (error.code != ErrorCode::invalid_argument) return refuse(std::move(error));
  return HomeAnswered{HomeAnswered::Kind::failed,
                      {},
                      {ErrorCode::unavailable,
                       "node " + std::to_string(node) + ", where its home is, is of an older release: " + error.what}};
}

void HomeLinks::ask(std::uint32_t node, HomeAsked asked, HomeDone done) {
  const auto time = asked.time + home_answer_time;
  const auto encoded = [&asked](std::uint64_t read) { return asked.read = read, encode(asked); };
  links_.request_read(node, PeerKind::home, encoded, time, [node, done = std::move(done)](Result<std::string> bytes) {
    done(home_outcome(node, std::move(bytes)));
  });
}

void HomeLinks::serve(HomeCalls& homes) {
  links_.serve(PeerKind::home, [this, &homes](LinkRequest request) {
    auto asked = decode_home_asked(request.bytes);
    if (!asked) return request.reply(refuse(std::move(asked).error()));
    // It may have waited on the way.
    const auto left =
        std::chrono::ceil<std::chrono::milliseconds>(request.deadline - home_answer_time - LinkTime::clock::now());
    asked->time = std::clamp(left, std::chrono::milliseconds(0), asked->time);
    auto reply = std::make_shared<LinkReply>(std::move(request.reply));
    auto read = asked->read == 0 ? nullptr : links_.reads().begin(node_of(request.from), asked->read, request.deadline);
    homes.answer(
        std::move(*asked),
        [reply](const Result<HomeAnswered>& answered) {
          answered ? (*reply)(encode(*answered)) : (*reply)(refuse(answered.error()));
        },
        std::move(read));
  });
}

}  // namespace evershard::cluster
