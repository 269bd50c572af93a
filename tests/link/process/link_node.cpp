// A node of the link as a process of its own: link_node NODE [PORT of node 1]. Prints its port, answers requests with
// its number, and asks node 1 all the time. Ends with its standard input: then it says how its requests were answered,
// `done asked ok timeout refused`.

#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <iostream>
#include <string>
#include <thread>

#include "evershard/cluster/link/links.hpp"

namespace {

using namespace evershard;
using namespace evershard::cluster;

struct Answers {
  std::atomic<long> asked{0}, ok{0}, timeout{0}, refused{0};
  std::atomic<int> in_flight{0};
  void count(const Result<std::string>& outcome) {
    ++(outcome ? ok : outcome.error().code == ErrorCode::timeout ? timeout : refused);
  }
};

void ask_all_the_time(Links& links, Answers& answers, const std::atomic<bool>& over) {
  while (!over) {
    if (answers.in_flight >= 64) {
      std::this_thread::sleep_for(std::chrono::microseconds(200));
      continue;
    }
    ++answers.in_flight;
    ++answers.asked;
    links.request(NodeNumber(1), MessageKind(1), "question", std::chrono::seconds(10),
                  [&](const Result<std::string>& outcome) {
                    answers.count(outcome);
                    --answers.in_flight;
                  });
  }
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 2) return 2;
  LinkOptions options;
  options.who = {"cluster-1", 16, 1, NodeNumber(static_cast<std::uint32_t>(std::atoi(argv[1]))), NodeRole::node, 0};
  options.secret = "the secret of the tests' cluster";
  LinkHandlers handlers;
  handlers.on_request = [name = std::string(argv[1])](LinkRequest request) { request.reply(name); };
  auto links = Links::open(options, std::move(handlers));
  if (!links) return std::fprintf(stderr, "%s\n", links.error().what.c_str()), 1;
  const auto port = (*links)->listen("127.0.0.1", 0);
  if (!port) return std::fprintf(stderr, "%s\n", port.error().what.c_str()), 1;
  std::cout << *port << std::endl;

  Answers answers;
  std::atomic<bool> over{false};
  std::thread asking;
  if (argc > 2) {
    if (const auto dialled =
            (*links)->dial({NodeNumber(1), "127.0.0.1", static_cast<std::uint16_t>(std::atoi(argv[2]))});
        !dialled)
      return 1;
    asking = std::thread([&] { ask_all_the_time(**links, answers, over); });
  }
  for (std::string line; std::getline(std::cin, line);) {
  }
  over = true;
  if (asking.joinable()) asking.join();
  (*links)->stop();
  std::cout << "done " << answers.asked << ' ' << answers.ok << ' ' << answers.timeout << ' ' << answers.refused
            << std::endl;
  return 0;
}
