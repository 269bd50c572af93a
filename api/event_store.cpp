#include "evershard/api/event_store.hpp"

#include <utility>

namespace evershard {

std::future<Result<Appended>> EventStore::append_future(Append append) {
  auto promise = std::make_shared<std::promise<Result<Appended>>>();
  auto future = promise->get_future();
  append_async(std::move(append), [promise](Result<Appended> answer) { promise->set_value(std::move(answer)); });
  return future;
}

EventStream EventStore::read(std::string_view aggregate, StreamOptions options) {
  auto id = AggregateId::parse(aggregate);
  if (!id) return EventStream(std::move(id).error());
  return read(*std::move(id), std::move(options));
}

}  // namespace evershard
