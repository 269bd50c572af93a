// Fuzzing what is decoded for UmaDB's clients: metadata of any bytes, pages of any bytes, appends and queries of any
// that are messages. The first byte says which the rest is.

#include <google/protobuf/stubs/logging.h>

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "evershard/compat/umadb/words/uma_append.hpp"
#include "evershard/compat/umadb/words/uma_pages.hpp"
#include "evershard/protocol/check.hpp"
#include "evershard/protocol/codec.hpp"
#include "evershard/protocol/shown_event.hpp"
#include "evershard/protocol/utf8.hpp"
#include "evershard/protocol/validate.hpp"

namespace {

using namespace evershard;
namespace uma = evershard::umadb;

void look_at_metadata(std::string_view bytes) {
  uma::UmaMetadata read;
  read.read(bytes);
  uma::UmaMetadataText text;
  for (const auto& [key, value] : read.pairs()) {
    EVERSHARD_CHECK(is_utf8(key) && is_utf8(value), "what is shown is text");
    text.add(key, value);
  }
  const auto written = text.take();
  uma::UmaMetadata again;
  again.read(written);
  EVERSHARD_CHECK(again.pairs() == read.pairs(), "pairs that are written are read as they were");
}

void look_at_page(std::string_view bytes) {
  const auto page = codec::decode<Page>(bytes);
  if (!page) return;
  uma::UmaResponse response;
  RecordedView view;
  for (const auto& event : page->events) {
    show(event, view);
    response.add(view);
  }
  auto made = response.take();
  uma::put_head(7, made);
  ::umadb::v1::ReadResponse read;
  EVERSHARD_CHECK(read.ParseFromString(made), "a page of ours is a response of theirs");
  EVERSHARD_CHECK(static_cast<std::size_t>(read.events_size()) == page->events.size() && read.head() == 7,
                  "with all its events");
}

void look_at_append(std::string_view bytes) {
  ::umadb::v1::AppendRequest request;
  if (!request.ParseFromArray(bytes.data(), static_cast<int>(bytes.size()))) return;
  const ::umadb::v1::AppendRequest given = request;
  auto made = uma::UmaAppend::of(request);
  if (!made) {
    EVERSHARD_CHECK(is_utf8(made.error().what), "a refusal is text");
    return;
  }
  EVERSHARD_CHECK(made->append.events.size() == static_cast<std::size_t>(given.events_size()), "an event each");
  for (const auto& condition : made->append.conditions)
    EVERSHARD_CHECK(condition.query.check().has_value(), "a query of ours is one that the store takes");
  for (int i = 0; i < given.events_size(); ++i) {
    auto& event = made->append.events[static_cast<std::size_t>(i)];
    if (!check(event, Limits::most())) continue;
    normalise(event);
    RecordedView view;
    view.position = GlobalPosition(1);
    view.id = event.id;
    view.type = event.type;
    view.tags.assign(event.tags.begin(), event.tags.end());
    view.payload = event.payload;
    view.metadata = event.metadata;
    uma::UmaEvent shown;
    shown.show(view);
    const auto& was = given.events(i);
    EVERSHARD_CHECK(shown.type() == was.event_type() && shown.data() == was.data(), "type and data come back");
    EVERSHARD_CHECK(shown.tags().size() == static_cast<std::size_t>(was.tags_size()), "tags come back");
    for (int t = 0; t < was.tags_size(); ++t)
      EVERSHARD_CHECK(shown.tags()[static_cast<std::size_t>(t)] == was.tags(t), "in their order");
    EVERSHARD_CHECK(shown.metadata().size() == static_cast<std::size_t>(was.metadata_size()), "metadata comes back");
    for (int m = 0; m < was.metadata_size(); ++m) {
      const auto& [key, value] = shown.metadata()[static_cast<std::size_t>(m)];
      EVERSHARD_CHECK(key == was.metadata(m).key() && value == was.metadata(m).value(), "in its order");
    }
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size == 0) return 0;
  const google::protobuf::LogSilencer silence;
  const std::string_view rest(reinterpret_cast<const char*>(data) + 1, size - 1);
  if (data[0] == 0) look_at_metadata(rest);
  if (data[0] == 1) look_at_page(rest);
  if (data[0] == 2) look_at_append(rest);
  return 0;
}
