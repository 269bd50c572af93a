#include "tests/cluster/etcd/etcd_members.hpp"

#include <signal.h>

#include <thread>
#include <utility>

#include <gtest/gtest.h>

#include "evershard/cluster/etcd/etcd_cut_log.hpp"
#include "tests/contract/temporary_folder.hpp"
#include "tests/process/steady_port.hpp"

namespace evershard::testing {

EtcdMembers::EtcdMembers(std::filesystem::path folder, std::size_t count, std::optional<Papers> papers, Places places,
                         std::vector<std::string> flags)
    : folder_(std::move(folder)), papers_(std::move(papers)), places_(std::move(places)), flags_(std::move(flags)) {
  for (std::size_t n = 0; n < count; ++n) {
    const auto host = places_ ? places_(n).host : std::string("127.0.0.1");
    // A member that is started again has the same ones.
    members_.push_back({host + ":" + std::to_string(places_ ? 2379 : steady_port()),
                        host + ":" + std::to_string(places_ ? 2380 : steady_port()), nullptr});
  }
  for (std::size_t n = 0; n < count; ++n) start(n);
  for (std::size_t n = 0; n < count; ++n) EXPECT_TRUE(answers(n)) << "etcd's member " << n << " does not come up";
}

void EtcdMembers::start(std::size_t member) {
  std::string all;
  for (std::size_t n = 0; n < members_.size(); ++n)
    all += (n == 0 ? "" : ",") + std::string("m") + std::to_string(n) + "=http://" + members_[n].peer;
  auto& own = members_[member];
  const auto client = (papers_ ? "https://" : "http://") + own.client, peer = "http://" + own.peer;
  std::vector<std::string> words;
  if (places_) words = places_(member).within;
  for (const auto* word : {"/usr/bin/etcd", "--heartbeat-interval=50", "--election-timeout=500", "--log-level=error",
                           "--initial-cluster-state=new"})
    words.emplace_back(word);
  words.push_back("--name=m" + std::to_string(member));
  words.push_back("--data-dir=" + data(member).string());
  words.push_back("--listen-client-urls=" + client);
  words.push_back("--advertise-client-urls=" + client);
  words.push_back("--listen-peer-urls=" + peer);
  words.push_back("--initial-advertise-peer-urls=" + peer);
  words.push_back("--initial-cluster=" + all);
  if (papers_) {
    words.push_back("--cert-file=" + papers_->certificate("member"));
    words.push_back("--key-file=" + papers_->key("member"));
    words.push_back("--trusted-ca-file=" + papers_->certificate("ca"));
    words.push_back("--client-cert-auth");
  }
  words.insert(words.end(), flags_.begin(), flags_.end());
  own.process = std::make_unique<Process>(words);
}

void EtcdMembers::kill(std::size_t member) { members_[member].process.reset(); }
void EtcdMembers::signal(std::size_t member, int number) { members_[member].process->signal(number); }

std::filesystem::path EtcdMembers::data(std::size_t member) const {
  return folder_ / ("etcd-" + std::to_string(member));
}

bool EtcdMembers::answers(std::size_t member, std::chrono::milliseconds within) const {
  if (places_) return is_healthy(member, within);
  auto alone = options();
  alone.members = {members_[member].client};
  alone.timeout = within;
  // That there is no log under it takes an answer.
  alone.prefix = "nothing/";
  const auto opened = cluster::open_etcd_cut_log({.etcd = alone, .create = false});
  if (!opened && opened.error().code == ErrorCode::not_found) return true;
  ADD_FAILURE() << members_[member].client << ": " << (opened ? "there is a log" : opened.error().what) << "\n"
                << members_[member].process->errors();
  return false;
}

/// Asked from where it runs: nobody else may reach it.
bool EtcdMembers::is_healthy(std::size_t member, std::chrono::milliseconds within) const {
  const auto place = places_(member);
  auto words = place.within;
  for (const auto& word : {std::string("/bin/bash"), std::string("-c"),
                           "exec 3<>/dev/tcp/" + place.host +
                               "/2379 && printf 'GET /health HTTP/1.0\\r\\n\\r\\n' >&3 && "
                               "timeout 1 cat <&3"})
    words.push_back(word);
  const auto until = std::chrono::steady_clock::now() + within;
  do {
    if (run(words).out.find(R"("health":"true")") != std::string::npos) return true;
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
  } while (std::chrono::steady_clock::now() < until);
  ADD_FAILURE() << members_[member].client << "\n" << members_[member].process->errors();
  return false;
}

cluster::EtcdOptions EtcdMembers::options(std::size_t first) const {
  cluster::EtcdOptions options;
  options.timeout = std::chrono::seconds(30);  // a machine with other work, a disk that is slow to flush
  for (std::size_t n = 0; n < members_.size(); ++n) options.members.push_back(members_[(first + n) % count()].client);
  if (papers_) {
    options.tls = true;
    options.tls_ca = papers_->certificate("ca");
    options.tls_certificate = papers_->certificate("client");
    options.tls_key = papers_->key("client");
  }
  return options;
}

EtcdMembers& etcd_of_three() {
  static const TemporaryFolder place;
  static EtcdMembers members(place.path(), 3);
  return members;
}

}  // namespace evershard::testing
