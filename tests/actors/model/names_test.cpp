#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/actors/model/ledger.hpp"

namespace evershard {
namespace {

/// Types that differ in nothing but what they are called.
template <class Called>
struct Note {};
struct CalledNote {
  static constexpr std::string_view name = "note";
};
struct CalledNoteToo {
  static constexpr std::string_view name = "note";
};
struct CalledNothing {
  static constexpr std::string_view name = "";
};
struct CalledAtLength {
  static constexpr char letters[256] = {};
  static constexpr std::string_view name{letters, 256};
};

}  // namespace

template <class Called>
struct Codec<Note<Called>> {
  static constexpr std::string_view name = Called::name;
  static constexpr PayloadFormat format = PayloadFormat::text;
  static std::string encode(const Note<Called>&) { return {}; }
  static Note<Called> decode(std::string_view) { return {}; }
};
template <>
inline constexpr std::string_view logical_name<ledger::Renamed> = "ledger.finished";

namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;

template <class Events_, class OldEvents_ = Types<>, class Commands_ = Types<>>
struct Notes {
  static constexpr std::string_view type = "notes";
  using State = ledger::State;
  using Commands = Commands_;
  using Events = Events_;
  using OldEvents = OldEvents_;
  template <class C>
  static Effect<> on(const State&, const C&) {
    return nothing();
  }
  template <class E>
  static void apply(State&, const E&) {}
  template <class E>
  static std::optional<ledger::Deposited> upcast(const E&) {
    return {};
  }
};

template <class A>
Error refused() {
  const auto made = make_kind<A>();
  EXPECT_FALSE(made);
  return made ? Error() : made.error();
}

TEST(Names, AreAProtobufMessagesFullNameOrTheCodecsOrTheOneGiven) {
  EXPECT_EQ(name_of_type<ledger::Deposited>(), "ledger.Deposited");
  EXPECT_EQ(name_of_type<Note<CalledNote>>(), "note");
  EXPECT_EQ(name_of_type<ledger::Renamed>(), "ledger.finished");
  EXPECT_THAT((names_of<ledger::Withdrawn, Note<CalledNote>>()), ElementsAre("ledger.Withdrawn", "note"));
}

TEST(Names, OfOneEventTwiceAreRefused) {
  for (const auto& error : {refused<Notes<Types<ledger::Deposited, Note<CalledNote>, Note<CalledNoteToo>>>>(),
                            refused<Notes<Types<ledger::Deposited, Note<CalledNote>>, Types<Note<CalledNoteToo>>>>()}) {
    EXPECT_EQ(error.code, ErrorCode::invalid_argument);
    EXPECT_THAT(error.what, AllOf(HasSubstr("\"note\""), HasSubstr("CalledNote>"), HasSubstr("CalledNoteToo>")));
  }
}

TEST(Names, OfOneCommandTwiceAreRefused) {
  EXPECT_THAT((refused<Notes<Types<ledger::Deposited>, Types<>, Types<Note<CalledNote>, Note<CalledNoteToo>>>>().what),
              AllOf(HasSubstr("command"), HasSubstr("\"note\"")));
}

TEST(Names, OfACommandAndAnEventMayBeTheSame) {
  EXPECT_TRUE((make_kind<Notes<Types<ledger::Deposited, Note<CalledNote>>, Types<>, Types<Note<CalledNoteToo>>>>()));
}

TEST(Names, ThatAreEmptyAreRefused) {
  EXPECT_EQ((refused<Notes<Types<ledger::Deposited, Note<CalledNothing>>>>().code), ErrorCode::invalid_argument);
  EXPECT_THAT((refused<Notes<Types<ledger::Deposited, Note<CalledNothing>>>>().what),
              AllOf(HasSubstr("CalledNothing"), HasSubstr("empty")));
}

TEST(Names, ThatAreTooLongAreRefused) {
  EXPECT_EQ((refused<Notes<Types<ledger::Deposited, Note<CalledAtLength>>>>().code), ErrorCode::too_large);
}

template <const std::string_view& Type>
struct Typed : Notes<Types<ledger::Deposited>> {
  static constexpr std::string_view type = Type;
};
constexpr std::string_view empty_type = "", hyphened_type = "bank-account";

TEST(Names, OfAggregatesThatCannotStandInAnIdAreRefused) {
  EXPECT_EQ(refused<Typed<empty_type>>().code, ErrorCode::invalid_argument);
  EXPECT_THAT(refused<Typed<hyphened_type>>().what, HasSubstr("bank-account"));
}

}  // namespace
}  // namespace evershard
