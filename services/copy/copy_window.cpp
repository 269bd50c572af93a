#include "evershard/services/copy/copy_window.hpp"

#include <algorithm>
#include <utility>

#include "evershard/protocol/reserved.hpp"
#include "evershard/protocol/validate.hpp"
#include "evershard/services/copy/known_events.hpp"

namespace evershard::cluster {
namespace {

constexpr std::size_t versions_max = 100'000;

bool passes_by_itself(ErrorCode code) {
  return code == ErrorCode::overloaded || code == ErrorCode::unavailable || code == ErrorCode::timeout;
}

}  // namespace

CopyWindow::CopyWindow(EventStore& target, Bounds bounds, Patience patience)
    : target_(target), bounds_(bounds), patience_(std::move(patience)) {}

CopyWindow::~CopyWindow() {
  std::unique_lock lock(shared_->mutex);
  shared_->changed.wait(
      lock, [this] { return std::ranges::all_of(slots_, [](const auto& slot) { return slot->result.has_value(); }); });
}

Result<void> CopyWindow::expect_versions(const CopiedAppend& from, Append& append) {
  for (std::size_t i = 0; i < from.events.size(); ++i) {
    const auto& aggregate = from.events[i].aggregate;
    if (!aggregate) continue;
    const bool first_here =
        std::ranges::none_of(append.expectations, [&](const auto& e) { return e.aggregate == *aggregate; });
    auto known = versions_.find(*aggregate);
    if (known == versions_.end()) {
      std::uint64_t version = 0;
      if (from.seq_nrs[i] != SeqNr{1}) {  // nothing of it is in flight
        const auto info = target_.aggregate(*aggregate);
        if (!info && info.error().code != ErrorCode::not_found) return refuse(info.error());
        if (info) version = info->version.value;
      }
      known = versions_.emplace(*aggregate, version).first;
    }
    if (first_here)
      append.expectations.push_back(
          {*aggregate, known->second == 0 ? ExpectedVersion::none() : ExpectedVersion::exactly(known->second)});
    ++known->second;
  }
  return {};
}

Result<void> CopyWindow::send(CopiedAppend append) {
  if (failed_) return refuse(*failed_);
  auto slot = std::make_shared<Slot>();
  Append asked;
  asked.events = append.events;
  asked.from_export = needs_export(asked);
  slot->bytes = bytes_of(asked);
  slot->append = std::move(append);
  if (versions_.size() > versions_max) EVERSHARD_TRY(drain());
  EVERSHARD_TRY(settle(bounds_.appends - 1, bounds_.bytes > slot->bytes ? bounds_.bytes - slot->bytes : 0));
  if (auto expected = expect_versions(slot->append, asked); !expected) {
    // What cannot be looked up now is sent alone, when its turn comes.
    slot->result = refuse(std::move(expected).error());
    slots_.push_back(std::move(slot));
    return send_refused_again();
  }
  bytes_ += slot->bytes;
  slots_.push_back(slot);
  target_.append_async(std::move(asked), [slot, shared = shared_](Result<Appended> result) {
    const std::lock_guard lock(shared->mutex);
    slot->result = std::move(result);
    shared->changed.notify_all();
  });
  return {};
}

Result<void> CopyWindow::settle(std::size_t appends_max, std::size_t bytes_max) {
  for (;;) {
    bool refused = false;
    {
      std::unique_lock lock(shared_->mutex);
      const auto ready = [this] { return !slots_.empty() && slots_.front()->result.has_value(); };
      if (!ready() && (slots_.size() > appends_max || bytes_ > bytes_max)) shared_->changed.wait(lock, ready);
      if (!ready()) return {};
      refused = !*slots_.front()->result;
    }
    if (refused) {
      EVERSHARD_TRY(send_refused_again());
      continue;
    }
    const auto slot = std::move(slots_.front());
    slots_.pop_front();
    bytes_ -= slot->bytes;
    count(slot->append, **slot->result);
  }
}

Result<void> CopyWindow::send_refused_again() {
  {
    std::unique_lock lock(shared_->mutex);
    shared_->changed.wait(lock, [this] {
      return std::ranges::all_of(slots_, [](const auto& slot) { return slot->result.has_value(); });
    });
  }
  versions_.clear();
  while (!slots_.empty()) {
    auto& slot = *slots_.front();
    if (!*slot.result) EVERSHARD_TRY(send_again(slot));
    count(slot.append, **slot.result);
    slots_.pop_front();
  }
  bytes_ = 0;
  return {};
}

Result<void> CopyWindow::send_again(Slot& slot) {
  if (slot.result->error().code == ErrorCode::version_conflict) {  // of our own making
    Append append;
    append.events = slot.append.events;
    append.from_export = needs_export(append);
    slot.result = target_.append(std::move(append));
  }
  for (std::size_t tries = 1; !*slot.result; ++tries) {
    const Error error = slot.result->error();
    if (error.code == ErrorCode::duplicate_event && error.details && error.details->position) {
      const auto known = known_at(target_, slot.append.events, *error.details->position);
      if (known && *known) {
        slot.result = Appended{*error.details->position, *error.details->position, {}, true};
        return {};
      }
    }
    if (!passes_by_itself(error.code) || !patience_(error, tries)) {
      failed_ = error;
      return refuse(error);
    }
    Append append;
    append.events = slot.append.events;
    append.from_export = needs_export(append);
    slot.result = target_.append(std::move(append));
  }
  return {};
}

Result<void> CopyWindow::drain() {
  if (failed_) return refuse(*failed_);
  EVERSHARD_TRY(settle(0, 0));
  versions_.clear();
  return {};
}

void CopyWindow::count(const CopiedAppend& append, const Appended& answer) {
  stored_ = std::max(stored_, append.last);
  target_position_ = std::max(target_position_, answer.last_position);
  (answer.duplicate ? events_known_ : events_new_) += append.events.size();
}

}  // namespace evershard::cluster
