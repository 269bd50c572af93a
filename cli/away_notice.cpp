#include "evershard/cli/away_notice.hpp"

#include <unistd.h>

#include <utility>

#include "evershard/store/json/output.hpp"

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
    const auto gone_for = (now.micros - since_->micros) / 1'000'000;
    since_.reset();
    say_(who_ + " is back after " + std::to_string(gone_for) + " s\n");
  }
}

}  // namespace evershard::cli
