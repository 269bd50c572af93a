#include "evershard/cluster/link/session/piece.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <random>

namespace evershard::cluster {
namespace {

using ::testing::HasSubstr;

Piece first_piece(std::uint64_t number, std::uint32_t total, std::string_view bytes) {
  return {PieceType::first, CallNumber(number), MessageKind(7), 1'500, total, bytes};
}
Piece more_piece(std::string_view bytes) { return {PieceType::more, {}, {}, 0, 0, bytes}; }

TEST(Piece, IsReadAsItWasWrittenInEveryLane) {
  for (const auto lane : {FrameType::requests, FrameType::answers, FrameType::messages}) {
    std::string body;
    write_piece(body, lane, first_piece(300, 1'000, "payload"));
    write_piece(body, lane, more_piece("rest"));
    if (lane == FrameType::answers) write_piece(body, lane, {PieceType::refusal, CallNumber(301), {}, 0, 0, "why"});

    ByteReader in(body);
    const auto piece = read_piece(in, lane);
    ASSERT_TRUE(piece);
    EXPECT_EQ(piece->number, CallNumber(300));
    EXPECT_EQ(piece->kind, lane == FrameType::answers ? MessageKind(0) : MessageKind(7));
    EXPECT_EQ(piece->time_ms, lane == FrameType::requests ? 1'500u : 0u);
    EXPECT_EQ(piece->total, 1'000u);
    EXPECT_EQ(piece->bytes, "payload");
    EXPECT_EQ(read_piece(in, lane)->bytes, "rest");
    EXPECT_TRUE(lane != FrameType::answers || read_piece(in, lane)->type == PieceType::refusal);
    EXPECT_EQ(in.left(), 0u);
  }
}

TEST(Piece, ThatEndsEarlyOrIsUnknownIsRefused) {
  std::string body;
  write_piece(body, FrameType::requests, first_piece(1, 7, "payload"));
  EXPECT_LE(body.size(), 7 + piece_extra_bytes_max);
  for (std::size_t bytes = 0; bytes < body.size(); ++bytes) {
    ByteReader in(std::string_view(body).substr(0, bytes));
    const auto piece = read_piece(in, FrameType::requests);
    ASSERT_FALSE(piece) << bytes;
    EXPECT_EQ(piece.error().code, ErrorCode::corruption);
  }
  std::string refusal;
  write_piece(refusal, FrameType::answers, {PieceType::refusal, CallNumber(1), {}, 0, 0, "why"});
  ByteReader in(refusal);
  EXPECT_FALSE(read_piece(in, FrameType::requests)) << "only answers are refusals";
}

TEST(Reassembly, PutsPayloadsTogether) {
  Reassembly lane(FrameType::requests, 100);
  EXPECT_EQ((*lane.add(first_piece(1, 5, "whole")))->bytes, "whole");
  EXPECT_EQ((*lane.add(first_piece(2, 0, "")))->bytes, "");
  EXPECT_FALSE(*lane.add(first_piece(5, 9, "one")));
  EXPECT_EQ(lane.pending(), 9u);
  EXPECT_FALSE(*lane.add(more_piece("two")));
  const auto whole = lane.add(more_piece("six"));
  ASSERT_TRUE(whole && *whole);
  EXPECT_EQ((*whole)->bytes, "onetwosix");
  EXPECT_EQ((*whole)->number, CallNumber(5));
  EXPECT_EQ((*whole)->kind, MessageKind(7));
  EXPECT_EQ((*whole)->time_ms, 1'500u);
  EXPECT_EQ(lane.pending(), 0u);
}

TEST(Reassembly, RefusesWhatDoesNotJoinOn) {
  const auto what = [](FrameType type, std::initializer_list<Piece> pieces) {
    Reassembly lane(type, 10);
    std::string text = "taken";
    for (const auto& piece : pieces) {
      const auto added = lane.add(piece);
      text = added ? "taken" : added.error().what;
    }
    return text;
  };
  EXPECT_THAT(what(FrameType::requests, {more_piece("x")}), HasSubstr("never began"));
  EXPECT_THAT(what(FrameType::requests, {first_piece(1, 4, "xx"), first_piece(2, 1, "x")}),
              HasSubstr("within another"));
  EXPECT_THAT(what(FrameType::requests, {first_piece(1, 4, "xx"), more_piece("")}), HasSubstr("empty rest"));
  EXPECT_THAT(what(FrameType::requests, {first_piece(1, 4, "xx"), more_piece("xxx")}),
              HasSubstr("more bytes than the 4 announced"));
  EXPECT_THAT(what(FrameType::requests, {first_piece(1, 1, "xx")}), HasSubstr("more bytes than the 1 announced"));
  EXPECT_THAT(what(FrameType::requests, {first_piece(1, 11, "x")}), HasSubstr("a payload of 11 bytes, 10 allowed"));
  EXPECT_THAT(what(FrameType::requests, {first_piece(2, 1, "x"), first_piece(2, 1, "x")}),
              HasSubstr("number 2 behind 2"));
  EXPECT_THAT(what(FrameType::messages, {first_piece(2, 1, "x"), first_piece(1, 1, "x")}),
              HasSubstr("number 1 behind 2"));
  EXPECT_EQ(what(FrameType::answers, {first_piece(2, 1, "x"), first_piece(1, 1, "x")}), "taken")
      << "answers come as they are ready";
}

TEST(Reassembly, SurvivesGarbage) {
  std::mt19937_64 random(11);
  for (int round = 0; round < 5'000; ++round) {
    std::string body(random() % 120, '\0');
    for (auto& c : body) c = static_cast<char>(random() % 4 == 0 ? random() : random() % 4);
    ByteReader in(body);
    Reassembly lane(FrameType::requests, 64);
    while (in.left() > 0) {
      const auto piece = read_piece(in, FrameType::requests);
      if (!piece) break;
      const auto whole = lane.add(*piece);
      if (!whole) break;
      EXPECT_TRUE(!*whole || (*whole)->bytes.size() <= 64u);
    }
    EXPECT_LE(lane.pending(), 64u);
  }
}

}  // namespace
}  // namespace evershard::cluster
