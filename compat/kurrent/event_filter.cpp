#include "evershard/compat/kurrent/event_filter.hpp"

#include <re2/re2.h>

#include <algorithm>
#include <optional>
#include <utility>

#include "evershard/compat/kurrent/dotnet_pattern.hpp"
#include "evershard/compat/kurrent/stream_name.hpp"
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

/// Of `^(?!X)`, which some clients send unasked, `^(?:X)`: what it takes is what that does not match. RE2 knows no
/// look-around; there is no other form of it that can be turned round.
std::optional<std::string> refused_by(std::string_view pattern) {
  constexpr std::string_view begins = "^(?!";
  if (!pattern.starts_with(begins)) return std::nullopt;
  std::size_t depth = 1, in_class = 0;  // a class's first character is one of it, also `]`
  for (std::size_t at = begins.size(); at < pattern.size(); ++at) {
    const char c = pattern[at];
    if (c == '\\') {
      ++at;
    } else if (in_class != 0) {
      const bool first = at == in_class + 1 || (at == in_class + 2 && pattern[at - 1] == '^');
      if (c == ']' && !first) in_class = 0;
    } else if (c == '[') {
      in_class = at;
    } else if (c == '(') {
      ++depth;
    } else if (c == ')' && --depth == 0) {
      const auto rest = pattern.substr(at + 1);
      if (!rest.empty() && rest != ".*" && rest != ".*$") return std::nullopt;
      return "^(?:" + std::string(pattern.substr(begins.size(), at - begins.size())) + ')';
    }
  }
  return std::nullopt;
}

constexpr std::string_view index_mark = "$idx-";

/// Absent: it is none that is served.
std::optional<Derived> index_named(std::string_view prefix) {
  const auto rest = prefix.substr(index_mark.size());
  for (const auto& [mark, of] :
       {std::pair{std::string_view("ce-"), Derived::Of::category}, {std::string_view("et-"), Derived::Of::event_type}})
    if (rest.size() > mark.size() && rest.starts_with(mark)) return Derived{of, std::string(rest.substr(mark.size()))};
  return std::nullopt;
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
  for (const auto& prefix : filter.prefixes_) {
    if (!filter.by_stream_ || !prefix.starts_with(index_mark)) continue;
    if (filter.prefixes_.size() != 1)
      return refuse(ErrorCode::invalid_argument, "an index, " + in_quotes(prefix, 300) + ", is read by itself");
    filter.index_ = index_named(prefix);
    if (!filter.index_)
      return refuse(ErrorCode::not_found,
                    "there is no index " + in_quotes(prefix, 300) + ": $idx-et-TYPE and $idx-ce-CATEGORY are there");
  }
  if (!filter.prefixes_.empty()) return filter;
  if (expression.regex().empty())
    return refuse(ErrorCode::invalid_argument, "a filter has neither prefixes nor a pattern");
  if (expression.regex().size() > pattern_bytes_most)
    return refuse(ErrorCode::too_large,
                  "a filter's pattern has more than " + std::to_string(pattern_bytes_most) + " bytes");
  const auto refused = refused_by(expression.regex());
  filter.refuses_ = refused.has_value();
  const auto translated = re2_pattern_of(refused.value_or(expression.regex()));
  if (!translated) return refuse(translated.error());
  auto pattern = std::make_shared<const Pattern>(*translated);
  if (!pattern->pattern.ok())
    return refuse(ErrorCode::invalid_argument,
                  "pattern " + in_quotes(expression.regex(), 300) + " is not understood: " + pattern->pattern.error());
  filter.pattern_ = std::move(pattern);
  return filter;
}

bool EventFilter::takes(const RecordedEvent& event) const {
  if (index_) return index_->takes(event);
  return by_stream_ ? takes_text(name_of(event)) : takes_text(event.type);
}

bool EventFilter::takes(const RecordedView& event) const {
  if (index_) return index_->takes(event);
  return by_stream_ ? takes_text(name_of(event)) : takes_text(event.type);
}

bool EventFilter::takes_text(std::string_view text) const {
  if (pattern_)
    return re2::RE2::PartialMatch(re2::StringPiece(text.data(), text.size()), pattern_->pattern) != refuses_;
  return std::ranges::any_of(prefixes_, [&](const std::string& prefix) { return text.starts_with(prefix); });
}

}  // namespace evershard::kurrent
