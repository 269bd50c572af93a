// UmaMetadata: our metadata, which is bytes, as the pairs that UmaDB's clients see.

#pragma once

#include <deque>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "evershard/api/json/json_text.hpp"

namespace evershard::umadb {

/// A JSON object is a pair a member, in its order: texts as they are, other values as their JSON. Anything else is one
/// pair. What is read again and again keeps the memory of its lists.
class UmaMetadata {
 public:
  /// Shape: `metadata` outlives the views into it that the functions below give.
  void read(std::string_view metadata);

  /// Without our own keys.
  [[nodiscard]] const std::vector<std::pair<std::string_view, std::string_view>>& pairs() const { return pairs_; }
  // Ours; empty: it is not there.
  [[nodiscard]] std::string_view tracking_position() const { return tracking_position_; }
  [[nodiscard]] std::string_view tag_order() const { return tag_order_; }
  [[nodiscard]] std::string_view uuid() const { return uuid_; }

  /// A further pair, unless there is one of this key. Shape: `key` lives as long as the program.
  void add(std::string_view key, std::string value);

 private:
  void clear();
  bool read_plain(std::string_view metadata);
  bool read_object(std::string_view metadata);
  void take(std::string_view key, std::string_view value);
  std::string_view keep(std::string text) { return kept_.emplace_back(std::move(text)); }

  std::vector<std::pair<std::string_view, std::string_view>> pairs_;
  std::string_view tracking_position_, tag_order_, uuid_;
  std::deque<std::string> kept_;
};

/// Writes metadata: an object of texts. Nothing was added: no bytes.
class UmaMetadataText {
 public:
  void add(std::string_view key, std::string_view value);
  [[nodiscard]] std::string take();

 private:
  JsonText json_;
};

}  // namespace evershard::umadb
