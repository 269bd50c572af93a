#include "evershard/doors/kurrent/event_filter.hpp"

#include <re2/re2.h>

#include <algorithm>

#include "evershard/doors/kurrent/stream_name.hpp"
#include "evershard/protocol/in_quotes.hpp"

namespace evershard::kurrent {
namespace {

constexpr std::size_t pattern_bytes_most = 4'096;
constexpr std::size_t prefixes_most = 1'000;
constexpr std::int64_t pattern_memory_most = 4 << 20;

re2::RE2::Options pattern_options() {
  re2::RE2::Options options;
  options.set_log_errors(false);
  options.set_max_mem(pattern_memory_most);
  return options;
}

}  // namespace

struct EventFilter::Pattern {
  explicit Pattern(const std::string& text) : pattern(text, pattern_options()) {}
  re2::RE2 pattern;
};

Result<EventFilter> EventFilter::of(const ::event_store::client::streams::ReadReq::FilterOptions& options) {
  EventFilter filter;
  filter.by_stream_ = options.has_stream_identifier();
  const auto& expression = filter.by_stream_ ? options.stream_identifier() : options.event_type();
  filter.prefixes_.assign(expression.prefix().begin(), expression.prefix().end());
  if (filter.prefixes_.size() > prefixes_most)
    return refuse(ErrorCode::too_large, "a filter has more than " + std::to_string(prefixes_most) + " prefixes");
  if (!filter.prefixes_.empty()) return filter;
  if (expression.regex().empty())
    return refuse(ErrorCode::invalid_argument, "a filter has neither prefixes nor a pattern");
  if (expression.regex().size() > pattern_bytes_most)
    return refuse(ErrorCode::too_large,
                  "a filter's pattern has more than " + std::to_string(pattern_bytes_most) + " bytes");
  auto pattern = std::make_shared<const Pattern>(expression.regex());
  if (!pattern->pattern.ok())
    return refuse(ErrorCode::invalid_argument,
                  "pattern " + in_quotes(expression.regex(), 300) + " is not understood: " + pattern->pattern.error());
  filter.pattern_ = std::move(pattern);
  return filter;
}

bool EventFilter::takes(const RecordedEvent& event) const {
  return by_stream_ ? takes_text(name_of(event)) : takes_text(event.type);
}

bool EventFilter::takes_text(std::string_view text) const {
  if (pattern_) return re2::RE2::PartialMatch(re2::StringPiece(text.data(), text.size()), pattern_->pattern);
  return std::ranges::any_of(prefixes_, [&](const std::string& prefix) { return text.starts_with(prefix); });
}

}  // namespace evershard::kurrent
