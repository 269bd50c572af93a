// Projections: a table that catches up, beside one write an event; an index beside the bare query; selects by an index
// and over every row.

#include <evershard/local.hpp>

#include "evershard/bench/parts.hpp"
#include "evershard/bench/projection_load.hpp"

namespace evershard::bench {
namespace {

constexpr std::uint64_t updates_a_row = 10;
constexpr std::uint64_t events_an_append = 1'000;
constexpr auto catch_up_max = std::chrono::hours(1);

}  // namespace

std::string items_spec() {
  return R"({"fields":[{"name":"item","type":"text","role":"key"},{"name":"owner","type":"integer","role":"index"},{"name":"uses","type":"integer"},{"name":"note","type":"text"}],)"
         R"("rules":[{"types":["ItemMade"],"action":"upsert","key":"aggregate","fields":{"owner":"$.owner","uses":"$.uses","note":"$.note"}},)"
         R"({"types":["ItemUsed"],"action":"update","key":"aggregate","fields":{"owner":"$.owner","uses":"$.uses"}}]})";
}

Event item_event(std::uint64_t item, std::uint64_t owner, std::uint64_t uses, bool made) {
  Event event;
  event.aggregate = AggregateId{"item", std::to_string(item)};
  event.type = made ? "ItemMade" : "ItemUsed";
  event.payload = R"({"owner":)" + std::to_string(owner) + R"(,"uses":)" + std::to_string(uses) +
                  (made ? R"(,"note":"what is to be said of it"})" : "}");
  event.format = PayloadFormat::json;
  return event;
}

namespace {

/// Events of `rows` items: made, then each changed so many times, round by round.
Result<void> load(Local& store, std::uint64_t rows, std::uint64_t updates) {
  for (std::uint64_t round = 0; round <= updates; ++round) {
    for (std::uint64_t row = 0; row < rows;) {
      Append append;
      for (std::uint64_t i = 0; i < events_an_append && row < rows; ++i, ++row) {
        append.event(item_event(row, (row + round) % std::max<std::uint64_t>(rows / 10, 1), round, round == 0));
      }
      if (auto done = store.append(std::move(append)); !done) return refuse(std::move(done).error());
    }
  }
  return {};
}

/// Creates it, and waits until it has had every event. Returns: seconds
Result<double> caught_up(Local& store, const std::function<Result<std::string>()>& create) {
  const auto head = store.head();
  if (!head) return refuse(head.error());
  const double began = now_seconds();
  const auto name = create();
  if (!name) return refuse(name.error());
  if (auto there = store.projections().wait_until(*name, *head, catch_up_max); !there)
    return refuse(std::move(there).error());
  return now_seconds() - began;
}

Result<double> table_caught_up(Local& store, const std::string& name) {
  return caught_up(store, [&]() -> Result<std::string> {
    const auto created = store.projections().create(name, "table", items_spec());
    if (!created) return refuse(created.error());
    return created->name;
  });
}

Result<Figure> selects(Local& store, const BenchOptions& options, const std::string& workload,
                       const std::function<TableSelect(std::uint64_t)>& select, bool rows_looked_at) {
  std::uint64_t done = 0, number = 0;
  Latencies latencies;
  const double began = now_seconds();
  while (now_seconds() - began < options.seconds) {
    TableSelect each = select(number++);
    do {
      const double at = now_seconds();
      auto page = store.tables().select("items", each);
      if (!page) return refuse(std::move(page).error());
      latencies.add((now_seconds() - at) * 1e6);
      done += rows_looked_at ? page->looked_at : 1;
      each.continue_from = page->next;
    } while (!each.continue_from.empty());
  }
  return Figure{workload,
                static_cast<double>(done) / (now_seconds() - began),
                rows_looked_at ? "rows/s" : "selects/s",
                {},
                {},
                {},
                percentiles(latencies)};
}

Result<void> measure_catching_up(const BenchOptions& options, Report& report) {
  const std::uint64_t rows = std::max<std::uint64_t>(options.events / 10, 1'000);
  const std::uint64_t events = rows * (1 + updates_a_row);
  double one_by_one = 0;
  {
    auto store = Local::open({.data_dir = fresh(options, "projections-one"),
                              .projections = {.page_events_max = 1, .gathered_bytes_max = 0}});
    if (!store) return refuse(std::move(store).error());
    EVERSHARD_TRY(load(*store, rows, updates_a_row));
    EVERSHARD_TRY(store->flush());
    const auto seconds = table_caught_up(*store, "items");
    if (!seconds) return refuse(seconds.error());
    one_by_one = static_cast<double>(events) / *seconds;
    EVERSHARD_TRY(add(options, report, Figure{"table catching up, one write an event", one_by_one, "events/s"}));
  }
  auto store = Local::open({.data_dir = fresh(options, "projections")});
  if (!store) return refuse(std::move(store).error());
  EVERSHARD_TRY(load(*store, rows, updates_a_row));
  EVERSHARD_TRY(store->flush());
  const auto seconds = table_caught_up(*store, "items");
  if (!seconds) return refuse(seconds.error());
  const double rate = static_cast<double>(events) / *seconds;
  const double ratio = rate / one_by_one;
  EVERSHARD_TRY(add(options, report,
                    Figure{"table catching up, one index",
                           rate,
                           "events/s",
                           {{"table catching up, one write an event", ratio, ratio, ratio, "at least 5", ratio >= 5}},
                           "at least 100,000",
                           rate >= 100'000,
                           {{"rows", static_cast<double>(rows)}}}));

  const Query used = Query{}.types({"ItemUsed"});
  const double began = now_seconds();
  std::uint64_t found = 0;
  auto stream = store->read(used);
  for (const auto& event : stream) found += event.position.value != 0;
  if (stream.error()) return refuse(*stream.error());
  const double scan = static_cast<double>(found) / (now_seconds() - began);
  EVERSHARD_TRY(add(options, report, Figure{"bare query", scan, "events/s"}));
  const auto indexed = caught_up(*store, [&]() -> Result<std::string> {
    const auto created = store->projections().create_index(used);
    if (!created) return refuse(created.error());
    return created->name;
  });
  if (!indexed) return refuse(indexed.error());
  const double index_rate = static_cast<double>(found) / *indexed;
  return add(options, report,
             Figure{"index projection catching up",
                    index_rate,
                    "events/s",
                    {{"bare query", index_rate / scan, index_rate / scan, index_rate / scan, "at least 0.5",
                      index_rate >= scan / 2}}});
}

Result<void> measure_selects(const BenchOptions& options, Report& report) {
  auto store = Local::open({.data_dir = fresh(options, "projections-select")});
  if (!store) return refuse(std::move(store).error());
  EVERSHARD_TRY(load(*store, options.events, 0));
  const auto made = table_caught_up(*store, "items");
  if (!made) return refuse(made.error());
  const auto owners = std::max<std::uint64_t>(options.events / 10, 1);
  const auto of_an_owner = [&](std::uint64_t n) {
    return TableSelect{.where = "owner = :o", .parameters = {{"o", n * 7'919 % owners}}};
  };
  // Meanwhile what was just built is merged, and what is read often comes into memory.
  if (auto warm = selects(*store, options, "select by an indexed field, just built", of_an_owner, false); !warm)
    return refuse(std::move(warm).error());
  auto by_index = selects(*store, options, "select by an indexed field", of_an_owner, false);
  if (by_index) {
    by_index->target = "at least 20,000";
    by_index->reached = by_index->value >= 20'000;
  }
  EVERSHARD_TRY(add(options, report, std::move(by_index)));
  auto by_scan = selects(
      *store, options, "select by a filter over every row",
      [](std::uint64_t n) {
        return TableSelect{.where = "uses = :u AND note LIKE 'nothing%'", .parameters = {{"u", n % 2}}};
      },
      true);
  if (by_scan) {
    by_scan->target = "at least 1,000,000";
    by_scan->reached = by_scan->value >= 1'000'000;
  }
  return add(options, report, std::move(by_scan));
}

}  // namespace

Result<void> measure_projections(const BenchOptions& options, Report& report) {
  report.heading("Projections");
  EVERSHARD_TRY(measure_catching_up(options, report));
  EVERSHARD_TRY(measure_selects(options, report));
  return measure_live_projections(options, report);
}

}  // namespace evershard::bench
