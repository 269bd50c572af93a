#include "evershard/store/erasure/subject_keys.hpp"

#include <openssl/crypto.h>

#include <utility>

namespace evershard::cluster {

HeldKey::HeldKey(const PayloadKey& key)
    : id(key.id), key_(new PayloadKey(key), [](PayloadKey* last) {
        OPENSSL_cleanse(last->secret.data(), last->secret.size());
        delete last;
      }) {}

void SubjectKeys::watch_erasures(std::function<void()> watch) {
  const std::lock_guard lock(watch_mutex_);
  watch_ = std::move(watch);
}

void SubjectKeys::erased() {
  const std::lock_guard lock(watch_mutex_);
  if (watch_) watch_();
}

}  // namespace evershard::cluster
