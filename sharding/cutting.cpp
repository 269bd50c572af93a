#include "evershard/sharding/cutting.hpp"

#include <algorithm>

#include "evershard/protocol/check.hpp"

namespace evershard::sharding {

void Reports::place(CutBuilder& builder, std::uint32_t cuts_held_max) {
  std::sort(active_.begin(), active_.end());
  Cutting cutting(*this, builder);
  cutting.hold(cuts_held_max);
  cutting.queue();
  cutting.emit();
  cutting.clear();
  cut_asked_ = false;
}

void Reports::Cutting::hold(std::uint32_t cuts_held_max) {
  for (const ShardId id : reports_.active_) shard(id).limit = shard(id).end;
  if (reports_.several_.empty()) return;
  for (auto& [id, several] : reports_.several_) {
    several->refused = !several->complete() && several->cuts_held >= cuts_held_max;
    if (!several->complete() && !several->refused) ++several->cuts_held;
  }
  // What stands behind a held part waits too, and with it the siblings of the parts there.
  for (bool again = true; again;) {
    again = false;
    for (const ShardId id : reports_.active_) {
      for (const Waiting& waiting : shard(id).waiting) {
        if (waiting.first >= shard(id).limit) break;
        if (waiting.several == nullptr || waiting.several->refused || within_limits(*waiting.several)) continue;
        shard(id).limit = waiting.first;
        again = true;
        break;
      }
    }
  }
}

bool Reports::Cutting::within_limits(const Several& several) {
  return std::all_of(several.parts.begin(), several.parts.end(),
                     [&](const Several::Part& part) { return part.reported && part.first < shard(part.shard).limit; });
}

void Reports::Cutting::queue() {
  if (reports_.several_.empty()) return;
  for (const ShardId id : reports_.active_) {
    for (const Waiting& waiting : shard(id).waiting) {
      if (waiting.first >= shard(id).limit) break;
      if (waiting.several != nullptr && !waiting.several->refused) shard(id).queue.push_back(waiting.several);
    }
  }
  for (const ShardId id : reports_.active_) come_to_head(shard(id));
}

void Reports::Cutting::come_to_head(Shard& shard) {
  while (shard.head != shard.queue.size() && shard.queue[shard.head]->refused) ++shard.head;
  if (shard.head == shard.queue.size()) return;
  Several* several = shard.queue[shard.head];
  if (++several->heads == several->parts.size()) ready_.push_back(several);
}

void Reports::Cutting::emit() {
  for (;;) {
    if (!ready_.empty()) {
      Several& several = *ready_.front();
      ready_.pop_front();
      emit_several(several);
      take_from_queues(several);
    } else if (Several* several = blocked()) {
      Several& refused = crossing(*several);
      refused.refused = true;
      take_from_queues(refused);
    } else {
      break;
    }
  }
  for (const ShardId id : reports_.active_) emit_until(id, shard(id).limit);
}

void Reports::Cutting::take_from_queues(Several& several) {
  for (const Several::Part& part : several.parts) {
    Shard& on = shard(part.shard);
    if (on.queue[on.head] != &several) continue;  // refused: passed over when it comes to the head
    ++on.head;
    come_to_head(on);
  }
}

// Somebody at the head of a queue, while nobody is ready.
Reports::Several* Reports::Cutting::blocked() {
  for (; first_blocked_ != reports_.active_.size(); ++first_blocked_) {
    Shard& on = shard(reports_.active_[first_blocked_]);
    if (on.head != on.queue.size()) return on.queue[on.head];
  }
  return nullptr;
}

// From one who waits to whom it waits for, until one comes again: that one stands in a ring, and one of a ring must go.
Reports::Several& Reports::Cutting::crossing(Several& from) {
  std::vector<Several*> walk;
  Several* at = &from;
  while (!at->walked) {
    at->walked = true;
    walk.push_back(at);
    for (const Several::Part& part : at->parts) {
      Several* ahead = shard(part.shard).queue[shard(part.shard).head];
      if (ahead != at) {
        at = ahead;
        break;
      }
    }
  }
  for (Several* several : walk) several->walked = false;
  return *at;
}

void Reports::Cutting::emit_until(ShardId id, ShardOffset until) {
  Shard& on = shard(id);
  for (; on.next != on.waiting.size() && on.waiting[on.next].first < until; ++on.next) {
    const Waiting& waiting = on.waiting[on.next];
    bool placed = false;
    if (waiting.several != nullptr) {
      EVERSHARD_CHECK(waiting.several->refused, "a part is placed with its siblings or refused (I-Atomic)");
    } else {
      placed = stands(on, waiting) && builder_.judge(waiting.append.conditions).kind == Verdict::Kind::placed;
    }
    if (!placed) remember_refused(on, waiting);
    for (std::size_t i = 0; i != waiting.append.events; ++i) emit_event(id, waiting.append, i, placed);
  }
}

// Everything before its parts first, then its events together, with one verdict at the first one's place.
void Reports::Cutting::emit_several(Several& several) {
  for (const Several::Part& part : several.parts) emit_until(part.shard, part.first);
  const bool all_stand = std::ranges::all_of(several.parts, [&](const Several::Part& part) {
    const Shard& on = shard(part.shard);
    return stands(on, on.waiting[on.next]);
  });
  const bool placed = all_stand && builder_.judge(several.conditions).kind == Verdict::Kind::placed;
  for (const auto& [id, events] : several.runs) {
    Several::Part& part = several.part(id);
    const Waiting& waiting = shard(id).waiting[shard(id).next];
    EVERSHARD_CHECK(waiting.several == &several, "a part is the next of its shard once all before it is emitted");
    if (!placed && part.emitted == 0) remember_refused(shard(id), waiting);
    for (std::uint32_t i = 0; i != events; ++i) emit_event(id, waiting.append, part.emitted++, placed);
  }
  for (const Several::Part& part : several.parts) ++shard(part.shard).next;
}

// What it builds on lies before it in its shard, so it has its verdict: of this cut, or of one before.
bool Reports::Cutting::stands(const Shard& on, const Waiting& waiting) {
  return std::all_of(waiting.append.builds_on.begin(), waiting.append.builds_on.end(), [&](ShardOffset base) {
    return base > on.forgotten && base < waiting.first &&
           !std::binary_search(on.refused.begin(), on.refused.end(), base);
  });
}

void Reports::Cutting::remember_refused(Shard& on, const Waiting& waiting) {
  on.refused.push_back(waiting.first);
  if (on.refused.size() <= refused_max) return;
  on.forgotten = on.refused.front();
  on.refused.pop_front();
}

void Reports::Cutting::emit_event(ShardId id, const ReportedAppend& append, std::size_t event, bool placed) {
  if (!placed) {
    builder_.refuse(id);
  } else if (append.terms.empty()) {
    builder_.place_unknown(id);
  } else {
    builder_.place(id, append.terms[event]);
  }
}

void Reports::Cutting::clear() {
  for (auto& [id, several] : reports_.several_) {
    several->refused = false;
    several->heads = 0;
  }
  for (const ShardId id : reports_.active_) {
    Shard& on = shard(id);
    const auto emitted = on.waiting.begin() + static_cast<std::ptrdiff_t>(on.next);
    for (auto waiting = on.waiting.begin(); waiting != emitted; ++waiting) {
      if (waiting->several != nullptr) reports_.leave(*waiting->several, id);
    }
    on.waiting.erase(on.waiting.begin(), emitted);
    on.next = on.head = 0;
    on.queue.clear();
  }
  std::erase_if(reports_.active_, [&](ShardId id) { return shard(id).waiting.empty(); });
}

}  // namespace evershard::sharding
