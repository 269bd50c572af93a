// Small stores to ask, and short answers to look at.

#pragma once

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <filesystem>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "evershard/local/local.hpp"

namespace evershard {

inline Local open_store(LocalOptions options = {}) {
  auto store = Local::open(std::move(options));
  EXPECT_TRUE(store) << store.error().what;
  return *std::move(store);
}

/// A directory of its own, gone with the object.
class ScratchDir {
 public:
  ScratchDir() {
    std::string name = (std::filesystem::temp_directory_path() / "evershard-XXXXXX").string();
    path_ = mkdtemp(name.data());
  }
  ~ScratchDir() { std::filesystem::remove_all(path_); }
  ScratchDir(const ScratchDir&) = delete;
  [[nodiscard]] const std::filesystem::path& path() const { return path_; }

 private:
  std::filesystem::path path_;
};

/// What is answered where only the code matters.
template <class T>
std::string code_of(const Result<T>& result) {
  return result ? "ok" : std::string(name_of(result.error().code));
}

inline std::vector<std::uint64_t> positions_of(EventStream stream) {
  std::vector<std::uint64_t> positions;
  for (const auto& event : stream) positions.push_back(event.position.value);
  EXPECT_FALSE(stream.error()) << stream.error()->what;
  return positions;
}

inline std::vector<std::uint64_t> positions_of(const std::vector<RecordedEvent>& events) {
  std::vector<std::uint64_t> positions;
  for (const auto& event : events) positions.push_back(event.position.value);
  return positions;
}

inline std::string code_of(EventStream stream) {
  for (const auto& event : stream) (void)event;
  return stream.error() ? std::string(name_of(stream.error()->code)) : "ok";
}

/// Small tails are full at once: then sealing lags behind, and whoever appends waits for it.
inline Result<Appended> append_patiently(Local& store, const Append& append) {
  auto answer = store.append(append);
  for (int tries = 0; tries < 10'000 && !answer && answer.error().code == ErrorCode::overloaded; ++tries) {
    std::this_thread::sleep_for(std::chrono::milliseconds(2));
    answer = store.append(append);
  }
  return answer;
}

/// Position of the one event appended.
inline std::uint64_t append_one(Local& store, std::string_view aggregate, std::string type, std::vector<Tag> tags = {},
                                std::string payload = "{}") {
  auto done = append_patiently(store, Append{}.event(aggregate, std::move(type), std::move(payload), std::move(tags)));
  EXPECT_TRUE(done) << done.error().what;
  return done ? done->first_position.value : 0;
}

/// So many events, each an append of its own: `n-<i>`, type `T`, tags `all` and `even` or `odd`.
inline void append_many(Local& store, std::uint64_t from, std::uint64_t until) {
  for (auto i = from; i < until; ++i)
    append_one(store, "n-" + std::to_string(i), "T", {"all", i % 2 == 0 ? "even" : "odd"});
}

/// Version 0: the one that the append leaves.
inline Snapshot snapshot_of(std::string_view aggregate, std::uint64_t version, std::string payload,
                            std::optional<std::uint32_t> keep = {}) {
  Snapshot snapshot;
  snapshot.aggregate = AggregateId::parse(aggregate).value();
  snapshot.version = SeqNr{version};
  snapshot.payload = std::move(payload);
  snapshot.keep = keep;
  return snapshot;
}

inline EventId id_of(std::uint8_t n) {
  EventId id;
  id.bytes.fill(n);
  return id;
}

}  // namespace evershard
