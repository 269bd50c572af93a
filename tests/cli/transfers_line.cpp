// A command line with aggregates and processes in it; each credited transfer is written to the file that RECEIPTS
// names, as an effect: a line an attempt. `twins ...`: with a process whose instances are of a type that is taken;
// `mute ...`: with one whose effects cannot be made.

#include <evershard/command_line.hpp>

#include <cstdlib>
#include <fstream>
#include <mutex>
#include <stdexcept>
#include <string>

#include "tests/actors/process/transfers.hpp"

namespace {

using namespace evershard;

struct Receipt {
  std::string text;
};

}  // namespace

template <>
struct evershard::Codec<Receipt> {
  static constexpr std::string_view name = "receipt";
  static constexpr auto format = evershard::PayloadFormat::text;
  static std::string encode(const Receipt& receipt) { return receipt.text; }
  static Receipt decode(std::string_view bytes) { return {std::string(bytes)}; }
};

namespace {

struct Receipts {
  static constexpr std::string_view type = "receipt";
  using State = bank::DeskState;
  using Reacts = Types<bank::Credited>;
  using Effects = Types<Performs<Receipt>>;
  using Events = Types<bank::Requested>;

  static std::string key(const bank::Credited& event) { return event.transfer; }
  static Reaction<Receipts> on(const State&, const bank::Credited& event) {
    return react().perform(Receipt{event.transfer});
  }
  static Reaction<Receipts> on_performed(const State&, const Receipt& receipt, const Done&) {
    bank::Requested told;
    told.transfer = receipt.text;
    return react().record(told).end();
  }
  static void apply(State& state, const bank::Requested&) { ++state.requests; }
};

/// Its instances would be accounts.
struct Twin : Receipts {
  static constexpr std::string_view type = "account";
};

Effects writing() {
  const char* name = std::getenv("RECEIPTS");
  auto file = std::make_shared<std::ofstream>(name != nullptr ? name : "/dev/null", std::ios::app);
  auto mutex = std::make_shared<std::mutex>();
  return Effects{}.on<Receipt>(
      [file, mutex](const Receipt& receipt, const EffectAttempt& attempt, std::function<void(Result<Done>)> done) {
        {
          const std::lock_guard lock(*mutex);
          *file << receipt.text << ' ' << attempt.key << std::endl;
        }
        done(Done{});
      });
}

CommandLine bank_line() { return CommandLine{}.host<bank::Account, bank::Desk>().run<bank::Transfers>(); }

}  // namespace

int main(int argc, char** argv) {
  const std::string how = argc > 1 ? argv[1] : "";
  if (how == "twins") return bank_line().run<Twin>(writing).main(argc - 1, argv + 1);
  if (how == "mute")
    return bank_line()
        .run<Receipts>([]() -> Effects { throw std::runtime_error("no mail today"); })
        .main(argc - 1, argv + 1);
  if (how == "none") return bank_line().run<Receipts>().main(argc - 1, argv + 1);
  return bank_line().run<Receipts>(writing).main(argc, argv);
}
