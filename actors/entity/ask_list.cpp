#include "evershard/actors/entity/ask_list.hpp"

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

void AskList::remove(Ask& ask) {
  const std::unique_ptr<Ask> removed(&ask);
  (ask.previous != nullptr ? ask.previous->next : front_) = ask.next;
  (ask.next != nullptr ? ask.next->previous : back_) = ask.previous;
  --size_;
  bytes_ -= ask.bytes;
}

}  // namespace evershard::actors
