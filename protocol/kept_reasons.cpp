#include "evershard/protocol/kept_reasons.hpp"

#include "evershard/protocol/kept_reason.hpp"

namespace evershard {
namespace {

constexpr std::string_view no_room = "(there is no room for more different reasons)";

}  // namespace

KeptReasons::Id KeptReasons::add(std::string_view reason) {
  if (reason.empty()) return 0;
  auto text = kept_reason(reason);
  if (!ids_.contains(text) && bytes_ + text.size() > bytes_max_) text = no_room;
  auto& id = ids_[text];
  if (id == 0) {
    id = ++last_;
    bytes_ += text.size();
    reasons_[id].text = std::move(text);
  }
  ++reasons_[id].users;
  return id;
}

void KeptReasons::remove(Id id) {
  const auto reason = reasons_.find(id);
  if (reason == reasons_.end() || --reason->second.users != 0) return;
  bytes_ -= reason->second.text.size();
  ids_.erase(reason->second.text);
  reasons_.erase(reason);
}

std::string_view KeptReasons::of(Id id) const {
  const auto found = reasons_.find(id);
  return found == reasons_.end() ? std::string_view() : found->second.text;
}

}  // namespace evershard
