#include "evershard/cluster/keys/key_keeper.hpp"

#include <algorithm>
#include <iterator>
#include <random>
#include <utility>
#include <vector>

namespace evershard::cluster {
namespace {

using What = KeysAsked::What;

constexpr auto look_every = std::chrono::milliseconds(50);

Error keeper_stops() { return {ErrorCode::unavailable, "the coordinator is stopping"}; }

std::uint64_t random_keeper() {
  std::random_device random;
  return (std::uint64_t{random()} << 32 | random()) | 1;
}

KeyTold told_of(const HeldKey& key) { return {.id = key.id, .secret = key.secret()}; }

bool is_well_formed(const KeysAsked& asked) {
  switch (asked.what) {
    case What::key_for:
      return !asked.subjects.empty() && asked.subjects.size() <= KeysAsked::subjects_max && asked.ids.empty();
    case What::current:
      return asked.subjects.size() == 1 && asked.ids.empty();
    case What::find:
      return !asked.ids.empty() && asked.ids.size() <= KeysAsked::ids_max && asked.subjects.empty();
    case What::destroy:
      return asked.ids.size() == 1 && asked.subjects.empty();
    case What::erasures:
      return asked.ids.empty() && asked.subjects.empty();
  }
  return false;
}

}  // namespace

KeyKeeper::KeyKeeper(std::unique_ptr<SubjectKeys> keys, HaveForgotten have_forgotten, KeyKeeperOptions options)
    : keys_(std::move(keys)),
      have_forgotten_(std::move(have_forgotten)),
      options_(std::move(options)),
      began_(options_.now()),
      told_(std::make_shared<Told>()),
      looking_(std::make_unique<WorkPool>(options_.threads)),
      destroying_(std::make_unique<WorkPool>(1)) {
  told_->keeper = random_keeper();
}

void KeyKeeper::stop() {
  {
    const std::lock_guard lock(told_->mutex);
    told_->stopping = true;
  }
  told_->changed.notify_all();
  std::unique_ptr<WorkPool> looking, destroying;
  {
    const std::lock_guard lock(threads_mutex_);
    looking = std::move(looking_);
    destroying = std::move(destroying_);
  }
}

void KeyKeeper::answer(std::uint32_t node, KeysAsked asked, KeysDone done) {
  if (asked.holder == 0 || !is_well_formed(asked))
    return done(refuse(ErrorCode::invalid_argument, "a node asks for no keys, or for too many"));
  if (keys_ == nullptr) {
    KeysAnswered none;
    none.no_keys = true;
    none.destroyed = counted();
    return done(none);
  }
  const std::lock_guard lock(threads_mutex_);
  if (looking_ == nullptr) return done(refuse(keeper_stops()));
  if (asked.what == What::erasures) {
    KeysAnswered answered;
    {
      const std::lock_guard told(told_->mutex);
      // Remembering it is all that is wanted.
      (void)lent_to(
          node,
          asked.holder);  // it has no keys, and wants to hear of erasures: of all that come behind what it is told here
    }
    answered.destroyed = counted();
    return done(std::move(answered));
  }
  if (asked.what == What::destroy)
    return destroying_->run([this, id = asked.ids.front(), done = std::move(done)] { done(destroy(id)); });
  looking_->run([this, node, asked = std::move(asked), done = std::move(done)] { done(look(node, asked)); });
}

/// Before a key is looked for: whoever destroys it behind that has this one forget it.
KeysDestroyed KeyKeeper::lend(std::uint32_t node, std::uint64_t holder) {
  const std::lock_guard lock(told_->mutex);
  lent_to(node, holder).at = options_.now();
  return counted();
}

/// A new one is a new process of its node: whatever its node was lent before may be forgotten when it is over. Who else
/// is quiet may still have states in memory.
KeyKeeper::Lent& KeyKeeper::lent_to(std::uint32_t node, std::uint64_t holder) {
  auto& holders = told_->holders;
  if (const auto known = holders.find(holder); known != holders.end()) return known->second;
  const auto now = options_.now();
  std::erase_if(holders, [&](const auto& lent) { return lent.second.node == node && over(lent.second.at) <= now; });
  return holders.emplace(holder, Lent{node, BootTime{}}).first->second;
}

KeysDestroyed KeyKeeper::counted() const { return {told_->keeper, keys_ == nullptr ? 0 : keys_->erasures()}; }

/// What is told is of one count: a key that was made behind a destruction is told with it.
KeysAnswered KeyKeeper::look(std::uint32_t node, const KeysAsked& asked) {
  for (;;) {
    auto answered = look_once(node, asked);
    if (answered.destroyed == counted()) return answered;
  }
}

KeysAnswered KeyKeeper::look_once(std::uint32_t node, const KeysAsked& asked) {
  KeysAnswered answered;
  answered.lease = options_.lease;
  answered.destroyed = lend(node, asked.holder);
  if (asked.what == What::current) {
    auto id = keys_->current(asked.subjects.front());
    if (!id)
      answered.keys.push_back({.id = {}, .error = std::move(id).error()});
    else if (*id)
      answered.keys.push_back({.id = **id});
    return answered;
  }
  if (asked.what == What::key_for) {
    std::vector<std::string> names;
    std::ranges::copy_if(asked.subjects, std::back_inserter(names), [](const auto& name) { return !name.empty(); });
    auto keys = keys_->keys_for(names);
    auto next = keys.begin();
    for (const auto& subject : asked.subjects) {
      auto key = subject.empty() ? Result<HeldKey>(refuse(ErrorCode::invalid_argument, "a subject is no name"))
                                 : std::move(*next++);
      if (key)
        answered.keys.push_back(told_of(*key));
      else
        answered.keys.push_back({.id = {}, .error = std::move(key).error()});
    }
    return answered;
  }
  auto keys = keys_->find_all(asked.ids);
  for (std::size_t i = 0; i < keys.size(); ++i) {
    auto& key = keys[i];
    if (!key)
      answered.keys.push_back({.id = asked.ids[i], .error = std::move(key).error()});
    else if (!*key)
      answered.keys.push_back({.id = asked.ids[i], .destroyed = true});
    else
      answered.keys.push_back(told_of(**key));
  }
  return answered;
}

Result<KeysAnswered> KeyKeeper::destroy(const KeyId& id) {
  KeysAnswered answered;
  answered.lease = options_.lease;
  answered.keys.push_back({.id = id, .destroyed = true});
  auto destroyed = keys_->destroy(id);
  std::unique_lock lock(told_->mutex);
  KeysForget forget{{id}, counted()};
  answered.destroyed = forget.destroyed;
  if (!destroyed) {
    answered.keys.front() = {.id = id, .error = std::move(destroyed).error()};
    return answered;
  }
  const auto now = options_.now();
  std::map<std::uint64_t, Lent> waited_for, told_only;
  auto until = over(began_);  // what others lent before it is not known: a process before this one, or who led before
  const bool others = until > now;
  for (const auto& [holder, lent] : told_->holders) {
    if (over(lent.at) <= now) {
      told_only.emplace(holder, lent);  // it has no keys, and perhaps a state that it read with one
      continue;
    }
    waited_for.emplace(holder, lent);
    until = std::max(until, over(lent.at));
  }
  lock.unlock();
  auto left = std::make_shared<std::set<std::uint64_t>>();
  for (const auto& [holder, lent] : waited_for) left->insert(holder);
  for (const auto& [holder, lent] : waited_for) {
    have_forgotten_(lent.node, forget, [told = told_, left](Result<KeysForgotten> forgotten) {
      if (!forgotten) return;  // its time runs out
      const std::lock_guard guard(told->mutex);
      left->erase(forgotten->holder);
      told->changed.notify_all();
    });
  }
  for (const auto& [holder, lent] : told_only) have_forgotten_(lent.node, forget, [](const Result<KeysForgotten>&) {});
  lock.lock();
  while ((others || !left->empty()) && options_.now() < until) {
    if (told_->stopping)
      return refuse(ErrorCode::timeout,
                    "the coordinator stops: the key is destroyed, and not all nodes may have forgotten it yet");
    told_->changed.wait_for(lock, look_every);
  }
  return answered;
}

}  // namespace evershard::cluster
