#include "evershard/sharding/cut.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <random>
#include <string>
#include <string_view>

namespace evershard::sharding {
namespace {

using testing::HasSubstr;

std::string bytes(std::string_view hex) {
  std::string out;
  for (std::size_t i = 0; i + 1 < hex.size(); ++i) {
    if (hex[i] != ' ') out.push_back(static_cast<char>(std::stoi(std::string(hex.substr(i++, 2)), nullptr, 16)));
  }
  return out;
}

Segment segment(std::uint16_t shard, std::uint64_t epoch, std::uint64_t first, std::uint64_t end,
                std::vector<ShardOffset> refused = {}) {
  return {ShardId{shard}, Epoch{epoch}, ShardOffset{first}, ShardOffset{end}, std::move(refused)};
}

Cut cut_at(std::uint64_t number, std::uint64_t first_position) {
  Cut cut;
  cut.number = CutNumber{number};
  cut.coordinator = Epoch{1};
  cut.first_position = GlobalPosition{first_position};
  return cut;
}

// A cut of everything that can be in one, sizes skewed towards the usual.
Cut random_cut(std::mt19937_64& random) {
  const auto number = [&] { return (random() >> (1 + random() % 62)) + 1; };
  Cut cut = cut_at(number() - 1, 1 + (number() >> 3));
  cut.coordinator = Epoch{number() - 1};
  for (std::size_t n = random() % 6; n != 0; --n) {
    Segment s = segment(static_cast<std::uint16_t>(random() % (random() % 2 ? 16 : 65'535)), random() % 3,
                        1 + (number() >> 4), 0);
    s.end = s.first + 1 + (random() % 2 ? 0 : random() % 300);
    for (ShardOffset o = s.first; o < s.end; ++o) {
      if (random() % 4 == 0) s.refused.push_back(o);
    }
    cut.segments.push_back(std::move(s));
  }
  if (random() % 3 == 0) {
    for (std::size_t n = random() % 3; n != 0; --n) {
      cut.openings.push_back({ShardId{static_cast<std::uint16_t>(random() % 65'535)}, Epoch{number()},
                              static_cast<std::uint32_t>(random()), ShardOffset{number()}});
      if (random() % 3 == 0) {
        cut.openings.back().lost_from = ShardOffset{number() >> 2};
        cut.openings.back().lost_until = cut.openings.back().lost_from + number() % 1'000 + 1;
      }
    }
  }
  if (random() % 3 == 0) {
    for (std::size_t n = random() % 3; n != 0; --n) {
      auto& [shard, set] = cut.replicas.emplace_back();
      shard = ShardId{static_cast<std::uint16_t>(random() % 65'535)};
      set.quorum = static_cast<std::uint32_t>(1 + random() % 5);
      for (std::uint32_t node = 0, count = 1 + random() % 5; count != 0; --count)
        set.nodes.push_back(node += static_cast<std::uint32_t>(1 + random() % 300));
      if (random() % 2 == 0)
        for (std::uint32_t node = 0, count = 1 + random() % 3; count != 0; --count)
          set.learned.push_back(node += static_cast<std::uint32_t>(1 + random() % 300));
    }
  }
  return cut;
}

TEST(CutCodec, KeepsItsBytes) {
  Cut cut = cut_at(300, 1'000);
  cut.coordinator = Epoch{2};
  cut.segments = {segment(3, 1, 70, 71), segment(0, 1, 5, 15, {ShardOffset{5}, ShardOffset{8}}), segment(20, 4, 1, 2),
                  segment(1, 4, 9, 11)};
  cut.openings = {{ShardId{20}, Epoch{4}, 7, ShardOffset{1}}};

  const std::string encoded = encode(cut);

  EXPECT_EQ(encoded, bytes("01"              // format version
                           "01"              // flags: openings
                           "ac02"            // number 300
                           "02"              // coordinator's epoch 2
                           "e807"            // first position 1,000
                           "04"              // segments
                           "1c 46"           // shard 3, one event; offset 70
                           "01 05 0a"        // shard 0, refused follow; from offset 5, ten of them
                           "02 00 02"        // two refused: 0 behind the first, then 2 behind the one after that
                           "a601 04 01"      // shard 20, one event, another epoch: 4; offset 1
                           "08 09 02"        // shard 1, the same epoch; from offset 9, two
                           "01"              // openings
                           "14 04 07 01"));  // shard 20, epoch 4, node 7, tail 1
  EXPECT_EQ(decode_cut(encoded), cut);
}

TEST(CutCodec, AppendsToWhatIsThere) {
  std::string out = "abc";

  encode(cut_at(1, 1), out);

  EXPECT_EQ(out, "abc" + encode(cut_at(1, 1)));
}

TEST(CutCodec, TakesFiveBytesForASingleEvent) {
  Cut cut = cut_at(100'000, 20'000'000);
  for (std::uint16_t i = 0; i != 256; ++i)
    cut.segments.push_back(segment((i * 7) % 16, 1, 1'250'000 + i, 1'250'001 + i));

  EXPECT_LE(encode(cut).size(), 256 * 4 + 12);
}

TEST(CutCodec, TakesAbout220BytesOfAClusterOf64Shards) {
  Cut cut = cut_at(100'000, 20'000'000);
  for (std::uint16_t i = 0; i != 64; ++i) cut.segments.push_back(segment(i, 1, 300'000, 300'030));

  EXPECT_LE(encode(cut).size(), 64 * 6 + 12);
}

TEST(CutCodec, GivesBackWhatItTook) {
  std::mt19937_64 random(1);

  for (int i = 0; i != 20'000; ++i) {
    const Cut cut = random_cut(random);
    const auto decoded = decode_cut(encode(cut));
    ASSERT_TRUE(decoded) << decoded.error().what;
    ASSERT_EQ(*decoded, cut);
  }
}

TEST(CutCodec, RefusesEveryCutThatIsShortOrLong) {
  std::mt19937_64 random(2);

  for (int i = 0; i != 500; ++i) {
    const std::string whole = encode(random_cut(random));
    for (std::size_t size = 0; size != whole.size(); ++size) {
      const auto decoded = decode_cut(std::string_view(whole).substr(0, size));
      ASSERT_FALSE(decoded);
      ASSERT_EQ(decoded.error().code, ErrorCode::corruption);
    }
    ASSERT_FALSE(decode_cut(whole + '\0'));
  }
}

// Whatever is accepted is the one encoding of a cut; everything else is corruption with a reason.
TEST(CutCodec, AcceptsNoOtherBytes) {
  std::mt19937_64 random(3);
  std::size_t accepted = 0;

  for (int i = 0; i != 50'000; ++i) {
    std::string changed = encode(random_cut(random));
    for (std::size_t n = random() % 3; n != 3; ++n)
      changed[random() % changed.size()] ^= static_cast<char>(1u << random() % 8);
    const auto decoded = decode_cut(changed);
    if (decoded) {
      ++accepted;
      ASSERT_EQ(encode(*decoded), changed);
    } else {
      ASSERT_EQ(decoded.error().code, ErrorCode::corruption);
      ASSERT_FALSE(decoded.error().what.empty());
    }
  }

  EXPECT_GT(accepted, 2'000u);
}

TEST(CutCodec, NeverStumblesOverNoise) {
  std::mt19937_64 random(5);

  for (int i = 0; i != 50'000; ++i) {
    std::string noise(random() % 40, '\0');
    for (char& c : noise) c = static_cast<char>(random() % 3 ? random() % 8 : random());
    if (!noise.empty()) noise[0] = 1;
    const auto decoded = decode_cut(noise);
    if (decoded) {
      ASSERT_EQ(encode(*decoded), noise);
    }
  }
}

TEST(CutCodec, SaysWhatIsWrong) {
  const auto what = [](std::string_view hex) {
    const auto decoded = decode_cut(bytes(hex));
    return decoded ? std::string("accepted") : decoded.error().what;
  };

  EXPECT_THAT(what("02 00 01 01 01 00"), HasSubstr("format version 2, this program knows 1"));
  EXPECT_THAT(what("01 10 01 01 01 00"), HasSubstr("unknown flags 16"));
  EXPECT_THAT(what("01 04 01 01 01 00 00"), HasSubstr("announces 0 replica sets"));
  EXPECT_THAT(what("01 04 01 01 01 00 02 01 02 01 01"), HasSubstr("announces 2 replica sets"));
  EXPECT_THAT(what("01 04 01 01 01 00 01 01 00 01 01"), HasSubstr("a quorum of 0"));
  EXPECT_THAT(what("01 04 01 01 01 00 01 01 01 00 01"), HasSubstr("has 0 nodes"));
  EXPECT_THAT(what("01 04 01 01 01 00 01 01 01 05 01"), HasSubstr("has 5 nodes"));
  EXPECT_THAT(what("01 04 01 01 01 00 01 01 01 01 00"), HasSubstr("do not ascend"));
  EXPECT_THAT(what("01 04 01 01 01 00 01 ffff03 01 01 01"), HasSubstr("of shard 65535"));
  EXPECT_THAT(what("01 02 01 01 01 00 00"), HasSubstr("announces 0 losses"));
  EXPECT_THAT(what("01 02 01 01 01 00 01 00 01 01"), HasSubstr("announces 1 losses"));
  EXPECT_THAT(what("01 03 01 01 01 00 01 02 02 01 05 01 01 01 01"), HasSubstr("names opening 1"));
  EXPECT_THAT(what("01 03 01 01 01 00 01 02 02 01 05 01 00 01 00"), HasSubstr("a loss has no end"));
  EXPECT_THAT(what("01 00 01 01 00 00"), HasSubstr("position 0"));
  EXPECT_THAT(what("01 00 01 01 01 01 04 00"), HasSubstr("offset 0"));
  EXPECT_THAT(what("01 00 01 01 01 01 00 01 00"), HasSubstr("empty"));
  EXPECT_THAT(what("01 00 01 01 01 01 00 01 01"), HasSubstr("spelled out"));
  EXPECT_THAT(what("01 00 01 01 01 01 01 01 02 01 02"), HasSubstr("outside its segment"));
  EXPECT_THAT(what("01 00 01 01 01 01 fcff1f 01"), HasSubstr("shard 65535"));
  EXPECT_THAT(what("01 01 01 01 01 00 00"), HasSubstr("0 openings"));
  EXPECT_THAT(what("01 00 8100 01 01 00"), HasSubstr("cut short"));
}

}  // namespace
}  // namespace evershard::sharding
