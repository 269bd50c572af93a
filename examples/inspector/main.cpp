// A time-travelling inspector: what an account was at any version or position, what changed in between, and why.
//
//   inspector DIR                         the accounts in the store
//   inspector DIR show ACCOUNT [WHEN]     its state; WHEN: v3, its version 3; @17, position 17 of the store;
//                                         absent: now
//   inspector DIR diff ACCOUNT WHEN WHEN  what changed from the one to the other
//   inspector DIR history ACCOUNT         each event, and what it changed
//
// On a store that bank_account made: bank_account DIR; inspector DIR history ann

#include <google/protobuf/text_format.h>

#include <charconv>
#include <cstdlib>
#include <evershard/local.hpp>
#include <iostream>
#include <string>
#include <variant>
#include <vector>

#include "examples/bank_account/bank_account.hpp"

namespace {

using evershard::GlobalPosition;
using evershard::SeqNr;
using At = evershard::StateAt<bank::Account>;

[[noreturn]] void give_up(const std::string& what) {
  std::cerr << "inspector: " << what << '\n';
  std::exit(1);
}
template <class T>
T value_of(evershard::Result<T> result) {
  if (!result) give_up(result.error().what);
  return std::move(*result);
}

std::string where(const At& at) {
  return "version " + std::to_string(at.version.value) + " @" + std::to_string(at.position.value);
}

/// A version is a position too: that of the event that made it.
GlobalPosition position_of(evershard::Local& store, const evershard::AggregateId& id, const std::string& when) {
  std::uint64_t number = 0;
  const char* const end = when.data() + when.size();
  if (when.size() < 2 || std::from_chars(when.data() + 1, end, number).ptr != end)
    give_up("\"" + when + "\" is neither v3 nor @17");
  if (when[0] == '@') return GlobalPosition{number};
  if (when[0] != 'v') give_up("\"" + when + "\" is neither v3 nor @17");
  if (number == 0) return GlobalPosition{0};
  auto events = store.read(id, {.from = SeqNr{number}, .limit = 1});
  const auto event = value_of(events.next());
  if (!event) give_up(id.text() + " has no version " + std::to_string(number));
  return event->position;
}

/// Field by field, whatever the message has.
void show_changes(const bank::Account& from, const bank::Account& to, const std::string& indent) {
  const auto text = [](const bank::Account& message, const google::protobuf::FieldDescriptor* field) {
    std::string value;
    google::protobuf::TextFormat::PrintFieldValueToString(message, field, -1, &value);
    return value;
  };
  bool any = false;
  for (int i = 0; i < bank::Account::descriptor()->field_count(); ++i) {
    const auto* field = bank::Account::descriptor()->field(i);
    const std::string before = text(from, field), after = text(to, field);
    if (before == after) continue;
    any = true;
    std::cout << indent << field->name() << ": " << before << " -> " << after << '\n';
  }
  if (!any) std::cout << indent << "nothing changed\n";
}

/// An event as its message, of today or of the first year.
std::string payload_of(const evershard::RecordedEvent& event) {
  using Known =
      evershard::Types<bank::AccountOpened, bank::Deposited, bank::Withdrawn, bank::AccountClosed, bank::MoneyMoved>;
  return std::visit(
      [](const auto& message) -> std::string {
        if constexpr (std::is_same_v<decltype(message), const std::monostate&>)
          return "(of an unknown type)";
        else
          return evershard::protobuf_text(message);
      },
      value_of(evershard::typed_event<Known>(event)));
}

void list(evershard::Local& store) {
  for (const auto& info : value_of(store.aggregates(std::string(BankAccount::type), {}, 1'000))) {
    std::cout << info.aggregate.value << ", version " << info.version.value << " @" << info.last_position.value << '\n';
  }
}

void show(const At& at) { std::cout << where(at) << ' ' << evershard::protobuf_text(at.state) << '\n'; }

void history(evershard::Local& store, const evershard::AggregateRef<BankAccount>& account) {
  At before;
  auto events = store.read(account.id());
  for (const auto& event : events) {
    At after = value_of(account.state_at(event.position));
    std::cout << where(after) << ' ' << event.occurred_at.text() << ' ' << event.type << ' ' << payload_of(event)
              << '\n';
    show_changes(before.state, after.state, "    ");
    before = std::move(after);
  }
  if (events.error()) give_up(events.error()->what);
}

}  // namespace

int main(int argc, char** argv) {
  const std::vector<std::string> words(argv + 1, argv + argc);
  if (words.empty()) give_up("DIR [show ACCOUNT [WHEN] | diff ACCOUNT WHEN WHEN | history ACCOUNT]");
  auto store = value_of(evershard::Local::open({.data_dir = words[0], .create = false}));
  if (auto hosted = store.host<BankAccount>(); !hosted) give_up(hosted.error().what);

  const std::string command = words.size() > 1 ? words[1] : "list";
  const auto account = store.get<BankAccount>(words.size() > 2 ? words[2] : "");
  const auto at = [&](std::size_t word) {
    return value_of(account.state_at(position_of(store, account.id(), words[word])));
  };
  if (command == "list" && words.size() < 3) {
    list(store);
  } else if (command == "show" && words.size() == 3) {
    show(value_of(account.state(evershard::StateRead::eventual)));
  } else if (command == "show" && words.size() == 4) {
    show(at(3));
  } else if (command == "diff" && words.size() == 5) {
    const At from = at(3), to = at(4);
    std::cout << where(from) << " -> " << where(to) << '\n';
    show_changes(from.state, to.state, "    ");
  } else if (command == "history" && words.size() == 3) {
    history(store, account);
  } else {
    give_up("DIR [show ACCOUNT [WHEN] | diff ACCOUNT WHEN WHEN | history ACCOUNT]");
  }
}
