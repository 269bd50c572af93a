// AwayNotice: says on standard error that a followed server is away, and that it is back: each once per absence.

#pragma once

#include <chrono>
#include <functional>
#include <optional>
#include <string>
#include <string_view>

#include "evershard/api/event_feed.hpp"
#include "evershard/protocol/timestamp.hpp"

namespace evershard::cli {

class AwayNotice {
 public:
  using Say = std::function<void(std::string_view)>;
  /// `who`: the program's name, then what is followed: `evershard: the server`. `say`: takes a line; absent: to
  /// standard error.
  explicit AwayNotice(std::string who, Say say = {});

  /// After every item.
  void see(const std::optional<FeedItem::Away>& away, Timestamp now = Timestamp::now());

 private:
  const std::string who_;
  const Say say_;
  std::optional<Timestamp> since_;  ///< said
};

}  // namespace evershard::cli
