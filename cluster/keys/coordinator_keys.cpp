#include "evershard/cluster/keys/coordinator_keys.hpp"

#include <openssl/crypto.h>

#include <algorithm>
#include <random>
#include <utility>

namespace evershard::cluster {
namespace {

using What = KeysAsked::What;

constexpr int tries_max = 4;
constexpr auto answer_grace = std::chrono::seconds(1);  // the network answers when the time is over
constexpr std::size_t destroyed_max = 100'000;
constexpr auto at_hand_for = std::chrono::seconds(1);  // who is told that he need not wait for it seals a moment later

std::uint64_t random_holder() {
  std::random_device random;
  return (std::uint64_t{random()} << 32 | random()) | 1;
}

Error no_answer(const Error& why) { return {ErrorCode::unavailable, "the coordinator, where the keys of subjects lie, does not answer: " + why.what}; }

Error no_keys_there(ErrorCode code) { return {code, "a payload has a subject, or is sealed, and the cluster's coordinator was started without keys (its setting `keys`)"}; }

}  // namespace

struct CoordinatorKeys::Waiters {
  struct Answer {
    std::optional<Result<KeysAnswered>> come;
  };
  std::mutex mutex;
  std::condition_variable changed;
  bool stopping = false;
};

CoordinatorKeys::CoordinatorKeys(KeyNetwork& network, CoordinatorKeysOptions options)
    : network_(network), options_(std::move(options)), holder_(random_holder()), waiters_(std::make_shared<Waiters>()) {}

CoordinatorKeys::~CoordinatorKeys() {
  stop();
  drop_all();
}

void CoordinatorKeys::stop() {
  {
    const std::lock_guard lock(waiters_->mutex);
    waiters_->stopping = true;
  }
  waiters_->changed.notify_all();
}

std::size_t CoordinatorKeys::known() const {
  const std::lock_guard lock(mutex_);
  return known_.size();
}

Result<std::optional<KeysAnswered>> CoordinatorKeys::ask_once(const KeysAsked& asked, std::chrono::milliseconds time) {
  const auto asked_at = options_.now();  // the coordinator counts from later
  auto answer = std::make_shared<Waiters::Answer>();
  std::unique_lock waiting(waiters_->mutex);
  if (waiters_->stopping) return refuse(ErrorCode::unavailable, "the node is stopping");
  waiting.unlock();
  network_.ask(asked, time, [waiters = waiters_, answer](Result<KeysAnswered> told) {
    {
      const std::lock_guard lock(waiters->mutex);
      answer->come = std::move(told);
    }
    waiters->changed.notify_all();
  });
  waiting.lock();
  const bool over = !waiters_->changed.wait_for(waiting, time + answer_grace, [&] { return waiters_->stopping || answer->come; });
  if (over) return refuse(ErrorCode::timeout, "no answer in time");
  if (!answer->come) return refuse(asked.what == What::destroy ? ErrorCode::timeout : ErrorCode::unavailable, "the node is stopping");
  auto told = std::move(*answer->come);
  waiting.unlock();
  if (!told) return refuse(std::move(told).error());
  const std::lock_guard lock(mutex_);
  const auto until = asked_at + told->lease;
  const bool newest = is_newest(told->destroyed);
  if (asked.what != What::key_for && asked.what != What::find) return std::optional(*std::move(told));
  if (!newest || (!told->no_keys && options_.now() >= until)) return std::nullopt;
  for (const auto& key : told->keys) keep(key, asked.subject, until);
  return std::optional(*std::move(told));
}

Result<KeysAnswered> CoordinatorKeys::ask(KeysAsked asked, std::chrono::milliseconds time) {
  asked.holder = holder_;
  for (int tries = 0; tries != tries_max; ++tries) {
    auto told = ask_once(asked, time);
    if (!told) {
      auto error = std::move(told).error();
      if (error.code == ErrorCode::timeout && asked.what == What::destroy) return refuse(std::move(error));
      if (error.code == ErrorCode::corruption || error.code == ErrorCode::io || error.code == ErrorCode::invalid_argument) return refuse(std::move(error));
      return refuse(no_answer(error));
    }
    if (!*told) continue;
    const auto expected = asked.what == What::find || asked.what == What::destroy ? asked.ids.size() : std::size_t{1};
    const bool fits = (*told)->no_keys || (*told)->keys.size() == expected || (asked.what == What::current && (*told)->keys.empty());
    if (!fits) return refuse(ErrorCode::corruption, "the coordinator told of other keys than it was asked for");
    return **std::move(told);
  }
  return refuse(ErrorCode::unavailable, "the coordinator, where the keys of subjects lie, is slow: what it lends is over before it arrives");
}

Result<std::optional<PayloadKey>> CoordinatorKeys::taken(const KeyTold& told) const {
  if (told.error) return refuse(*told.error);
  if (told.destroyed) return std::nullopt;
  if (!told.secret) return refuse(ErrorCode::corruption, "the coordinator told nothing of the key " + told.id.text());
  return PayloadKey{told.id, *told.secret};
}

Result<PayloadKey> CoordinatorKeys::key_for(std::string_view subject) {
  {
    const std::lock_guard lock(mutex_);
    if (const auto of = of_subject_.find(subject); of != of_subject_.end())
      if (const auto* key = lent(of->second)) return *key;
  }
  auto told = ask({.what = What::key_for, .subject = std::string(subject)}, options_.time);
  if (!told) return refuse(std::move(told).error());
  if (told->no_keys) return refuse(no_keys_there(ErrorCode::invalid_argument));
  auto key = taken(told->keys.front());
  if (!key) return refuse(std::move(key).error());
  if (!*key) return refuse(ErrorCode::corruption, "the coordinator gave a key that is destroyed");
  return **std::move(key);
}

Result<std::optional<PayloadKey>> CoordinatorKeys::find(const KeyId& id) {
  {
    const std::lock_guard lock(mutex_);
    if (const auto* key = lent(id)) return *key;
    if (destroyed_.contains(id)) return std::nullopt;
  }
  auto told = ask({.what = What::find, .ids = {id}}, options_.time);
  if (!told) return refuse(std::move(told).error());
  if (told->no_keys) return refuse(no_keys_there(ErrorCode::not_found));
  if (told->keys.front().id != id) return refuse(ErrorCode::corruption, "the coordinator told of another key than it was asked for");
  return taken(told->keys.front());
}

void CoordinatorKeys::fetch(std::vector<KeyId> ids) {
  std::ranges::sort(ids);
  ids.erase(std::unique(ids.begin(), ids.end()), ids.end());
  {
    const std::lock_guard lock(mutex_);
    std::erase_if(ids, [&](const KeyId& id) { return lent(id) != nullptr || destroyed_.contains(id); });
  }
  if (ids.size() < 2) return;
  if (ids.size() > KeysAsked::ids_max) ids.resize(KeysAsked::ids_max);
  (void)ask({.what = What::find, .ids = std::move(ids)}, options_.time);  // what it says is said again by find()
}

Result<std::optional<KeyId>> CoordinatorKeys::current(std::string_view subject) {
  auto told = ask({.what = What::current, .subject = std::string(subject)}, options_.time);
  if (!told) return refuse(std::move(told).error());
  if (told->no_keys) return refuse(no_keys_there(ErrorCode::invalid_argument));
  if (told->keys.empty()) return std::nullopt;
  if (told->keys.front().error) return refuse(*told->keys.front().error);
  return told->keys.front().id;
}

Result<void> CoordinatorKeys::destroy(const KeyId& id) {
  auto told = ask({.what = What::destroy, .ids = {id}}, options_.destroy_time);
  if (!told) return refuse(std::move(told).error());
  if (told->no_keys) return refuse(no_keys_there(ErrorCode::invalid_argument));
  if (told->keys.front().error) return refuse(*told->keys.front().error);
  return {};
}

bool CoordinatorKeys::at_hand(std::string_view subject) {
  const std::lock_guard lock(mutex_);
  const auto of = of_subject_.find(subject);
  return of != of_subject_.end() && lent(of->second, at_hand_for) != nullptr;
}

bool CoordinatorKeys::at_hand(const KeyId& id) {
  const std::lock_guard lock(mutex_);
  return lent(id, at_hand_for) != nullptr || destroyed_.contains(id);
}

KeysForgotten CoordinatorKeys::forget(const KeysForget& told) {
  const std::lock_guard lock(mutex_);
  (void)is_newest(told.destroyed);
  for (const auto& id : told.ids) {
    if (const auto known = known_.find(id); known != known_.end()) drop(known);
    destroyed_.insert(id);
  }
  return {holder_};
}

/// False: it was looked before something was destroyed that is known to be destroyed here: it may be told as if it were there.
bool CoordinatorKeys::is_newest(const KeysDestroyed& destroyed) {
  if (destroyed.keeper != newest_.keeper) {
    drop_all();
    newest_ = destroyed;
    return true;
  }
  if (destroyed.count < newest_.count) return false;
  newest_ = destroyed;
  return true;
}

void CoordinatorKeys::keep(const KeyTold& told, const std::string& subject, BootTime until) {
  if (told.destroyed) {
    if (destroyed_.size() >= destroyed_max) destroyed_.clear();
    destroyed_.insert(told.id);
    return;
  }
  if (!told.secret) return;
  const auto [known, added] = known_.try_emplace(told.id, Known{{told.id, *told.secret}, until, subject});
  known->second.until = until;
  if (!subject.empty()) {
    known->second.subject = subject;
    of_subject_[subject] = told.id;
  }
  if (!added || known_.size() <= options_.known_max) return;
  const auto next = std::next(known);  // ids are random: so is the one that stands beside it
  drop(next == known_.end() ? known_.begin() : next);
}

const PayloadKey* CoordinatorKeys::lent(const KeyId& id, std::chrono::milliseconds at_least) const {
  const auto known = known_.find(id);
  return known != known_.end() && options_.now() + at_least < known->second.until ? &known->second.key : nullptr;
}

void CoordinatorKeys::drop(KnownKeys::iterator known) {
  const auto of = of_subject_.find(known->second.subject);
  if (of != of_subject_.end() && of->second == known->first) of_subject_.erase(of);
  OPENSSL_cleanse(known->second.key.secret.data(), known->second.key.secret.size());
  known_.erase(known);
}

void CoordinatorKeys::drop_all() {
  while (!known_.empty()) drop(known_.begin());
  of_subject_.clear();
  destroyed_.clear();
}

}  // namespace evershard::cluster
