#include "evershard/actors/entity/ask_list.hpp"

#include <algorithm>
#include <utility>

namespace evershard::actors {

AskList::~AskList() {
  while (front_ != nullptr) remove(*front_);
}

Ask& AskList::add(std::unique_ptr<Ask> ask) {
  Ask* added = ask.release();
  added->previous = back_;
  (back_ != nullptr ? back_->next : front_) = added;
  back_ = added;
  ++size_;
  bytes_ += added->bytes;
  return *added;
}

void AskList::link_out(Ask& ask) {
  (ask.previous != nullptr ? ask.previous->next : front_) = ask.next;
  (ask.next != nullptr ? ask.next->previous : back_) = ask.previous;
}

void AskList::move_behind(Ask& ask, Ask& before) {
  link_out(ask);
  ask.previous = &before;
  ask.next = before.next;
  (before.next != nullptr ? before.next->previous : back_) = &ask;
  before.next = &ask;
  ask.order = std::max(ask.order, before.order);
}

void AskList::remove(Ask& ask) {
  const std::unique_ptr<Ask> removed(&ask);
  link_out(ask);
  --size_;
  bytes_ -= ask.bytes;
}

}  // namespace evershard::actors
