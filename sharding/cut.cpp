#include "evershard/sharding/cut.hpp"

#include <algorithm>
#include <limits>

#include "evershard/protocol/check.hpp"
#include "evershard/protocol/limits.hpp"

namespace evershard::sharding {

namespace {

constexpr unsigned char format_version = 1;

// Of the cut. A flag that is not known is refused: it announces fields that cannot be read past.
constexpr std::uint64_t with_openings = 1;
constexpr std::uint64_t with_losses = 2;
constexpr std::uint64_t with_replicas = 4;
constexpr std::uint64_t with_learned = 8;
constexpr std::uint64_t flags_known = with_openings | with_losses | with_replicas | with_learned;

// No shard has this number: what other nodes hold has a count and nothing else.
constexpr ShardId elsewhere_shard{65'535};
static_assert(shards_max <= 65'535);

// Of a segment, below its shard number: what usually is the same costs nothing, so that a single event of the first
// sixteen shards takes one byte and its offset.
constexpr std::uint64_t with_refused = 1;
constexpr std::uint64_t with_epoch = 2;  // another one than the segment before
constexpr std::uint64_t one_event = 4;   // no count follows
constexpr unsigned segment_flag_bits = 3;

constexpr std::size_t varint_bytes_max = 10;
constexpr Epoch usual_epoch{1};

char* put(char* to, std::uint64_t value) {
  while (value >= 0x80) {
    *to++ = static_cast<char>(value | 0x80);
    value >>= 7;
  }
  *to++ = static_cast<char>(value);
  return to;
}

// Reads varints until one is cut short, too large or longer than need be; then stays failed.
class Varints {
 public:
  explicit Varints(std::string_view bytes) : at_(bytes.data()), end_(bytes.data() + bytes.size()) {}

  std::uint64_t next() {
    if (at_ != end_ && static_cast<unsigned char>(*at_) < 0x80) return static_cast<unsigned char>(*at_++);
    return next_long();
  }
  [[nodiscard]] bool failed() const { return failed_; }
  [[nodiscard]] std::size_t left() const { return static_cast<std::size_t>(end_ - at_); }

 private:
  std::uint64_t next_long() {
    std::uint64_t value = 0;
    for (unsigned shift = 0; at_ != end_ && shift < 64; shift += 7) {
      const auto byte = static_cast<unsigned char>(*at_++);
      if (shift == 63 && byte > 1) break;
      value |= std::uint64_t{byte & 0x7Fu} << shift;
      if (byte >= 0x80) continue;
      if (byte == 0 && shift != 0) break;
      return value;
    }
    failed_ = true;
    at_ = end_;
    return 0;
  }

  const char* at_;
  const char* end_;
  bool failed_ = false;
};

Refused damaged(const std::string& why) { return refuse(ErrorCode::corruption, "a cut is damaged: " + why); }

Result<Segment> read_segment(Varints& in, Epoch epoch, CutOf of) {
  Segment segment;
  const std::uint64_t head = in.next();
  const std::uint64_t shard = head >> segment_flag_bits;
  if (shard == elsewhere_shard.value && of == CutOf::node) {
    const std::uint64_t count = in.next();
    if (head != std::uint64_t{elsewhere_shard.value} << segment_flag_bits)
      return damaged("a segment of other nodes has flags");
    if (count == 0 || count == std::numeric_limits<std::uint64_t>::max())
      return damaged("a segment of other nodes has no count");
    return Segment::elsewhere(count);
  }
  if (shard >= shards_max) return damaged("a segment names shard " + std::to_string(shard));
  segment.shard = ShardId{static_cast<std::uint16_t>(shard)};
  segment.epoch = epoch;
  if ((head & with_epoch) != 0) {
    segment.epoch = Epoch{in.next()};
    if (segment.epoch == epoch) return damaged("an epoch is repeated");
  }
  segment.first = ShardOffset{in.next()};
  if (segment.first.value == 0) return damaged("a segment begins at offset 0");
  const std::uint64_t count = (head & one_event) != 0 ? 1 : in.next();
  if (count == 0) return damaged("a segment is empty");
  if (count == 1 && (head & one_event) == 0) return damaged("a count of one is spelled out");
  if (count > std::numeric_limits<std::uint64_t>::max() - segment.first.value) return damaged("a segment has no end");
  segment.end = segment.first + count;
  if ((head & with_refused) == 0) return segment;

  const std::uint64_t refused = in.next();
  if (refused == 0 || refused > count || refused > in.left()) {
    return damaged("a segment of " + std::to_string(count) + " offsets refuses " + std::to_string(refused));
  }
  segment.refused.reserve(refused);
  ShardOffset from = segment.first;
  for (std::uint64_t i = 0; i < refused; ++i) {
    const std::uint64_t gap = in.next();
    if (gap >= segment.end - from) return damaged("a refused offset lies outside its segment");
    segment.refused.push_back(from + gap);
    from = from + gap + 1;
  }
  return segment;
}

Result<Opening> read_opening(Varints& in) {
  Opening opening;
  const std::uint64_t shard = in.next();
  const std::uint64_t epoch = in.next();
  const std::uint64_t node = in.next();
  const std::uint64_t tail = in.next();
  if (shard >= shards_max) return damaged("an opening names shard " + std::to_string(shard));
  if (node > std::numeric_limits<std::uint32_t>::max()) return damaged("an opening names node " + std::to_string(node));
  opening.shard = ShardId{static_cast<std::uint16_t>(shard)};
  opening.epoch = Epoch{epoch};
  opening.node = static_cast<std::uint32_t>(node);
  opening.tail = ShardOffset{tail};
  return opening;
}

// Which opening, from where, how many.
Result<void> read_loss(Varints& in, std::vector<Opening>& openings, std::uint64_t& least) {
  const std::uint64_t index = in.next();
  const std::uint64_t from = in.next();
  const std::uint64_t count = in.next();
  if (index < least || index >= openings.size()) return damaged("a loss names opening " + std::to_string(index));
  if (count == 0 || count > std::numeric_limits<std::uint64_t>::max() - from) return damaged("a loss has no end");
  openings[index].lost_from = ShardOffset{from};
  openings[index].lost_until = ShardOffset{from + count};
  least = index + 1;
  return {};
}

// Each by its distance from the one before.
Result<void> read_nodes(Varints& in, std::uint64_t count, std::vector<std::uint32_t>& nodes) {
  if (count == 0 || count > in.left()) return damaged("a replica set has " + std::to_string(count) + " nodes");
  std::uint64_t node = 0;
  for (std::uint64_t i = 0; i < count; ++i) {
    const std::uint64_t gap = in.next();
    if (gap == 0 || gap > std::numeric_limits<std::uint32_t>::max() - node)
      return damaged("the nodes of a replica set do not ascend");
    node += gap;
    nodes.push_back(static_cast<std::uint32_t>(node));
  }
  return {};
}

// The shard, the quorum, the nodes.
Result<NewReplicas> read_replicas(Varints& in) {
  NewReplicas replicas;
  const std::uint64_t shard = in.next();
  const std::uint64_t quorum = in.next();
  if (shard >= shards_max) return damaged("a replica set is of shard " + std::to_string(shard));
  if (quorum == 0 || quorum > std::numeric_limits<std::uint32_t>::max())
    return damaged("a replica set has a quorum of " + std::to_string(quorum));
  replicas.shard = ShardId{static_cast<std::uint16_t>(shard)};
  replicas.set.quorum = static_cast<std::uint32_t>(quorum);
  EVERSHARD_TRY(read_nodes(in, in.next(), replicas.set.nodes));
  return replicas;
}

char* put_nodes(char* to, const std::vector<std::uint32_t>& nodes) {
  to = put(to, nodes.size());
  std::uint32_t before = 0;
  for (const std::uint32_t node : nodes) {
    EVERSHARD_CHECK(node > before, "the nodes of a replica set ascend");
    to = put(to, node - before);
    before = node;
  }
  return to;
}

}  // namespace

Segment Segment::elsewhere(std::uint64_t events) {
  Segment segment;
  segment.shard = elsewhere_shard;
  segment.first = ShardOffset{1};
  segment.end = segment.first + events;
  return segment;
}

bool Segment::is_elsewhere() const { return shard == elsewhere_shard; }

std::uint64_t Cut::events() const {
  std::uint64_t events = 0;
  for (const Segment& segment : segments) events += segment.events();
  return events;
}

GlobalPosition Cut::last_position() const { return first_position + events() - 1; }

std::string encode(const Cut& cut) {
  std::string out;
  encode(cut, out);
  return out;
}

void encode(const Cut& cut, std::string& out) {
  const auto losses = static_cast<std::size_t>(std::ranges::count_if(cut.openings, &Opening::loses));
  std::size_t varints = 5 + 4 * cut.segments.size() + 1 + 4 * cut.openings.size() + 1 + 3 * losses;
  for (const Segment& segment : cut.segments) {
    if (!segment.refused.empty()) varints += 1 + segment.refused.size();
  }
  for (const NewReplicas& replicas : cut.replicas)
    varints += 5 + replicas.set.nodes.size() + replicas.set.learned.size();
  if (!cut.replicas.empty()) varints += 2;
  const auto learned = static_cast<std::size_t>(
      std::ranges::count_if(cut.replicas, [](const NewReplicas& replicas) { return !replicas.set.learned.empty(); }));
  const std::size_t begin = out.size();
  out.resize(begin + 1 + varints * varint_bytes_max);

  char* to = out.data() + begin;
  *to++ = static_cast<char>(format_version);
  to = put(to, (cut.openings.empty() ? 0 : with_openings) | (losses == 0 ? 0 : with_losses) |
                   (cut.replicas.empty() ? 0 : with_replicas) | (learned == 0 ? 0 : with_learned));
  to = put(to, cut.number.value);
  to = put(to, cut.coordinator.value);
  to = put(to, cut.first_position.value);
  to = put(to, cut.segments.size());
  Epoch epoch = usual_epoch;
  for (const Segment& segment : cut.segments) {
    EVERSHARD_CHECK(segment.first < segment.end, "a segment has offsets");
    const std::uint64_t count = segment.end - segment.first;
    if (segment.is_elsewhere()) {
      to = put(to, std::uint64_t{segment.shard.value} << segment_flag_bits);
      to = put(to, count);
      continue;
    }
    std::uint64_t head = std::uint64_t{segment.shard.value} << segment_flag_bits;
    if (!segment.refused.empty()) head |= with_refused;
    if (segment.epoch != epoch) head |= with_epoch;
    if (count == 1) head |= one_event;
    to = put(to, head);
    if (segment.epoch != epoch) to = put(to, segment.epoch.value);
    epoch = segment.epoch;
    to = put(to, segment.first.value);
    if (count != 1) to = put(to, count);
    if (segment.refused.empty()) continue;
    to = put(to, segment.refused.size());
    ShardOffset from = segment.first;
    for (const ShardOffset refused : segment.refused) {
      EVERSHARD_CHECK(refused >= from && refused < segment.end, "refused offsets ascend within their segment");
      to = put(to, refused - from);
      from = refused + 1;
    }
  }
  if (!cut.openings.empty()) {
    to = put(to, cut.openings.size());
    for (const Opening& opening : cut.openings) {
      to = put(to, opening.shard.value);
      to = put(to, opening.epoch.value);
      to = put(to, opening.node);
      to = put(to, opening.tail.value);
    }
  }
  if (losses != 0) {
    to = put(to, losses);
    for (std::size_t i = 0; i != cut.openings.size(); ++i) {
      const Opening& opening = cut.openings[i];
      if (!opening.loses()) continue;
      EVERSHARD_CHECK(opening.lost_from < opening.lost_until, "what is lost is a range");
      to = put(to, i);
      to = put(to, opening.lost_from.value);
      to = put(to, opening.lost_until - opening.lost_from);
    }
  }
  if (!cut.replicas.empty()) {
    to = put(to, cut.replicas.size());
    for (const NewReplicas& replicas : cut.replicas) {
      to = put(to, replicas.shard.value);
      to = put(to, replicas.set.quorum);
      to = put_nodes(to, replicas.set.nodes);
    }
  }
  if (learned != 0) {
    to = put(to, learned);
    for (std::size_t i = 0; i != cut.replicas.size(); ++i) {
      if (cut.replicas[i].set.learned.empty()) continue;
      to = put(to, i);
      to = put_nodes(to, cut.replicas[i].set.learned);
    }
  }
  out.resize(static_cast<std::size_t>(to - out.data()));
}

Result<Cut> decode_cut(std::string_view bytes, CutOf of) {
  if (bytes.empty()) return damaged("it has no bytes");
  if (static_cast<unsigned char>(bytes.front()) != format_version) {
    return refuse(ErrorCode::corruption, "a cut has format version " +
                                             std::to_string(static_cast<unsigned char>(bytes.front())) +
                                             ", this program knows " + std::to_string(format_version));
  }
  Varints in(bytes.substr(1));
  const std::uint64_t flags = in.next();
  if ((flags & ~flags_known) != 0) return damaged("it has unknown flags " + std::to_string(flags));

  Cut cut;
  cut.number = CutNumber{in.next()};
  cut.coordinator = Epoch{in.next()};
  cut.first_position = GlobalPosition{in.next()};
  const std::uint64_t segments = in.next();
  if (in.failed()) return damaged("its head is cut short");
  if (cut.first_position.value == 0) return damaged("it begins at position 0");
  if (segments > in.left() / 2) return damaged("it announces " + std::to_string(segments) + " segments");
  cut.segments.reserve(segments);
  Epoch epoch = usual_epoch;
  std::uint64_t room = std::numeric_limits<std::uint64_t>::max() - cut.first_position.value;
  for (std::uint64_t i = 0; i < segments; ++i) {
    auto segment = read_segment(in, epoch, of);
    if (!segment) return refuse(std::move(segment).error());
    if (in.failed()) return damaged("a segment is cut short");
    if (segment->events() > room) return damaged("its positions have no end");
    room -= segment->events();
    if (!segment->is_elsewhere()) epoch = segment->epoch;
    cut.segments.push_back(std::move(*segment));
  }
  if ((flags & with_openings) != 0) {
    const std::uint64_t openings = in.next();
    if (openings == 0 || openings > in.left() / 4)
      return damaged("it announces " + std::to_string(openings) + " openings");
    cut.openings.reserve(openings);
    for (std::uint64_t i = 0; i < openings; ++i) {
      auto opening = read_opening(in);
      if (!opening) return refuse(std::move(opening).error());
      if (in.failed()) return damaged("an opening is cut short");
      cut.openings.push_back(*opening);
    }
  }
  if ((flags & with_losses) != 0) {
    const std::uint64_t losses = in.next();
    if (losses == 0 || losses > cut.openings.size())
      return damaged("it announces " + std::to_string(losses) + " losses");
    std::uint64_t least = 0;
    for (std::uint64_t i = 0; i < losses; ++i) {
      EVERSHARD_TRY(read_loss(in, cut.openings, least));
      if (in.failed()) return damaged("a loss is cut short");
    }
  }
  if ((flags & with_replicas) != 0) {
    const std::uint64_t sets = in.next();
    if (sets == 0 || sets > in.left() / 4) return damaged("it announces " + std::to_string(sets) + " replica sets");
    for (std::uint64_t i = 0; i < sets; ++i) {
      auto replicas = read_replicas(in);
      if (!replicas) return refuse(std::move(replicas).error());
      if (in.failed()) return damaged("a replica set is cut short");
      cut.replicas.push_back(std::move(*replicas));
    }
  }
  if ((flags & with_learned) != 0) {
    const std::uint64_t learned = in.next();
    if (learned == 0 || learned > cut.replicas.size())
      return damaged("it announces " + std::to_string(learned) + " replica sets with learners");
    std::uint64_t least = 0;
    for (std::uint64_t i = 0; i < learned; ++i) {
      const std::uint64_t index = in.next();
      if (index < least || index >= cut.replicas.size())
        return damaged("learners are of replica set " + std::to_string(index));
      EVERSHARD_TRY(read_nodes(in, in.next(), cut.replicas[index].set.learned));
      if (in.failed()) return damaged("the learners of a replica set are cut short");
      least = index + 1;
    }
  }
  if (in.failed() || in.left() != 0) return damaged(std::to_string(in.left()) + " bytes follow its end");
  return cut;
}

}  // namespace evershard::sharding
