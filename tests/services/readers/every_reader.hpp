// EveryReader: a store in one process with one reader of each kind, which stand still at a moment and catch up later.

#pragma once

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <evershard/tables.hpp>

#include "evershard/services/copy/store_copy.hpp"
#include "tests/local/small_store.hpp"

namespace evershard {

/// Orders: `Placed` and `Added`, each with a price. Whatever is asked of a reader is asked of it as of the head.
class EveryReader : public ::testing::Test {
 protected:
  using Totals = std::map<std::string, std::string>;
  using Path = std::filesystem::path;

  static constexpr const char* table =
      R"({"fields":[{"name":"id","type":"text","role":"key"},{"name":"total","type":"integer","nullable":true},
    {"name":"truncated","type":"integer","nullable":true}],"rules":[
    {"types":["Placed","Added"],"action":"increment","key":"aggregate","fields":{"total":"$.price"}},
    {"types":["$AggregateRemoved"],"action":"delete","key":"aggregate"},
    {"types":["$TruncationOrdered"],"action":"update","key":"$.aggregate","fields":{"truncated":"$.before"}}]})";
  static constexpr const char* document =
      R"({"events":{"Placed":{"increment":"total","from":"price"},"Added":{"increment":"total","from":"price"}}})";

  EveryReader() { open(); }

  /// What is asked from now on is asked of this one.
  void open(std::string at = "data") {
    close();
    at_ = std::move(at);
    store_.emplace(Local::open({.data_dir = data(), .shards = 4}).value());
  }
  void close() { store_.reset(); }
  [[nodiscard]] Path data() const { return dir_.path() / at_; }
  Local& store() { return *store_; }

  void define() {
    index_ = store().projections().create_index(Query{}.types({"Added"})).value().name;
    around_two_ = store().projections().create_index(Query{}.concerning({{"order", "2"}})).value().name;
    ASSERT_TRUE(store().projections().create_value_index(
        "by-price", {.types = {"Placed", "Added"}, .path = "$.price", .value = "integer"}));
    const auto made = store().projections().create("totals", "table", table);
    ASSERT_TRUE(made) << made.error().what;
    ASSERT_TRUE(store().documents().define("order", document));
    ASSERT_TRUE(store().groups().create_group({.name = "all"}));
    ASSERT_TRUE(store().groups().create_group({.name = "two", .query = Query{}.concerning({{"order", "2"}})}));
  }
  void place(const std::string& id, int price) {
    append_one(store(), "order-" + id, "Placed", {}, "{\"price\":" + std::to_string(price) + "}");
  }
  void add(const std::string& id, int price) {
    append_one(store(), "order-" + id, "Added", {}, "{\"price\":" + std::to_string(price) + "}");
  }

  void caught_up() {
    const auto head = store().head().value();
    for (const auto& name : {index_, around_two_, std::string("by-price"), std::string("totals")}) {
      const auto there = store().projections().wait_until(name, head, std::chrono::minutes(1));
      EXPECT_TRUE(there) << name << ": " << there.error().what;
    }
    const auto listed =
        store().documents().list({.type = "order", .at_least = head, .timeout = std::chrono::minutes(1)});
    EXPECT_TRUE(listed) << listed.error().what;
  }
  /// What rows a process leaves that died without having written the newest: those that were there when it was called.
  void keep_rows() {
    const auto at = at_;
    close();
    for (const auto* rows : {"projections", "documents"}) {
      std::filesystem::remove_all(dir_.path() / rows);
      std::filesystem::copy(data() / rows, dir_.path() / rows, std::filesystem::copy_options::recursive);
    }
    open(at);
  }
  void give_rows_back(const Path& to) {
    for (const auto* rows : {"projections", "documents"}) {
      std::filesystem::remove_all(to / rows);
      std::filesystem::copy(dir_.path() / rows, to / rows, std::filesystem::copy_options::recursive);
    }
  }

  std::vector<std::string> read_index(const std::string& name) {
    return states_of(store().projections().read_index(
        name, {.limit = 1'000, .rows = {.at_least = store().head().value(), .events = true}}));
  }
  std::vector<std::string> values() {
    return states_of(store().projections().read_values(
        "by-price", {.limit = 1'000, .rows = {.at_least = store().head().value(), .events = true}}));
  }
  Totals totals() {
    Totals found;
    const auto page = store().tables().select("totals", {}, {.at_least = store().head().value()});
    EXPECT_TRUE(page) << page.error().what;
    if (!page) return found;
    for (const auto& row : page->rows)
      found[*row[0].as<std::string>()] = row[1].text() + (row[2].is_null() ? "" : " truncated below " + row[2].text());
    return found;
  }
  Totals documents(DocumentRead how) {
    Totals found;
    for (const auto* id : {"1", "2", "3", "4"}) {
      const auto one = store().documents().get({"order", id}, how);
      EXPECT_TRUE(one || one.error().code == ErrorCode::not_found) << one.error().what;
      if (one) found[one->aggregate.text()] = one->json + (one->problems == 0 ? "" : " " + one->last_problem);
    }
    return found;
  }
  /// What a worker is given until nothing is left; all of it is settled.
  std::vector<std::string> worked(const std::string& group) {
    std::vector<std::string> given;
    const auto head = store().head().value();
    auto worker = store().groups().join_group(group).value();
    for (int tries = 0; tries < 60'000 && store().groups().group(group)->position < head; ++tries) {
      const auto next = worker.next(std::chrono::milliseconds(1));
      EXPECT_TRUE(next) << next.error().what;
      if (!next) break;
      if (!*next) continue;
      given.push_back(shown((*next)->event));
      EXPECT_TRUE(worker.acknowledge(**next));
    }
    EXPECT_GE(store().groups().group(group)->position, head);
    std::ranges::sort(given);
    return given;
  }

  Result<cluster::CopyReport> copied() {
    if (!target_) target_.emplace(Local::open({.shards = 4}).value());
    const auto name = [](Local& of) {
      const auto info = of.stats().value().info;
      return cluster::StoreName{info.store_id, info.fork_id};
    };
    return cluster::StoreCopy({store(), name(store())}, {*target_, name(*target_)}, {.name = "all"})
        .run([](const auto&) { return true; });
  }

  /// `order-2#3 Added`, of a stub `order-2#3 removed`.
  static std::string shown(const RecordedEvent& event) {
    return (event.aggregate ? event.aggregate->text() + "#" + std::to_string(event.seq_nr.value) : std::string("-")) +
           " " + (event.state == EventState::removed ? "removed" : event.type);
  }
  template <class Page>
  static std::vector<std::string> states_of(const Result<Page>& page) {
    std::vector<std::string> found;
    EXPECT_TRUE(page) << page.error().what;
    if (!page) return found;
    for (const auto& entry : page->entries) found.push_back(shown(*entry.event));
    std::ranges::sort(found);
    return found;
  }

  ScratchDir dir_;
  std::string at_ = "data";  ///< the store's folder
  std::optional<Local> store_;
  std::optional<Local> target_;  ///< of a copy
  std::string index_, around_two_;
};

}  // namespace evershard
