// Fuzzing what is decoded for KurrentDB's clients: names of streams, their metadata, links; appends, reads and records
// of any bytes that are messages. The first byte says which the rest is.

#include <google/protobuf/stubs/logging.h>

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "evershard/compat/kurrent/event_form.hpp"
#include "evershard/compat/kurrent/reading.hpp"
#include "evershard/compat/kurrent/records.hpp"
#include "evershard/compat/kurrent/stream_metadata.hpp"
#include "evershard/compat/kurrent/stream_name.hpp"
#include "evershard/protocol/check.hpp"
#include "evershard/protocol/utf8.hpp"
#include "evershard/protocol/validate.hpp"

namespace {

using namespace evershard;
using namespace evershard::kurrent;

void look_at_name(std::string_view bytes) {
  const auto aggregate = aggregate_of(bytes);
  if (!aggregate) {
    EVERSHARD_CHECK(is_utf8(aggregate.error().what), "a refusal is text");
    return;
  }
  EVERSHARD_CHECK(AggregateId::check(*aggregate).has_value(), "a name's aggregate is one that the store takes");
  const auto name = name_of(*aggregate);
  EVERSHARD_CHECK(name == bytes, "a stream is shown under its own name");
  const auto again = aggregate_of(name);
  EVERSHARD_CHECK(again && *again == *aggregate, "and found under it");
  static_cast<void>(check_writable(name, *aggregate));
}

void look_at_metadata(std::string_view bytes) {
  const auto read = metadata_from(bytes);
  const auto changed = metadata_from(with_first_revision(bytes, 7));
  EVERSHARD_CHECK(changed.from == 7u, "the first revision is what it was set to");
  EVERSHARD_CHECK(changed.count_max == read.count_max && changed.age_max_s == read.age_max_s, "all else is kept");
  for (const std::uint64_t version : {std::uint64_t(0), std::uint64_t(9), std::uint64_t(1) << 40})
    static_cast<void>(visible_of(read, SeqNr(version), SeqNr(version / 2), Timestamp::last()));
}

void look_at_append(std::string_view bytes) {
  esp::BatchAppendReq request;
  if (!request.ParseFromArray(bytes.data(), static_cast<int>(bytes.size()))) return;
  const auto aggregate = aggregate_of(request.options().stream_identifier().stream_name());
  if (!aggregate) return;
  for (auto& proposed : *request.mutable_proposed_messages()) {
    const auto was = proposed;
    auto event = event_of(proposed, *aggregate);
    if (!event) {
      EVERSHARD_CHECK(is_utf8(event.error().what), "a refusal is text");
      continue;
    }
    if (!check(*event, Limits::most())) continue;
    const auto own = event->id;
    rename_id(*event);
    RecordedEvent recorded;
    recorded.position = GlobalPosition(1);
    recorded.seq_nr = SeqNr{1};
    recorded.aggregate = event->aggregate;
    recorded.id = event->id;
    recorded.type = event->type;
    recorded.tags = event->tags;
    recorded.payload = event->payload;
    recorded.metadata = event->metadata;
    recorded.format = event->format;
    EVERSHARD_CHECK(shown_id(recorded) == own, "an id that was renamed is shown as it was");
    esp::ReadResp::ReadEvent::RecordedEvent shown;
    put_event(recorded, true, shown);
    EVERSHARD_CHECK(shown.data() == was.data() && shown.custom_metadata() == was.custom_metadata(), "bytes come back");
    EVERSHARD_CHECK(id_of(shown.id()).value() == own, "in either form of an id");
  }
}

void look_at_read(std::string_view bytes) {
  esp::ReadReq request;
  if (!request.ParseFromArray(bytes.data(), static_cast<int>(bytes.size()))) return;
  const auto plan = ReadPlan::of(request);
  if (!plan) {
    EVERSHARD_CHECK(is_utf8(plan.error().what), "a refusal is text");
    return;
  }
  EVERSHARD_CHECK(!plan->subscription || !plan->backwards, "a subscription goes forwards");
  if (!plan->filter) return;
  RecordedEvent event;
  event.type = "OrderPlaced";
  event.aggregate = AggregateId{"order", "7"};
  static_cast<void>(plan->filter->takes(event));
}

void look_at_records(std::string_view bytes) {
  esv2::AppendRecordsRequest request;
  if (!request.ParseFromArray(bytes.data(), static_cast<int>(bytes.size()))) return;
  const auto records = request.records_size();
  const auto made = records_write(request);
  if (!made) {
    EVERSHARD_CHECK(is_utf8(made.error().what), "a refusal is text");
    return;
  }
  EVERSHARD_CHECK(made->write.events.size() == static_cast<std::size_t>(records), "an event each");
  EVERSHARD_CHECK(made->checks.size() == made->write.streams.size(), "a place for a check of each stream");
  static_cast<void>(too_large_status(made->write, Limits()));
}

void look_at_session(std::string_view bytes) {
  std::vector<esv2::AppendRequest> requests(1);
  if (!requests[0].ParseFromArray(bytes.data(), static_cast<int>(bytes.size()))) return;
  const auto records = requests[0].records_size();
  const auto made = session_write(requests);
  if (made) EVERSHARD_CHECK(made->events.size() == static_cast<std::size_t>(records), "an event each");
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size == 0) return 0;
  const google::protobuf::LogSilencer silence;
  const std::string_view rest(reinterpret_cast<const char*>(data) + 1, size - 1);
  if (data[0] == 0) look_at_name(rest);
  if (data[0] == 1) look_at_metadata(rest);
  if (data[0] == 2) look_at_append(rest);
  if (data[0] == 3) look_at_read(rest);
  if (data[0] == 4) look_at_records(rest);
  if (data[0] == 5) look_at_session(rest);
  if (data[0] == 6) static_cast<void>(target_of(rest));
  return 0;
}
