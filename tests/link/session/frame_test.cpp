#include "evershard/cluster/link/session/frame.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <random>

#include "evershard/cluster/link/session/limits.hpp"

namespace evershard::cluster {
namespace {

using ::testing::HasSubstr;

std::string frame_of(std::uint32_t sequence, std::string_view body, FrameType type = FrameType::messages) {
  std::string out = "before";
  FrameWriter writer(out);
  out.append(body);
  writer.finish(SessionNumber(0x1122334455667788), sequence, type);
  return out.substr(6);
}

TEST(Frame, HasTheseBytes) {
  const auto frame = frame_of(2, "body", FrameType::requests);
  ASSERT_EQ(frame.size(), frame_header_bytes + 4);
  EXPECT_EQ(frame.substr(0, 4), std::string("\4\0\0\0", 4));
  EXPECT_EQ(frame.substr(8), std::string("\x88\x77\x66\x55\x44\x33\x22\x11\2\0\0\0\2\0\0\0body", 20));
  EXPECT_EQ(frame.substr(4, 4), std::string("#,\xfc\x05", 4))
      << "the checksum: XXH3-64, seeded with the length, its lower half";
}

TEST(Frame, IsFoundHoweverItsBytesCome) {
  std::string stream;
  for (std::uint32_t i = 1; i <= 50; ++i)
    stream += frame_of(i, std::string(i * 37 % 101, static_cast<char>('a' + i % 26)));
  for (std::size_t grain = 1; grain <= stream.size(); grain = grain * 3 + 1) {
    FrameReader reader;
    std::uint32_t found = 0;
    for (std::size_t from = 0; from < stream.size(); from += grain) {
      reader.feed(std::string_view(stream).substr(from, grain));
      while (true) {
        const auto frame = reader.next();
        ASSERT_TRUE(frame) << frame.error().what;
        if (!*frame) break;
        ++found;
        EXPECT_EQ((*frame)->sequence, found);
        EXPECT_EQ((*frame)->session, SessionNumber(0x1122334455667788));
        EXPECT_EQ((*frame)->body, std::string(found * 37 % 101, static_cast<char>('a' + found % 26)));
      }
    }
    EXPECT_EQ(found, 50u);
    EXPECT_EQ(reader.buffered(), 0u);
  }
}

TEST(Frame, IsRefusedWithAnyBitTurned) {
  const auto frame = frame_of(1, "a body of some length");
  for (std::size_t bit = 0; bit < frame.size() * 8; ++bit) {
    auto damaged = frame;
    damaged[bit / 8] = static_cast<char>(damaged[bit / 8] ^ (1 << bit % 8));
    FrameReader reader;
    reader.feed(damaged);
    const auto read = reader.next();
    // A longer length waits for more; everything else is found at once.
    EXPECT_TRUE(!read || !*read) << "bit " << bit;
    EXPECT_TRUE(bit < 32 || !read) << "bit " << bit;
    EXPECT_TRUE(read || read.error().code == ErrorCode::corruption);
  }
}

TEST(Frame, IsRefusedByItsLengthBeforeAnythingIsKept) {
  FrameReader reader;
  std::string header(frame_header_bytes, '\0');
  header[3] = '\x80';
  reader.feed(header);
  const auto read = reader.next();
  ASSERT_FALSE(read);
  EXPECT_THAT(read.error().what, HasSubstr("2147483648 bytes long"));
}

TEST(Frame, OfAnUnknownTypeIsRefused) {
  FrameReader reader;
  reader.feed(frame_of(1, "x", FrameType(6)));
  EXPECT_THAT(reader.next().error().what, HasSubstr("of type 6"));
}

TEST(Frame, GarbageIsNeverAFrame) {
  std::mt19937_64 random(7);
  for (int round = 0; round < 2'000; ++round) {
    std::string garbage(random() % 200, '\0');
    for (auto& c : garbage) c = static_cast<char>(random());
    FrameReader reader;
    reader.feed(garbage);
    const auto read = reader.next();
    EXPECT_TRUE(!read || !*read);
  }
}

}  // namespace
}  // namespace evershard::cluster
