#include "evershard/actors/entity/idle_order.hpp"

#include <algorithm>

namespace evershard::actors {

void IdleOrder::add(IdleLinks& element, SteadyTime now) {
  element.since = now;
  if (!element.used_again) {
    element.used_again = true;
    element.segment = IdleLinks::Segment::probation;
    return put(probation_, element);
  }
  element.segment = IdleLinks::Segment::kept;
  put(kept_, element);
  if (kept_.size <= kept_max_) return;
  IdleLinks& back = *kept_.oldest;
  take(kept_, back);
  back.segment = IdleLinks::Segment::probation;
  put(probation_, back);
}

void IdleOrder::remove(IdleLinks& element) {
  if (element.segment == IdleLinks::Segment::none) return;
  take(element.segment == IdleLinks::Segment::kept ? kept_ : probation_, element);
  element.segment = IdleLinks::Segment::none;
}

IdleLinks* IdleOrder::idle_since(SteadyTime before) const {
  if (probation_.oldest != nullptr && probation_.oldest->since <= before) return probation_.oldest;
  if (kept_.oldest != nullptr && kept_.oldest->since <= before) return kept_.oldest;
  return nullptr;
}

SteadyTime IdleOrder::oldest() const {
  SteadyTime oldest = never;
  if (probation_.oldest != nullptr) oldest = probation_.oldest->since;
  if (kept_.oldest != nullptr) oldest = std::min(oldest, kept_.oldest->since);
  return oldest;
}

void IdleOrder::put(List& list, IdleLinks& element) {
  element.newer = nullptr;
  element.older = list.newest;
  (list.newest != nullptr ? list.newest->newer : list.oldest) = &element;
  list.newest = &element;
  ++list.size;
}

void IdleOrder::take(List& list, IdleLinks& element) {
  (element.newer != nullptr ? element.newer->older : list.newest) = element.older;
  (element.older != nullptr ? element.older->newer : list.oldest) = element.newer;
  --list.size;
}

}  // namespace evershard::actors
