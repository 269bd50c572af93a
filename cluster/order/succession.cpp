#include "evershard/cluster/order/succession.hpp"

#include <algorithm>
#include <utility>

namespace evershard::cluster {

Succession::Succession(SuccessionOptions options, Time now, std::uint64_t random)
    : options_(std::move(options)), rested_at_(now), rest_(options_.rest_min) {
  lead_after(std::chrono::milliseconds(0), now, random);
}

void Succession::lead_after(std::chrono::milliseconds wait, Time now, std::uint64_t random) {
  const auto turn = static_cast<std::uint64_t>(options_.turn.count());
  const std::chrono::milliseconds own(turn == 0 ? 0 : random % (turn + 1));
  lead_at_ = std::max(now + wait, rested_at_) + own;
}

void Succession::leader_is(const std::optional<Leader>& leader, Time now, std::uint64_t random) {
  // What is read first may be from before it was lost.
  const bool may_be_old = std::exchange(lost_since_, false);
  if (leader == known_) return;
  const bool only_a_beat = leader && known_ && leader->epoch == known_->epoch && leader->address == known_->address;
  known_ = leader;
  if (only_a_beat) {
    // It leads, and nodes are with it, whether this process reaches it or not.
    if (!reached_ && !may_be_old) lead_after(options_.answer_within, now, random);
    return;
  }
  reached_ = false;
  // Who led at this process's address is this one before it was started again, unless it goes on beating: two were told
  // the same address then.
  const bool is_own = leader && leader->address == options_.own_address;
  follows_ = leader && !leader->address.empty() && !is_own ? std::optional(leader->address) : std::nullopt;
  const auto wait = !leader  ? std::chrono::milliseconds(0)
                    : is_own ? options_.beat_every * 5 / 4
                             : options_.answer_within;
  lead_after(wait, now, random);
}

void Succession::reached() {
  if (follows_) reached_ = true;
}

void Succession::lost(Time now, std::uint64_t random) {
  if (!std::exchange(reached_, false)) return;
  lost_since_ = true;
  lead_after(std::chrono::milliseconds(0), now, random);
}

void Succession::began(Time now) {
  leading_ = true;
  reached_ = false;
  give_way_at_ = now + options_.nodes_within;
}

void Succession::nodes(std::size_t here, bool others_may, Time now) {
  if (!leading_) return;
  if (here > 0) rest_ = options_.rest_min;
  if (here > 0 || !others_may) give_way_at_ = now + options_.nodes_within;
}

void Succession::ended(bool gave_way, Time now, std::uint64_t random) {
  leading_ = false;
  give_way_at_ = Time::max();
  known_.reset();
  follows_.reset();
  if (gave_way) {
    rested_at_ = now + rest_;
    rest_ = std::min(rest_ * 2, options_.rest_max);
  }
  // Somebody else may lead by now: the log says who before it is this one's turn.
  lead_after(options_.answer_within, now, random);
}

}  // namespace evershard::cluster
