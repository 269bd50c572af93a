// Values <-> Protobuf bytes; see messages.hpp for who sees generated headers.

#pragma once

#include <string>
#include <string_view>

#include "evershard/protocol/append.hpp"
#include "evershard/protocol/read.hpp"
#include "evershard/protocol/recorded_view.hpp"
#include "evershard/protocol/snapshot.hpp"

namespace evershard::codec {

/// Of values that were checked (protocol/validate.hpp, Query::check): names are UTF-8, no Append is malformed.
///
/// Shape:  deterministic: equal values, equal bytes.
/// Source: protocol/v1/*.proto; golden bytes in tests/golden.
std::string encode(const Event&);
std::string encode(const RecordedEvent&);
std::string encode(const Query&);
std::string encode(const Append&);
std::string encode(const Appended&);
std::string encode(const Error&);
std::string encode(const ReadOptions&);
std::string encode(const StreamOptions&);
std::string encode(const Snapshot&);
std::string encode(const RecordedSnapshot&);
std::string encode(const Page&);

/// A page's bytes, made of events that are not built: the same as of encode(Page).
class PageEncoder {
 public:
  void add(const RecordedView& event);
  [[nodiscard]] std::size_t events() const { return events_; }
  /// Shape: once.
  [[nodiscard]] std::string finish(GlobalPosition watermark, bool complete);

 private:
  std::string bytes_;
  std::size_t events_ = 0;
};

/// An append, and what of it is the door's.
[[nodiscard]] Result<Append> decode_append(std::string_view bytes, std::uint32_t& conflicts_max);

/// T: one of the values above. Fields it does not know are skipped: a newer peer may have more to say.
///
/// Errors: invalid_argument, naming the field (`events[2].aggregate: ...`): an id of another size, an unknown
///         enumerator, a number out of its range, a malformed aggregate, a part that must be there and is not.
template <class T>
[[nodiscard]] Result<T> decode(std::string_view bytes);

}  // namespace evershard::codec
