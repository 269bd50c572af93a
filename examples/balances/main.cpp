// A table of all accounts and what is on them, kept by a handler in C++: who is the richest, without asking every
// account.
//
//   balances [DIR]     without DIR in memory; with it run it twice: the table goes on where it was

#include <cstdlib>
#include <evershard/local.hpp>
#include <evershard/tables.hpp>
#include <iostream>
#include <string>

#include "examples/bank_account/bank_account.hpp"

using namespace evershard;

namespace {

[[noreturn]] void give_up(const Error& error) {
  std::cerr << "balances: " << error.what << '\n';
  std::exit(1);
}

/// What each event does to the rows. A handler decides by the event and the rows alone, so a table that is built anew
/// comes out the same.
TypedTableHandler balances() {
  const auto account = [](const RecordedEvent& recorded) { return recorded.aggregate->text(); };
  TypedTableHandler handler;
  handler
      .on<bank::AccountOpened>([=](const bank::AccountOpened& event, const RecordedEvent& recorded,
                                   TableChanges& rows) {
        rows.upsert(
            {{"account", account(recorded)}, {"owner", event.owner()}, {"cents", 0}, {"since", recorded.occurred_at}});
      })
      .on<bank::Deposited>([=](const bank::Deposited& event, const RecordedEvent& recorded, TableChanges& rows) {
        rows.increment({{"account", account(recorded)}, {"cents", event.amount()}});
      })
      .on<bank::Withdrawn>([=](const bank::Withdrawn& event, const RecordedEvent& recorded, TableChanges& rows) {
        rows.increment({{"account", account(recorded)}, {"cents", -event.amount()}});
      })
      .on<bank::MoneyMoved>([=](const bank::MoneyMoved& old, const RecordedEvent& recorded, TableChanges& rows) {
        // What deposits and withdrawals were called in the first year: an account takes them as those.
        rows.increment({{"account", account(recorded)}, {"cents", old.euros() * 100}});
      })
      .on<bank::AccountClosed>([=](const bank::AccountClosed&, const RecordedEvent& recorded, TableChanges& rows) {
        rows.erase({{"account", account(recorded)}});
      });
  return handler;
}

constexpr const char* definition = R"({
  "fields": [{"name": "account", "type": "text", "role": "key"}, {"name": "owner", "type": "text", "role": "index"},
             {"name": "cents", "type": "integer"}, {"name": "since", "type": "time"}],
  "handler": {"name": "balances", "query": {"items": [{"types": ["bank.AccountOpened", "bank.Deposited", "bank.Withdrawn", "bank.MoneyMoved", "bank.AccountClosed"]}]}}})";

void deposit(Local& store, const std::string& name, std::int64_t cents) {
  const auto account = store.get<BankAccount>(name);
  bank::OpenAccount open;
  open.set_owner(name);
  bank::Deposit in;
  in.set_amount(cents);
  if (auto opened = account.ask(open, {.command_id = name + "-open"}); !opened && !opened.rejected())
    give_up(opened.error());
  if (auto done = account.ask(in, {.command_id = name + "-1"}); !done) give_up(done.error());
}

}  // namespace

int main(int argc, char** argv) {
  LocalOptions options;
  if (argc > 1) options.data_dir = argv[1];
  auto opened = Local::open(options);
  if (!opened) give_up(opened.error());
  auto& store = *opened;
  if (auto hosted = store.host<BankAccount>(); !hosted) give_up(hosted.error());
  if (auto added = store.add_table_handler("balances", balances()); !added) give_up(added.error());
  if (!store.projections().describe("balances")) {
    if (auto created = store.projections().create("balances", "table", definition); !created) give_up(created.error());
  }
  deposit(store, "ann", 100'00);
  deposit(store, "bob", 250'00);
  deposit(store, "eve", 5'00);

  const auto head = store.head();
  if (!head) give_up(head.error());
  const auto page = store.tables().select("balances",
                                          {.where = "cents >= :least",
                                           .parameters = {{"least", 10'00}},
                                           .fields = {"owner", "cents"},
                                           .order_by = {{"cents", true}}},
                                          {.at_least = *head});  // as of what was just written
  if (!page) give_up(page.error());
  for (const auto& row : page->rows)
    std::cout << *row[0].as<std::string>() << ' ' << *row[1].as<std::int64_t>() << '\n';
}
