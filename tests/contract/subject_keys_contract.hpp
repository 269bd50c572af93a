// SubjectKeysContract: what every place promises in which keys of subjects lie. Instantiated with each.

#pragma once

#include <filesystem>
#include <functional>
#include <memory>
#include <ostream>
#include <string>

#include <gtest/gtest.h>

#include "evershard/services/erasure/subject_keys.hpp"
#include "tests/contract/temporary_folder.hpp"

namespace evershard::cluster {

/// A place of keys, which several processes may have open; and what may happen to it behind their backs.
class PlaceOfKeys {
 public:
  virtual ~PlaceOfKeys() = default;
  /// As by a process of its own.
  virtual std::unique_ptr<SubjectKeys> open() = 0;
  /// The key is not there any more, and nobody destroyed it.
  virtual void lose(const KeyId& id) = 0;
  /// Some of its bytes are others.
  virtual void damage(const KeyId& id) = 0;
  /// Keys that are there; marks of those that were destroyed.
  virtual std::size_t keys() = 0;
  virtual std::size_t erased() = 0;
};

struct PlaceOfKeysKind {
  std::string name;
  int erasures = 0;  ///< of the test that destroys under load: what one costs decides
  std::function<std::unique_ptr<PlaceOfKeys>(const std::filesystem::path& folder)> make;
};
inline std::ostream& operator<<(std::ostream& out, const PlaceOfKeysKind& kind) { return out << kind.name; }

class SubjectKeysContract : public ::testing::TestWithParam<PlaceOfKeysKind> {
 protected:
  void SetUp() override {
    place_ = GetParam().make(folder_.path());
    ASSERT_NE(place_, nullptr);
  }
  std::unique_ptr<SubjectKeys> opened() {
    auto keys = place_->open();
    EXPECT_NE(keys, nullptr);
    return keys;
  }

  TemporaryFolder folder_;
  std::unique_ptr<PlaceOfKeys> place_;
};

}  // namespace evershard::cluster
