// A bank account, lived through: opened, asked, refused, asked twice, forgotten and read again, looked at as it was.
//
//   bank_account [DIR]     without DIR in memory; with it run it twice: the second time all of it is known already

#include "examples/bank_account/bank_account.hpp"

#include <cstdlib>
#include <evershard/local.hpp>
#include <iostream>
#include <string>

using evershard::Answer;

namespace {

template <class Message>
Message of(std::int64_t cents) {
  Message message;
  message.set_amount(cents);
  return message;
}

std::string euros(std::int64_t cents) {
  const std::string rest = std::to_string(std::abs(cents) % 100);
  return (cents < 0 ? "-" : "") + std::to_string(std::abs(cents) / 100) + (rest.size() == 1 ? ".0" : ".") + rest;
}

/// Each of the three ways a command can end, in a line.
void tell(const std::string& what, const Answer<bank::Balance>& answer) {
  std::cout << what << ": ";
  if (answer) {
    std::cout << "balance " << euros(answer->amount());
    if (answer.duplicate()) std::cout << " (it was done before; this is the answer given then)";
  } else if (answer.rejected()) {
    std::cout << "no, " << answer.rejection();
  } else {
    std::cout << "failed, " << answer.error().what;
  }
  std::cout << '\n';
}

[[noreturn]] void give_up(const evershard::Error& error) {
  std::cerr << "bank_account: " << error.what << '\n';
  std::exit(1);
}

/// Events as another program wrote them in the first year, in whole euros.
void write_first_year(evershard::Local& store) {
  bank::AccountOpened opened;
  opened.set_owner("bob");
  bank::MoneyMoved in, out;
  in.set_euros(25);
  out.set_euros(-5);
  auto done =
      store.append(evershard::Append{}
                       .event("bank_account-bob", "bank.AccountOpened", opened.SerializeAsString(), {"owner:bob"})
                       .event("bank_account-bob", "bank.MoneyMoved", in.SerializeAsString())
                       .event("bank_account-bob", "bank.MoneyMoved", out.SerializeAsString())
                       .expect("bank_account-bob", evershard::Version::none()));
  if (!done && done.error().code != evershard::ErrorCode::version_conflict) give_up(done.error());
}

}  // namespace

int main(int argc, char** argv) {
  evershard::LocalOptions options;
  if (argc > 1) options.data_dir = argv[1];
  auto opened = evershard::Local::open(options);
  if (!opened) give_up(opened.error());
  auto& store = *opened;
  write_first_year(store);
  if (auto hosted = store.host<BankAccount>(); !hosted) give_up(hosted.error());

  const auto ann = store.get<BankAccount>("ann");
  bank::OpenAccount open;
  open.set_owner("ann");
  open.set_overdraft(50'00);

  std::cout << "-- commands; whoever is not sure sends one again, under the same id\n";
  tell("open ann's account", ann.ask(open, {.command_id = "ann-open"}));
  const auto first = ann.ask(of<bank::Deposit>(100'00), {.command_id = "ann-1"});
  tell("deposit 100", first);
  tell("deposit 100, sent again", ann.ask(of<bank::Deposit>(100'00), {.command_id = "ann-1"}));
  tell("withdraw 30", ann.ask(of<bank::Withdraw>(30'00), {.command_id = "ann-2"}));
  tell("withdraw 1000", ann.ask(of<bank::Withdraw>(1000'00)));

  std::cout << "-- forgotten by this process, and read again from its events\n";
  ann.passivate();
  tell("ann's balance", ann.ask(bank::GetBalance{}));

  std::cout << "-- as it was after the first deposit, at position " << first.position().value << '\n';
  if (auto then = ann.state_at(first.position())) {
    std::cout << "ann's balance then: " << euros(then->state.balance()) << ", version " << then->version.value << '\n';
  } else {
    give_up(then.error());
  }

  std::cout << "-- bob's events are of the first year, in euros; they still count\n";
  tell("bob's balance", store.get<BankAccount>("bob").ask(bank::GetBalance{}));

  std::cout << "-- whose accounts are there? the tags of events say it, whatever shard they are on\n";
  auto events = store.read(evershard::Query{}.types(evershard::names_of<bank::AccountOpened>()));
  for (const auto& event : events) std::cout << event.aggregate->text() << ' ' << event.tags.at(0) << '\n';
  if (events.error()) give_up(*events.error());
}
