// What stands around the code of the pages about what is derived from events (projections, tables, groups, copies), so
// that it compiles and does what they say.

#include <evershard/local.hpp>
#include <evershard/sink.hpp>
#include <evershard/tables.hpp>
#include <filesystem>
#include <iostream>

#include "bank/bank.pb.h"

using namespace evershard;
using namespace std::chrono_literals;

namespace {

/// Says what does not hold, and ends the program.
void must(bool holds, const char* what) {
  if (holds) return;
  std::cerr << what << '\n';
  std::exit(1);
}

void append_orders(EventStore& store) {
  const char* order = R"({"items":[{"sku":"tea","price":12}]})";
  store.append(Append{}.event("order-1", "OrderPlaced", order).event("order-1", "ItemAdded", "{}")).value();
}

void projections() {
  std::filesystem::remove_all("shop");
  {
    auto before = Local::open({.data_dir = "shop"}).value();
    append_orders(before);
  }
#include "projections.inc"
  must(page && page->entries.size() == 1 && page->entries[0].value == "12", "projections.inc: the value is found");
}

void tables() {
  auto store = Local::open().value();
  append_orders(store);
#include "handler.inc"
  must(added && made, "handler.inc: the table is made");
  const auto rows =
      store.tables().select("orders", {}, {.at_least = store.head().value(), .timeout = std::chrono::seconds(30)});
  must(rows && rows->rows.size() == 1, "handler.inc: there is a row");
  const auto account = [](const RecordedEvent& recorded) { return recorded.aggregate->text(); };
#include "typed.inc"
  must(handler.query().items().size() == 1, "typed.inc: there is a query");
}

bool bill(const RecordedEvent& event) { return event.type == "OrderPlaced"; }

void groups_of_workers() {
  auto store = Local::open().value();
  append_orders(store);
  const auto settled = [&] { return store.groups().group("billing").value().acknowledged; };
  bool running = true;
  const auto bill = [&](const RecordedEvent& event) {
    running = false;
    return ::bill(event);
  };
#include "groups.inc"
  must(settled() == 1, "groups.inc: the event is acknowledged");
}

/// Rows and checkpoint in memory.
class Balances : public SinkTarget {
 public:
  Result<std::optional<SinkCheckpoint>> checkpoint() override { return checkpoint_; }
  Result<void> write(std::span<const RecordedEvent> events, const std::optional<SinkCheckpoint>& expected,
                     const SinkCheckpoint& next) override {
    if (expected != checkpoint_) return tl::unexpected(Error(ErrorCode::fenced, "another writer"));
    written += events.size();
    checkpoint_ = next;
    return {};
  }
  std::size_t written = 0;

 private:
  std::optional<SinkCheckpoint> checkpoint_;
};

void sinks() {
  auto store = Local::open().value();
  append_orders(store);
  Balances target;
#include "sink.inc"
  must(target.written == 2, "sink.inc: both events are written");
}

}  // namespace

int main() {
  projections();
  tables();
  groups_of_workers();
  sinks();
  std::cout << "all well\n";
}
