// The hub without sockets: what it writes, whom it takes, in what sequence it tells.

#include "evershard/cluster/link/link_hub.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/link/session/two_peers.hpp"

namespace evershard::cluster {
namespace {

using ::testing::ElementsAre;

class Paper final : public LinkTransport {
 public:
  ConnectionNumber adopt(LinkSocket) override { return ++last; }
  void write(ConnectionNumber, std::string_view bytes) override { written += bytes.size(); }
  void end(ConnectionNumber connection, std::string_view last_words) override {
    ended.push_back(connection), last_said = last_words;
  }
  ConnectionNumber last = 0;
  std::size_t written = 0;
  std::vector<ConnectionNumber> ended;
  std::string last_said;
};

class Nowhere final : public LinkReturns {
 public:
  void answer(NodeNumber, SessionNumber, CallNumber, Result<std::string>) override {}
  void release(NodeNumber, SessionNumber, std::uint64_t) override {}
};

class LinkHubTest : public ::testing::Test {
 protected:
  LinkHubTest() {
    options.who = identity(1);
    handlers.on_session_up = [this](const LinkSessionInfo& info) {
      told.push_back("up " + std::to_string(info.session.value));
    };
    handlers.on_session_down = [this](const LinkSessionInfo& info, const Error& why) {
      told.push_back("down " + std::to_string(info.session.value) + " " + std::string(name_of(why.code)));
    };
    handlers.on_refused = [this](const std::string& whom, const Error&) { told.push_back("refused " + whom); };
    hub.emplace(LinkHubParts{options, handlers, paper, board, std::make_shared<Nowhere>(),
                             [this](NodeNumber node, SessionNumber session, bool lasted) {
                               told.push_back("gone " + std::to_string(node.value) + " " +
                                              std::to_string(session.value) + (lasted ? " lasted" : ""));
                             }});
  }
  void run(LinkCommand command, LinkTime now) {
    std::vector<LinkCommand> commands;
    commands.push_back(std::move(command));
    hub->run(commands, now);
  }
  void connect(std::uint32_t node, std::uint64_t session, LinkTime now, bool dialled = false,
               std::uint64_t process = 0) {
    Greeted greeted;
    greeted.agreement = agreement(node, session);
    if (process != 0) greeted.agreement.peer.process = process;
    greeted.dialled = dialled;
    run(std::move(greeted), now);
  }
  void ask(std::uint32_t node, std::string bytes, LinkTime now) {
    run(AskCommand{NodeNumber(node), MessageKind(1), now + std::chrono::seconds(60), std::move(bytes),
                   [this](const Result<std::string>& outcome) {
                     told.push_back(outcome ? "answered" : "answered " + std::string(name_of(outcome.error().code)));
                   }},
        now);
  }
  LinkOptions options;
  LinkHandlers handlers;
  Paper paper;
  LinkBoard board;
  std::vector<std::string> told;
  std::optional<LinkHub> hub;
};

TEST_F(LinkHubTest, WritesNoMoreThanLeavesTheProcess) {
  connect(2, 5, at(0));
  for (int i = 0; i < 100; ++i) run(TellCommand{NodeNumber(2), MessageKind(1), std::string(100'000, 'm')}, at(0));
  const auto bound = options.limits.unsent_bytes_max + options.limits.frame_bytes_max;
  EXPECT_GT(paper.written, options.limits.unsent_bytes_max / 2);
  EXPECT_LE(paper.written, bound);
  hub->unsent(1, options.limits.unsent_bytes_max, at(1));
  EXPECT_LE(paper.written, bound);
  for (int i = 0; i < 20; ++i) hub->unsent(1, 0, at(2));
  EXPECT_GT(paper.written, 100u * 100'000) << "everything, when there was room";
}

TEST_F(LinkHubTest, EndsASessionBeforeTheNextOneOfTheSameProcessBegins) {
  connect(2, 5, at(0), true);
  ask(2, "x", at(0));
  connect(2, 6, at(1'500), true);
  EXPECT_THAT(told, ElementsAre("up 5", "answered timeout", "down 5 cancelled", "gone 2 5 lasted", "up 6"));
  EXPECT_THAT(paper.ended, ElementsAre(1));
  hub->closed(1, at(1'600));  // the old connection's end, heard late
  hub->received(1, "late bytes", at(1'600));
  EXPECT_EQ(told.size(), 5u);
  EXPECT_TRUE(board.status().at(0).connected);
}

TEST_F(LinkHubTest, KeepsWhoIsThereWhenAnotherProcessComesWithItsNumber) {
  connect(2, 5, at(0));
  connect(2, 6, at(10), true, 4'711);
  EXPECT_THAT(told, ElementsAre("up 5", "refused node 2", "gone 2 6"));
  EXPECT_TRUE(paper.ended.empty());
}

TEST_F(LinkHubTest, TellsOfALostConnectionOnce) {
  connect(2, 5, at(0), true);
  ask(2, "x", at(0));
  hub->closed(1, at(10));
  hub->closed(1, at(10));
  EXPECT_THAT(told, ElementsAre("up 5", "answered timeout", "down 5 unavailable", "gone 2 5"));
}

TEST_F(LinkHubTest, GivesUpWhoIsSilentAndSaysWhy) {
  connect(2, 5, at(0));
  for (int ms = 20; ms <= 2'100; ms += 20) hub->tick(at(ms));
  EXPECT_THAT(told, ElementsAre("up 5", "down 5 unavailable"));
  EXPECT_FALSE(paper.last_said.empty());
  EXPECT_GT(paper.written, 3 * frame_header_bytes) << "heartbeats went out meanwhile";
}

TEST_F(LinkHubTest, RefusesMorePeersThanItMayHave) {
  hub->close(at(0));
  options.peers_max = 2;
  connect(2, 5, at(0));
  connect(3, 6, at(0));
  connect(4, 7, at(0));
  ask(5, "x", at(0));
  EXPECT_THAT(told, ElementsAre("up 5", "up 6", "refused node 4", "answered overloaded"));
}

TEST_F(LinkHubTest, ForgetsWhoOnlyPassedBy) {
  options.peers_max = 3;
  connect(2, 1, at(0));
  for (std::uint32_t n = 0; n != 10; ++n) {
    connect(standby_numbers_from + n, 5 + n, at(0));
    EXPECT_EQ(board.status().size(), 2u) << n;
    hub->tick(at(0));
    EXPECT_EQ(board.status().size(), 2u) << "one that is there stays";
    hub->closed(n + 2, at(0));
    hub->tick(at(0));
    EXPECT_EQ(board.status().size(), 1u) << n;
  }
  hub->closed(1, at(0));
  hub->tick(at(0));
  EXPECT_EQ(board.status().size(), 1u) << "a node is remembered";
}

TEST_F(LinkHubTest, AnswersEverythingAtItsEnd) {
  connect(2, 5, at(0));
  ask(2, "sent", at(0));
  ask(3, "never sent", at(0));
  hub->close(at(10));
  EXPECT_THAT(told, ElementsAre("up 5", "answered timeout", "down 5 cancelled", "answered cancelled"));
}

}  // namespace
}  // namespace evershard::cluster
