#include "evershard/sharding/heard_leaderships.hpp"

#include <algorithm>
#include <charconv>
#include <utility>

namespace evershard::sharding {
namespace {

Leaderships merged(const Leaderships& one, const Leaderships& other) {
  Leaderships all = one;
  for (const auto& led : other)
    if (std::ranges::find(all, led.epoch, &Leadership::epoch) == all.end()) all.push_back(led);
  std::ranges::sort(all, {}, &Leadership::epoch);
  return newest_of(all, leaderships_told);
}

}  // namespace

std::string text_of(const Leaderships& all) {
  std::string text;
  for (const auto& led : all) {
    if (!led.identity.given()) continue;
    if (!text.empty()) text += ',';
    text += std::to_string(led.epoch.value) + ':' + led.identity.text();
  }
  return text;
}

Result<Leaderships> leaderships_from(std::string_view text) {
  Leaderships all;
  while (!text.empty()) {
    const auto one = text.substr(0, text.find(','));
    text.remove_prefix(std::min(one.size() + 1, text.size()));
    std::uint64_t epoch = 0;
    const auto [rest, error] = std::from_chars(one.data(), one.data() + one.size(), epoch);
    const auto at = static_cast<std::size_t>(rest - one.data());
    const auto identity = error == std::errc{} && at < one.size() && one[at] == ':' ? EventId::parse(one.substr(at + 1))
                                                                                    : std::optional<EventId>();
    if (!identity || epoch == 0 || (!all.empty() && all.back().epoch.value >= epoch) || all.size() == leaderships_kept)
      return refuse(ErrorCode::invalid_argument, "leaderships are EPOCH:IDENTITY,EPOCH:IDENTITY, epochs ascending");
    all.push_back({Epoch{epoch}, *identity});
  }
  return all;
}

Result<void> check_heard(const Leaderships& heard, const Leaderships& there) {
  if (heard.empty() || there.empty()) return {};
  for (const auto& led : there) {
    const auto known = leader_of(heard, led.epoch);
    if (!known.given() || known == led.identity) continue;
    return refuse(ErrorCode::fenced, "epoch " + std::to_string(led.epoch.value) + " was led by " + led.identity.text() +
                                         " for this node, and by " + known.text() +
                                         " for nodes that answered this client before: there are two coordinators on "
                                         "copies of one cut log, and two histories");
  }
  if (there.back().epoch >= heard.back().epoch) return {};
  return refuse(ErrorCode::unavailable,
                "this node follows the coordinator of epoch " + std::to_string(there.back().epoch.value) +
                    ", and this client was answered under epoch " + std::to_string(heard.back().epoch.value) +
                    ": it has not heard of the newer coordinator yet");
}

Result<void> HeardLeaderships::hear(std::string_view led) {
  if (led.empty() || led == last_) return {};
  const auto said = leaderships_from(led);
  if (!said) return refuse(said.error());
  EVERSHARD_TRY(check_heard(heard_, *said));
  last_ = led;
  heard_ = merged(heard_, *said);
  text_ = text_of(heard_);
  return {};
}

}  // namespace evershard::sharding
