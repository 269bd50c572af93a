#include "evershard/cluster/peers/key_links.hpp"

#include <memory>
#include <utility>

#include "evershard/cluster/peers/key_messages.hpp"

namespace evershard::cluster {
namespace {

/// Whoever does not answer by then has lost what it was lent.
constexpr std::chrono::milliseconds forget_time = std::chrono::seconds(10);

}  // namespace

void KeyLinks::ask(KeysAsked asked, std::chrono::milliseconds time, KeysDone done) {
  links_.request(node_of(coordinator_on_links), PeerKind::keys, encode(asked), time,
                 [done = std::move(done)](Result<std::string> bytes) {
                   if (bytes) return done(decode_keys_answered(*bytes));
                   // Said of a kind that it does not know.
                   if (bytes.error().code == ErrorCode::invalid_argument) return done(KeysAnswered{.no_keys = true});
                   done(refuse(std::move(bytes).error()));
                 });
}

void KeyLinks::serve(CoordinatorKeys& keys) {
  links_.when_coordinator_is_there([&keys] { keys.look_again(); });
  links_.serve(PeerKind::keys_forget, [&keys](LinkRequest request) {
    if (request.from != coordinator_on_links)
      return request.reply(refuse(ErrorCode::invalid_argument, "only the coordinator has keys forgotten"));
    const auto forget = decode_keys_forget(request.bytes);
    if (!forget) return request.reply(refuse(forget.error()));
    request.reply(encode(keys.forget(*forget)));
  });
}

HaveForgotten have_forgotten_over(CoordinatorLinks& links) {
  return [&links](std::uint32_t node, const KeysForget& what, std::function<void(Result<KeysForgotten>)> done) {
    links.request(node, PeerKind::keys_forget, encode(what), forget_time,
                  [done = std::move(done)](Result<std::string> bytes) {
                    done(bytes ? decode_keys_forgotten(*bytes) : refuse(std::move(bytes).error()));
                  });
  };
}

void serve_keys(CoordinatorLinks& links, KeyKeeper& keeper) {
  links.serve(PeerKind::keys, [&keeper](LinkRequest request) {
    auto asked = decode_keys_asked(request.bytes);
    if (!asked) return request.reply(refuse(std::move(asked).error()));
    auto reply = std::make_shared<LinkReply>(std::move(request.reply));
    keeper.answer(node_of(request.from), *std::move(asked), [reply](const Result<KeysAnswered>& answered) {
      answered ? (*reply)(encode(*answered)) : (*reply)(refuse(answered.error()));
    });
  });
}

}  // namespace evershard::cluster
