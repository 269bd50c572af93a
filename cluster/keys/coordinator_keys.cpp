#include "evershard/cluster/keys/coordinator_keys.hpp"

#include <openssl/crypto.h>

#include <algorithm>
#include <iterator>
#include <random>
#include <utility>

namespace evershard::cluster {
namespace {

using What = KeysAsked::What;

constexpr int tries_max = 4;
constexpr auto answer_grace = std::chrono::seconds(1);  // the network answers when the time is over
constexpr std::size_t destroyed_max = 100'000;
constexpr auto look_whether_it_is_let_go = std::chrono::microseconds(50);

std::uint64_t random_holder() {
  std::random_device random;
  return (std::uint64_t{random()} << 32 | random()) | 1;
}

Error no_answer(const Error& why) {
  return {ErrorCode::unavailable, "the coordinator, where the keys of subjects lie, does not answer: " + why.what};
}

Error no_keys_there(ErrorCode code) {
  return {code,
          "a payload has a subject, or is sealed, and the cluster's coordinator was started without keys (its setting "
          "`keys`, or `key-file` with an etcd)"};
}

Error too_slow() {
  return {ErrorCode::unavailable,
          "the coordinator, where the keys of subjects lie, is slow: what it lends is over before it arrives"};
}

void wipe(KeysAnswered& told) {
  for (auto& key : told.keys)
    if (key.secret) OPENSSL_cleanse(key.secret->data(), key.secret->size());
}

}  // namespace

struct CoordinatorKeys::Waiters {
  struct Answer {
    std::optional<Result<KeysAnswered>> come;
  };
  std::mutex mutex;
  std::condition_variable changed;
  bool stopping = false;
  bool away = false;     ///< it did not answer in time: nobody waits for it until it does
  bool looking = false;  ///< whether it does

