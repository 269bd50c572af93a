#include "evershard/compat/umadb/words/uma_event.hpp"

#include <algorithm>
#include <charconv>

#include "evershard/compat/umadb/words/uma_names.hpp"
#include "evershard/protocol/in_quotes.hpp"
#include "evershard/protocol/limits.hpp"
#include "evershard/protocol/sort_once_each.hpp"

namespace evershard::umadb {
namespace {

std::optional<std::uint64_t> number_of(std::string_view text) {
  std::uint64_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return number;
}

bool is_ascending(const std::vector<Tag>& tags) {
  return std::adjacent_find(tags.begin(), tags.end(), std::greater_equal<>()) == tags.end();
}

/// `1 0 0`: the place of each among those that are stored.
std::string order_of(const std::vector<Tag>& tags, const std::vector<Tag>& stored) {
  std::string order;
  for (const auto& tag : tags) {
    const auto place = std::lower_bound(stored.begin(), stored.end(), tag) - stored.begin();
    order += (order.empty() ? "" : " ") + std::to_string(place);
  }
  return order;
}

Result<void> check_keys(const ::umadb::v1::Event& from) {
  std::vector<std::string_view> keys;
  keys.reserve(static_cast<std::size_t>(from.metadata_size()));
  for (const auto& entry : from.metadata()) {
    if (is_own_key(entry.key())) {
      return refuse(ErrorCode::invalid_argument,
                    "metadata key " + in_quotes(entry.key(), 300) + " is kept for Evershard's own use");
    }
    keys.push_back(entry.key());
  }
  std::sort(keys.begin(), keys.end());
  const auto twice = std::adjacent_find(keys.begin(), keys.end());
  if (twice == keys.end()) return {};
  return refuse(ErrorCode::invalid_argument,
                "metadata contains duplicate keys: " + in_quotes(std::string(*twice), 300) + " comes more than once");
}

void add_metadata(const ::umadb::v1::Event& from, const std::string& tag_order, const Tracking* tracking,
                  Event& event) {
  if (from.metadata().empty() && tag_order.empty() && tracking == nullptr) return;
  UmaMetadataText metadata;
  for (const auto& entry : from.metadata()) metadata.add(entry.key(), entry.value());
  if (!tag_order.empty()) metadata.add(tag_order_key, tag_order);
  if (tracking != nullptr) metadata.add(tracking_position_key, std::to_string(tracking->position));
  event.metadata = metadata.take();
}

}  // namespace

Result<Event> event_of(::umadb::v1::Event& from, const Tracking* tracking) {
  Event event;
  if (from.uuid().empty()) {
    event.id = id_of(NoId::none);
  } else {
    const auto id = EventId::parse(from.uuid());
    if (!id) return refuse(ErrorCode::invalid_argument, in_quotes(from.uuid(), 300) + " is no UUID of an event");
    event.id = id->given() ? *id : id_of(NoId::nil);
  }
  event.type = std::move(*from.mutable_event_type());
  event.tags.reserve(static_cast<std::size_t>(from.tags_size()) + 2);
  for (auto& tag : *from.mutable_tags()) {
    if (is_own_tag(tag))
      return refuse(ErrorCode::invalid_argument, "tag " + in_quotes(tag, 300) + " is kept for Evershard's own use");
    event.tags.push_back(std::move(tag));
  }
  std::string tag_order;
  if (!is_ascending(event.tags)) {
    auto stored = event.tags;
    sort_once_each(stored);
    tag_order = order_of(event.tags, stored);
    event.tags = std::move(stored);
  }
  EVERSHARD_TRY(check_keys(from));
  add_metadata(from, tag_order, tracking, event);
  if (tracking != nullptr) {
    event.tags.push_back(std::string(tracking_tag) + tracking->source);
    event.tags.push_back(std::string(tracking_position_tag) + std::to_string(tracking->position));
  }
  event.payload = std::move(*from.mutable_data());
  return event;
}

void give_other_id(Event& event) {
  if (no_id(event.id)) {
    event.id = id_of(*no_id(event.id));
    return;
  }
  const auto member = '"' + std::string(uuid_key) + "\":\"" + event.id.text() + "\"}";
  if (!event.metadata) {
    event.metadata = '{' + member;
  } else {
    event.metadata->back() = ',';  // it is an object of ours
    *event.metadata += member;
  }
  event.id = EventId::random();
}

Result<void> check(const Tracking& tracking) {
  constexpr auto most = tag_bytes_max - tracking_tag.size();
  if (tracking.source.empty()) return refuse(ErrorCode::invalid_argument, "the tracking source has no name");
  if (tracking.source.size() <= most) return {};
  return refuse(ErrorCode::invalid_argument, "tracking source too long: " + std::to_string(tracking.source.size()) +
                                                 " bytes, the limit is " + std::to_string(most));
}

void UmaEvent::show(const RecordedView& event) {
  event_ = &event;
  metadata_.read(event.metadata_bytes());
  uuid_bytes_ = 0;
  if (!metadata_.uuid().empty())
    put_uuid(metadata_.uuid());
  else if (const auto what = no_id(event.id); !what)
    put_uuid(event.id);
  else if (*what == NoId::nil)
    put_uuid(EventId{});
  tracking_.reset();
  stored_tags_.clear();
  std::optional<std::string_view> source;
  auto position = number_of(metadata_.tracking_position());
  for (const auto tag : event.tags) {
    if (!is_own_tag(tag))
      stored_tags_.push_back(tag);
    else if (tag.starts_with(tracking_tag))
      source = tag.substr(tracking_tag.size());
    else if (tag.starts_with(tracking_position_tag))
      position = number_of(tag.substr(tracking_position_tag.size()));
  }
  if (source && position) tracking_.emplace(*source, *position);
  put_tags_in_order();
  if (event.aggregate_type.empty()) return;
  metadata_.add(aggregate_key, std::string(event.aggregate_type) + '-' + std::string(event.aggregate_value));
  metadata_.add(seq_nr_key, std::to_string(event.seq_nr.value));
}

/// What is no UUID was not written by us.
void UmaEvent::put_uuid(std::string_view text) {
  if (const auto id = EventId::parse(text)) put_uuid(*id);
}

void UmaEvent::put_uuid(const EventId& id) {
  constexpr std::string_view digits = "0123456789abcdef";
  auto* to = uuid_.data();
  for (std::size_t i = 0; i < id.bytes.size(); ++i) {
    if (i == 4 || i == 6 || i == 8 || i == 10) *to++ = '-';
    *to++ = digits[id.bytes[i] >> 4];
    *to++ = digits[id.bytes[i] & 0x0f];
  }
  uuid_bytes_ = uuid_.size();
}

void UmaEvent::put_tags_in_order() {
  tags_.clear();
  for (auto order = metadata_.tag_order(); !order.empty();) {
    const auto end = std::min(order.find(' '), order.size());
    const auto place = number_of(order.substr(0, end));
    if (!place || *place >= stored_tags_.size()) {  // written by somebody else: it says nothing
      tags_.clear();
      break;
    }
    tags_.push_back(stored_tags_[*place]);
    order.remove_prefix(std::min(end + 1, order.size()));
  }
  if (tags_.empty()) tags_ = stored_tags_;
}

}  // namespace evershard::umadb
