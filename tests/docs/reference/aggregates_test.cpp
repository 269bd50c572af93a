// What stands around the code of docs/aggregates.md and docs/aggregates-advanced.md, so that it compiles.

#include <evershard/aggregate.hpp>
#include <evershard/cluster.hpp>
#include <evershard/local.hpp>
#include <evershard/test_kit.hpp>
#include <filesystem>
#include <iostream>
#include <nlohmann/json.hpp>

#include "room/room.pb.h"

#include "codec.hpp"
#include "names.hpp"
#include "seats.hpp"

namespace game {

struct Score {
  int points = 0;
};
struct Won {
  int points = 0;
};
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(Score, points)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(Won, points)
struct Win {
  int points = 0;
};
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(Win, points)

}  // namespace game

template <>
inline constexpr std::string_view evershard::logical_name<game::Won> = "won";
template <>
inline constexpr std::string_view evershard::logical_name<game::Win> = "win";

using namespace std::chrono_literals;

struct Game {
  static constexpr std::string_view type = "game";
  using State = game::Score;
  using Commands = evershard::Types<game::Win>;
  using Events = evershard::Types<game::Won>;
  static evershard::Effect<game::Score> on(const State&, const game::Win& command) {
    return evershard::persist(game::Won{command.points}).reply([](const State& score) { return score; });
  }
  static void apply(State& score, const game::Won& event) { score.points += event.points; }
#include "retention.inc"
};

namespace {

int fail(const evershard::Error& error) {
  std::cerr << error.what << '\n';
  return 1;
}
/// Not run: it is one process of several.
[[maybe_unused]] int join() {
#include "joining.inc"
  return 0;
}
void use(const evershard::Answer<evershard::Done>&) {}

int run() {
#include "hosting.inc"
  room::Take take;
  take.set_room("12");
  take.set_by("ann");
#include "asking.inc"
  const auto second = future.get();
  if (!answer) return fail(answer.error());
  // Twice without an id: the second time the seat is taken.
  return second.rejected() && second.rejection() == "the seat is taken" ? 0 : 1;
}

}  // namespace

int main() {
  static_assert(evershard::logical_name<Started> == "game.Began");
  evershard::TestKit<Game> game;
  game.given(game::Won{2}).when(game::Win{1}).then(game::Won{1}).replied(game::Score{3});

  std::filesystem::remove_all("data");
  const int status = run();
  if (status == 0) std::cout << "all well\n";
  return status;
}
