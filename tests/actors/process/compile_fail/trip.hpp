// A process as it is to be; each snippet breaks one thing of it.

#include <evershard/process.hpp>

using namespace evershard;

namespace trip {

template <class Name>
struct Said {
  int n = 0;
};
using Reserve = Said<struct ReserveName>;
using Left = Said<struct LeftName>;
using Reserved = Said<struct ReservedName>;
using Deadline = Said<struct DeadlineName>;
using Mail = Said<struct MailName>;
struct NoCodec {};

}  // namespace trip

template <class Name>
struct evershard::Codec<trip::Said<Name>> {
  static constexpr std::string_view name = "said";
  static constexpr auto format = PayloadFormat::text;
  static std::string encode(const trip::Said<Name>&) { return {}; }
  static trip::Said<Name> decode(std::string_view) { return {}; }
};

struct Flight {
  static constexpr std::string_view type = "flight";
  using Commands = Types<trip::Reserve>;
};

struct Trip {
  static constexpr std::string_view type = "trip";
  using State = trip::Left;
  using Reacts = Types<trip::Reserved>;
  using Timers = Types<trip::Deadline>;
  using Sends = Types<trip::Reserve>;
  using Effects = Types<Performs<trip::Mail>>;
  using Events = Types<>;
  static std::string key(const trip::Reserved&) { return "1"; }
  static Reaction<Trip> on(const State&, const trip::Reserved&) {
    return react()
        .send<Flight>("1", trip::Reserve{})
        .perform(trip::Mail{})
        .schedule("late", std::chrono::minutes(1), trip::Deadline{});
  }
  static Reaction<Trip> on(const State&, const trip::Deadline&) { return ignore(); }
  static Reaction<Trip> on_rejected(const State&, const trip::Reserve&, const Rejected&) { return react().end(); }
};
