#include "reader.hpp"

#include "evershard/storage/reader.hpp"

namespace evershard::actors {
namespace {

using messages::PageAnswer;
using messages::PageAtom;
using messages::PageMessage;
using messages::ReaderActor;

Result<Page> read_page(const storage::Store& store, const PageMessage& message) {
  const storage::Reader reader(store);
  const auto view = store.view();
  std::unique_ptr<storage::EventCursor> cursor;
  if (const auto* of_query = std::get_if<PageMessage::OfQuery>(message.read.get())) {
    EVERSHARD_TRY(of_query->query.check());
    cursor = reader.open(view, of_query->query, of_query->options);
  } else {
    const auto& of_stream = std::get<PageMessage::OfStream>(*message.read);
    EVERSHARD_TRY(AggregateId::check(of_stream.aggregate));
    cursor = reader.open(view, of_stream.aggregate, of_stream.options);
  }
  Page page;
  page.watermark = view.watermark;
  EVERSHARD_TRY(cursor->next(message.events_max, message.bytes_max, page.events));
  page.complete = cursor->at_end();
  return page;
}

ReaderActor::behavior_type reader(ReaderActor::pointer, const storage::Store* store) {
  return {
      [=](PageAtom, const PageMessage& message) {
        return PageAnswer{std::make_shared<const Result<Page>>(read_page(*store, message))};
      },
  };
}

}  // namespace

messages::ReaderActor spawn_reader(caf::actor_system& system, const storage::Store& store) {
  return system.spawn<caf::detached>(reader, &store);
}

}  // namespace evershard::actors
