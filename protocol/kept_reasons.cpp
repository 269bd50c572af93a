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
    id = free_.empty() ? ++last_ : free_.extract(free_.begin()).value();
    bytes_ += text.size();
    reasons_[id].text = std::move(text);
  }
  ++reasons_[id].users;
  return id;
}

void KeptReasons::remove(Id id) {
  const auto reason = reasons_.find(id);
  if (reason == reasons_.end() || --reason->second.users != 0) return;
  drop(id);
}

void KeptReasons::drop(Id id) {
  const auto reason = reasons_.find(id);
  bytes_ -= reason->second.text.size();
  ids_.erase(reason->second.text);
  reasons_.erase(reason);
  free_.insert(id);
  for (; !free_.empty() && *free_.rbegin() == last_; --last_) free_.erase(last_);
}

std::vector<std::string_view> KeptReasons::texts() const {
  std::vector<std::string_view> texts(last_);
  for (const auto& [id, reason] : reasons_) texts[id - 1] = reason.text;
  return texts;
}

void KeptReasons::restore(const std::vector<std::string>& texts) {
  for (const auto& text : texts) {
    ++last_;
    // What add() would not keep as it is, it keeps as something else.
    if (text.empty() || text != kept_reason(text) || bytes_ + text.size() > bytes_max_ ||
        !ids_.emplace(text, last_).second) {
      free_.insert(last_);
      continue;
    }
    bytes_ += text.size();
    reasons_[last_].text = text;
  }
}

void KeptReasons::drop_unused() {
  std::vector<Id> unused;
  for (const auto& [id, reason] : reasons_)
    if (reason.users == 0) unused.push_back(id);
  for (const auto id : unused) drop(id);
  for (; !free_.empty() && *free_.rbegin() == last_; --last_) free_.erase(last_);
}

std::string_view KeptReasons::of(Id id) const {
  const auto found = reasons_.find(id);
  return found == reasons_.end() ? std::string_view() : found->second.text;
}

}  // namespace evershard
