#include "evershard/services/erasure/subject_keys.hpp"

#include <openssl/crypto.h>

#include <utility>

namespace evershard::cluster {

HeldKey::HeldKey(const PayloadKey& key)
    : id(key.id), key_(new PayloadKey(key), [](PayloadKey* last) {
        OPENSSL_cleanse(last->secret.data(), last->secret.size());
        delete last;
      }) {}

std::vector<Result<HeldKey>> SubjectKeys::keys_for(const std::vector<std::string>& subjects) {
  std::vector<Result<HeldKey>> keys;
  keys.reserve(subjects.size());
  for (const auto& subject : subjects) keys.push_back(key_for(subject));
  return keys;
}

std::vector<Result<std::optional<HeldKey>>> SubjectKeys::find_all(const std::vector<KeyId>& ids) {
  std::vector<Result<std::optional<HeldKey>>> keys;
  keys.reserve(ids.size());
  for (const auto& id : ids) keys.push_back(find(id));
  return keys;
}

void SubjectKeys::watch_erasures(std::function<void()> watch) {
  const std::lock_guard lock(watch_mutex_);
  watch_ = std::move(watch);
}

void SubjectKeys::erased() {
  const std::lock_guard lock(watch_mutex_);
  if (watch_) watch_();
}

}  // namespace evershard::cluster
