// What instances of processes are told and say, as bytes.

#include "evershard/protocol/processes.hpp"

#include <gtest/gtest.h>

#include "evershard/protocol/hex.hpp"

namespace evershard {
namespace {

const std::string odd("\0\xff", 2);

RecordedEvent event() {
  RecordedEvent event;
  event.position = GlobalPosition{7};
  event.id = EventId::random();
  event.aggregate = AggregateId{"a", "1"};
  event.seq_nr = SeqNr{3};
  event.type = "T";
  event.tags = {"x:1", "y"};
  event.payload = odd;
  event.occurred_at = Timestamp{-5};
  event.subject = "ann";
  return event;
}

TEST(ProcessBytes, ComeBackAsTheyWere) {
  auto told = ProcessEvent{event()};
  EXPECT_EQ(decode_process_event(encode(told)).value(), told);
  told.event.aggregate.reset();
  EXPECT_EQ(decode_process_event(encode(told)).value(), told);
  const ProcessTimer timer{"T", odd};
  EXPECT_EQ(decode_process_timer(encode(timer)).value(), timer);
  const ProcessCommand command{{"a", "1"}, "C", odd};
  const ProcessRejection rejection{GlobalPosition{9}, 2, command, "no", "tag", GlobalPosition{4}};
  EXPECT_EQ(decode_process_rejection(encode(rejection)).value(), rejection);
  for (const bool done : {true, false}) {
    const ProcessPerformed performed{GlobalPosition{9}, 2, {"E", odd}, done, odd, "why"};
    EXPECT_EQ(decode_process_performed(encode(performed)).value(), performed);
  }
  using Cause = ProcessReacted::Cause;
  for (const auto cause : {Cause::event, Cause::timer, Cause::rejection, Cause::performed, Cause::not_performed}) {
    const ProcessReacted reacted{cause, GlobalPosition{9}, 2, "C", {command, command}, true, {{"E", odd}}, "why"};
    EXPECT_EQ(decode_process_reacted(encode(reacted)).value(), reacted);
  }
  const auto state = decode_process_state(encode(ProcessStateBytes{odd, GlobalPosition{3}, true})).value();
  EXPECT_EQ(state.state, odd);
  EXPECT_EQ(state.reacted_to, GlobalPosition{3});
  EXPECT_TRUE(state.ended);
  const ProcessPlace wanted{ProcessPlace::What::command, GlobalPosition{23}, 1};
  const ProcessPlace effect{ProcessPlace::What::effect, GlobalPosition{24}, 0};
  ProcessCheckpoint checkpoint{.position = GlobalPosition{77},
                               .controls_to = GlobalPosition{80},
                               .stopped = true,
                               .stopped_instances = {"rome", "oslo"},
                               .skipped = {wanted},
                               .replays = {{effect, GlobalPosition{79}}},
                               .read_to = GlobalPosition{90},
                               .figures = {1, 2, 3, 4, 5, 6, 7, 8, 9},
                               .failures = {{"rome", wanted, "book", 4, "closed"}},
                               .trouble = "closed",
                               .runs_at = "here:1",
                               .done_to = GlobalPosition{88},
                               .open = {{GlobalPosition{78}, {}}, {GlobalPosition{85}, {0, 2}}}};
  EXPECT_EQ(decode_process_checkpoint(encode(checkpoint)).value(), checkpoint);
  checkpoint.fall_back(GlobalPosition{80});
  EXPECT_EQ(checkpoint.done_to, GlobalPosition{80}) << "what was done behind that, was in another history";
  EXPECT_EQ(checkpoint.open.size(), 1u);
  for (const auto& control :
       {ProcessControl{ProcessControl::Action::stop, "rome", {}}, ProcessControl{ProcessControl::Action::retry, "", {}},
        ProcessControl{ProcessControl::Action::skip, "", wanted},
        ProcessControl{ProcessControl::Action::replay, "", effect}})
    EXPECT_EQ(decode_process_control(encode(control)).value(), control);
}

// They stand on disks.
TEST(ProcessBytes, AreFrozen) {
  EXPECT_EQ(hex(encode(ProcessReacted{ProcessReacted::Cause::rejection,
                                      GlobalPosition{9},
                                      2,
                                      "C",
                                      {{{"a", "1"}, "D", "p"}},
                                      true,
                                      {{"E", "q"}},
                                      "w"})),
            "0803"                        // cause
            "1009"                        // position
            "1802"                        // number
            "220143"                      // type
            "2a0b0a03612d311201441a0170"  // command: aggregate, type, payload
            "3001"                        // ended
            "3a060a0145120171"            // effect: type, payload
            "420177");                    // reason
}

TEST(ProcessBytes, ThatAreOthersAreRefused) {
  EXPECT_EQ(decode_process_event("\xff").error().code, ErrorCode::corruption);
  EXPECT_EQ(decode_process_event("").error().code, ErrorCode::corruption) << "no id";
  EXPECT_EQ(decode_process_timer("\xff").error().code, ErrorCode::corruption);
  EXPECT_EQ(decode_process_rejection("").error().code, ErrorCode::corruption) << "no command";
  EXPECT_EQ(decode_process_performed("\xff").error().code, ErrorCode::corruption);
  EXPECT_EQ(decode_process_reacted("").error().code, ErrorCode::corruption) << "no cause";
  EXPECT_EQ(decode_process_reacted("\x08\x06").error().code, ErrorCode::corruption) << "a later cause";
  EXPECT_EQ(decode_process_state("\xff").error().code, ErrorCode::corruption);
  EXPECT_EQ(decode_process_checkpoint("\xff").error().code, ErrorCode::corruption);
  EXPECT_EQ(decode_process_control("\xff").error().code, ErrorCode::corruption);
  EXPECT_EQ(decode_process_control("").error().code, ErrorCode::corruption) << "no action";
}

TEST(ProcessPlaces, AreTextsAndBack) {
  for (const auto* text : {"event/17", "command/23/0", "effect/18446744073709551615/4294967295"})
    EXPECT_EQ(ProcessPlace::parse(text)->text(), text);
  for (const auto* bad : {"", "event", "event/", "event/0", "event/1/0", "event/x", "command/23", "command/23/",
                          "command/23/x", "effect/23/4294967296", "effect/23/0/", "Event/1", "eventful/1", "event/1 "})
    EXPECT_EQ(ProcessPlace::parse(bad).error().code, ErrorCode::invalid_argument) << bad;
}

}  // namespace
}  // namespace evershard
