#include "evershard/cli/away_notice.hpp"

#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <utility>

#include "evershard/api/json/output.hpp"
#include "evershard/protocol/quantity.hpp"

namespace evershard::cli {

AwayNotice::AwayNotice(std::string who, Say say)
    : who_(std::move(who)), say_(say ? std::move(say) : [](std::string_view line) {
        Output error(STDERR_FILENO);
        error.write(line);
      }) {}

void AwayNotice::see(const std::optional<FeedItem::Away>& away, Timestamp now) {
  if (away && !since_) {
    since_ = Timestamp{now.micros - std::chrono::microseconds(away->gone_for).count()};
    say_(who_ + " is away since " + since_->text() + ": " + away->why.what + "; it is waited for\n");
  } else if (!away && since_) {
    const std::chrono::seconds gone_for(std::max<std::int64_t>(0, (now.micros - since_->micros) / 1'000'000));
    since_.reset();
    say_(who_ + " is back after " + text_of_duration(gone_for) + '\n');
  }
}

}  // namespace evershard::cli