  /// `asked` is answered, or not. Under the mutex.
  void heard(What asked, const Result<KeysAnswered>& told) {
    if (asked == What::erasures) return;  // answered without its disk, which may be what the keys wait for
    if (told || told.error().code != ErrorCode::timeout)
      away = false;
    else
      away = away || is_quick(asked);
  }
  static bool is_quick(What asked) { return asked == What::key_for || asked == What::find || asked == What::current; }
};

CoordinatorKeys::CoordinatorKeys(KeyNetwork& network, CoordinatorKeysOptions options)
    : network_(network),
      options_(std::move(options)),
      holder_(random_holder()),
      waiters_(std::make_shared<Waiters>()),
      wiping_([this] { wipe_what_is_over(); }),
      looking_([this] { look_when_told(); }) {}

CoordinatorKeys::~CoordinatorKeys() {
  stop();
  {
    const std::lock_guard lock(mutex_);
    ending_ = true;
    drop_all();
  }
  lent_.notify_all();
  wiping_.join();
}

void CoordinatorKeys::stop() {
  {
    const std::lock_guard lock(waiters_->mutex);
    waiters_->stopping = true;
  }
  waiters_->changed.notify_all();
  {
    const std::lock_guard lock(mutex_);
    looks_no_more_ = true;
  }
  look_.notify_all();
  std::call_once(looking_joined_, [this] { looking_.join(); });
}

std::size_t CoordinatorKeys::known() const {
  const std::lock_guard lock(mutex_);
  return known_.size();
}

std::uint64_t CoordinatorKeys::erasures() const {
  const std::lock_guard lock(mutex_);
  return erasures_;
}

Result<std::optional<KeysAnswered>> CoordinatorKeys::ask_once(const KeysAsked& asked, std::chrono::milliseconds time) {
  const auto asked_at = options_.now();  // the coordinator counts from later
  auto answer = std::make_shared<Waiters::Answer>();
  std::unique_lock waiting(waiters_->mutex);
  if (waiters_->stopping) return refuse(ErrorCode::unavailable, "the node is stopping");
  if (waiters_->away && Waiters::is_quick(asked.what)) {
    if (!std::exchange(waiters_->looking, true)) {
      waiting.unlock();
      network_.ask(asked, time, [waiters = waiters_, what = asked.what](Result<KeysAnswered> told) {
        if (told) wipe(*told);
        const std::lock_guard lock(waiters->mutex);
        waiters->looking = false;
        waiters->heard(what, told);
      });
    }
    return refuse(ErrorCode::unavailable, "it did not when it was asked last");
  }
  waiting.unlock();
  network_.ask(asked, time, [waiters = waiters_, answer, what = asked.what](Result<KeysAnswered> told) {
    {
      const std::lock_guard lock(waiters->mutex);
      waiters->heard(what, told);
      answer->come = std::move(told);
    }
    waiters->changed.notify_all();
  });
  waiting.lock();
  const bool over =
      !waiters_->changed.wait_for(waiting, time + answer_grace, [&] { return waiters_->stopping || answer->come; });
  if (over) {
    waiters_->away = waiters_->away || Waiters::is_quick(asked.what);
    return refuse(ErrorCode::timeout, "no answer in time");
  }
  if (!answer->come)
    return refuse(asked.what == What::destroy ? ErrorCode::timeout : ErrorCode::unavailable, "the node is stopping");
  auto told = std::move(*answer->come);
  waiting.unlock();
  if (!told) return refuse(std::move(told).error());
  const auto until = asked_at + told->lease;
  const bool keeps = asked.what == What::key_for || asked.what == What::find;
  std::unique_lock lock(mutex_);
  const auto before = erasures_;
  const bool newest = is_newest(told->destroyed);
  const bool changed = erasures_ != before;
  const bool usable = !keeps || (newest && (told->no_keys || options_.now() < until));
  if (keeps && usable)
    for (std::size_t i = 0; i < told->keys.size(); ++i)
      keep(told->keys[i], i < asked.subjects.size() ? asked.subjects[i] : std::string(), until);
  lock.unlock();
  wipe(*told);
  if (changed) erased();
  if (!usable) return std::nullopt;
  return std::optional(*std::move(told));
}

Result<KeysAnswered> CoordinatorKeys::ask(KeysAsked asked, std::chrono::milliseconds time) {
  asked.holder = holder_;
  for (int tries = 0; tries != tries_max; ++tries) {
    auto told = ask_once(asked, time);
    if (!told) {
      auto error = std::move(told).error();
      if (error.code == ErrorCode::timeout && asked.what == What::destroy) return refuse(std::move(error));
      if (error.code == ErrorCode::timeout)
        look_beside();  // what is destroyed meanwhile is noticed when it is back, whoever asks
      if (error.code == ErrorCode::corruption || error.code == ErrorCode::io ||
          error.code == ErrorCode::invalid_argument)
        return refuse(std::move(error));
      return refuse(no_answer(error));
    }
    if (!*told) continue;
    const auto expected = asked.ids.size() + asked.subjects.size();
    const bool fits =
        (*told)->no_keys || (*told)->keys.size() == expected || (asked.what == What::current && (*told)->keys.empty());
    if (!fits) return refuse(ErrorCode::corruption, "the coordinator told of other keys than it was asked for");
    return **std::move(told);
  }
  return refuse(too_slow());
}

Result<HeldKey> CoordinatorKeys::key_for(std::string_view subject) {
  for (int tries = 0; tries != tries_max; ++tries) {
    if (auto key = key_at_hand(subject)) return *std::move(key);
    auto told = ask({.what = What::key_for, .subjects = {std::string(subject)}}, options_.time);
    if (!told) return refuse(std::move(told).error());
    if (told->no_keys) return refuse(no_keys_there(ErrorCode::invalid_argument));
    const auto& key = told->keys.front();
    if (key.error) return refuse(*key.error);
    if (key.destroyed) return refuse(ErrorCode::corruption, "the coordinator gave a key that is destroyed");
    if (!key.secret) return refuse(ErrorCode::corruption, "the coordinator told nothing of the key " + key.id.text());
  }
  return refuse(too_slow());
}

Result<std::optional<HeldKey>> CoordinatorKeys::find(const KeyId& id) {
  for (int tries = 0; tries != tries_max; ++tries) {
    if (auto found = found_at_hand(id)) return *std::move(found);
    auto told = ask({.what = What::find, .ids = {id}}, options_.time);
    if (!told) return refuse(std::move(told).error());
    if (told->no_keys) return refuse(no_keys_there(ErrorCode::not_found));
    const auto& key = told->keys.front();
    if (key.id != id) return refuse(ErrorCode::corruption, "the coordinator told of another key than it was asked for");
    if (key.error) return refuse(*key.error);
    if (key.destroyed) return std::nullopt;
    if (!key.secret) return refuse(ErrorCode::corruption, "the coordinator told nothing of the key " + key.id.text());
  }
  return refuse(too_slow());
}

std::optional<Result<HeldKey>> CoordinatorKeys::key_at_hand(std::string_view subject) {
  const std::lock_guard lock(mutex_);
  const auto of = of_subject_.find(subject);
  const auto* key = of == of_subject_.end() ? nullptr : lent(of->second);
  if (key == nullptr) return std::nullopt;
  return Result<HeldKey>(*key);
}

std::optional<Result<std::optional<HeldKey>>> CoordinatorKeys::found_at_hand(const KeyId& id) {
  const std::lock_guard lock(mutex_);
  if (const auto* key = lent(id)) return Result<std::optional<HeldKey>>(*key);
  if (destroyed_.contains(id)) return Result<std::optional<HeldKey>>(std::nullopt);
  return std::nullopt;
}

namespace {

template <class T>
void each_once(std::vector<T>& all) {
  std::ranges::sort(all);
  all.erase(std::unique(all.begin(), all.end()), all.end());
}

}  // namespace

/// One alone is asked for when it is needed; what is said here is said again by find() and key_for().
void CoordinatorKeys::fetch(KeysWanted wanted) {
  each_once(wanted.ids);
  each_once(wanted.subjects);
  std::erase_if(wanted.ids, [&](const KeyId& id) { return found_at_hand(id).has_value(); });
  std::erase_if(wanted.subjects,
                [&](const std::string& subject) { return subject.empty() || key_at_hand(subject).has_value(); });
  if (wanted.ids.size() > KeysAsked::ids_max) wanted.ids.resize(KeysAsked::ids_max);
  if (wanted.ids.size() > 1 && !ask({.what = What::find, .ids = std::move(wanted.ids)}, options_.time)) return;
  for (auto first = wanted.subjects.begin(); wanted.subjects.end() - first > 1;) {
    const auto end = first + std::min<std::ptrdiff_t>(wanted.subjects.end() - first, KeysAsked::subjects_max);
    if (!ask({.what = What::key_for, .subjects = {std::make_move_iterator(first), std::make_move_iterator(end)}},
             options_.time))
      return;
    first = end;
  }
}

Result<std::optional<KeyId>> CoordinatorKeys::current(std::string_view subject) {
  auto told = ask({.what = What::current, .subjects = {std::string(subject)}}, options_.time);
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

KeysForgotten CoordinatorKeys::forget(const KeysForget& told) {
  std::vector<std::weak_ptr<const PayloadKey>> in_hands;
  bool changed = false;
  {
    const std::lock_guard lock(mutex_);
    const auto before = erasures_;
    // It notes what it is told; what that changes is seen beside it.
    (void)is_newest(told.destroyed);
    changed = erasures_ != before;
    for (const auto& id : told.ids) {
      if (const auto known = known_.find(id); known != known_.end()) drop(known);
      destroyed_.insert(id);
    }
    in_hands = in_hands_;
  }
  if (changed) erased();
  for (const auto& key : in_hands)
    while (!key.expired()) std::this_thread::sleep_for(look_whether_it_is_let_go);
  return {holder_};
}

/// False: it was looked before something was destroyed that is known to be destroyed here: it may be told as if it were
/// there. Behind a destruction nothing counts that was told before: all that is known was looked for behind those that
/// are counted.
bool CoordinatorKeys::is_newest(const KeysDestroyed& destroyed) {
  const bool same_keeper = destroyed.keeper == newest_.keeper;
  if (same_keeper && destroyed.count <= newest_.count) return destroyed.count == newest_.count;
  const bool first = newest_.keeper == 0;  // nothing was told before
  newest_ = destroyed;
  if (first) return true;
  ++erasures_;
  drop_all();
  if (!same_keeper) destroyed_.clear();
  return true;
}

void CoordinatorKeys::keep(const KeyTold& told, const std::string& subject, BootTime until) {
  if (told.destroyed) {
    if (destroyed_.size() >= destroyed_max) destroyed_.clear();
    destroyed_.insert(told.id);
    return;
  }
  if (!told.secret) return;
  auto known = known_.find(told.id);
  const bool added = known == known_.end();
  if (added) {
    HeldKey key(PayloadKey{told.id, *told.secret});
    key.erasures = erasures_;
    known = known_.emplace(told.id, Known{std::move(key), until}).first;
    if (known_.size() == 1) lent_.notify_all();
  }
  known->second.until = until;
  if (!subject.empty()) {
    known->second.subject = subject;
    of_subject_[subject] = told.id;
  }
  if (!added || known_.size() <= options_.known_max) return;
  const auto next = std::next(known);  // ids are random: so is the one that stands beside it
  drop(next == known_.end() ? known_.begin() : next);
}

const HeldKey* CoordinatorKeys::lent(const KeyId& id) const {
  const auto known = known_.find(id);
  return known != known_.end() && options_.now() < known->second.until ? &known->second.key : nullptr;
}

void CoordinatorKeys::drop(KnownKeys::iterator known) {
  const auto of = of_subject_.find(known->second.subject);
  if (of != of_subject_.end() && of->second == known->first) of_subject_.erase(of);
  std::erase_if(in_hands_, [](const auto& key) { return key.expired(); });
  auto held = known->second.key.held();
  known_.erase(known);
  if (!held.expired()) in_hands_.push_back(std::move(held));
}

void CoordinatorKeys::drop_all() {
  while (!known_.empty()) drop(known_.begin());
  of_subject_.clear();
}

void CoordinatorKeys::look_again() {
  {
    const std::lock_guard lock(waiters_->mutex);
    waiters_->away = false;
  }
  look_beside();
}

void CoordinatorKeys::look_beside() {
  {
    const std::lock_guard lock(mutex_);
    looks_again_ = true;
  }
  look_.notify_all();
}

void CoordinatorKeys::look_when_told() {
  for (std::unique_lock lock(mutex_);;) {
    look_.wait(lock, [this] { return looks_no_more_ || looks_again_; });
    if (looks_no_more_) return;
    looks_again_ = false;  // a request from here on asks for another look
    lock.unlock();
    const auto told = ask({.what = What::erasures}, options_.look_time);
    lock.lock();
    looks_again_ = looks_again_ || (!told && told.error().code == ErrorCode::unavailable);
    look_.wait_for(lock, options_.look_every, [this] { return looks_no_more_; });
  }
}

void CoordinatorKeys::wipe_what_is_over() {
  for (std::unique_lock lock(mutex_);;) {
    lent_.wait(lock, [this] { return ending_ || !known_.empty(); });
    if (ending_) return;
    lent_.wait_for(lock, options_.wipe_every, [this] { return ending_; });
    const auto now = options_.now();
    for (auto known = known_.begin(); known != known_.end();) {
      const auto one = known++;
      if (one->second.until <= now) drop(one);
    }
  }
}

}  // namespace evershard::cluster
