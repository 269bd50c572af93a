// What a request of a node to a node ends with, whatever it asks.

#include <google/protobuf/io/coded_stream.h>
#include <google/protobuf/wire_format_lite.h>

#include <algorithm>
#include <limits>

#include "evershard/cluster/peers/peer_fields.hpp"
#include "evershard/cluster/peers/peer_messages.hpp"

namespace evershard::cluster {

namespace pb = evershard::v1;
using google::protobuf::internal::WireFormatLite;

std::string encode_asked_under(const sharding::Leaderships& leaderships) {
  pb::AskedUnder message;
  for (const auto& led : leaderships) peer_fields::put_leadership(led, *message.add_leaderships());
  return message.SerializeAsString();
}

// The other fields are passed over, not copied: a request may carry an append of some MiB.
Result<sharding::Leaderships> decode_asked_under(std::string_view request) {
  sharding::Leaderships leaderships;
  if (request.size() > std::numeric_limits<int>::max()) return peer_fields::malformed("request");
  google::protobuf::io::CodedInputStream in(reinterpret_cast<const std::uint8_t*>(request.data()),
                                            static_cast<int>(request.size()));
  const auto wanted =
      WireFormatLite::MakeTag(pb::AskedUnder::kLeadershipsFieldNumber, WireFormatLite::WIRETYPE_LENGTH_DELIMITED);
  while (const auto tag = in.ReadTag()) {
    if (tag != wanted) {
      if (!WireFormatLite::SkipField(&in, tag)) return peer_fields::malformed("request");
      continue;
    }
    pb::Leadership led;
    std::string bytes;
    std::uint32_t size = 0;
    if (!in.ReadVarint32(&size) || !in.ReadString(&bytes, static_cast<int>(size)) || !led.ParseFromString(bytes) ||
        !peer_fields::get_leadership(led, leaderships.emplace_back()))
      return peer_fields::malformed("request");
  }
  if (!in.ConsumedEntireMessage() || !std::ranges::is_sorted(leaderships, {}, &sharding::Leadership::epoch))
    return peer_fields::malformed("request");
  return leaderships;
}

}  // namespace evershard::cluster
