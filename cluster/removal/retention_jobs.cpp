#include "evershard/cluster/removal/retention_jobs.hpp"

#include <algorithm>
#include <exception>
#include <functional>
#include <system_error>
#include <utility>
#include <vector>

namespace evershard::cluster {

Result<void> RetentionJobs::begin(const std::string& id, Work work) {
  const std::lock_guard lock(mutex_);
  if (stopping_) return refuse(ErrorCode::unavailable, "the node is stopping");
  if (jobs_.contains(id)) return {};
  forget_old();
  const auto under_way =
      std::ranges::count_if(jobs_, [](const auto& known) { return !known.second->outcome.has_value(); });
  if (static_cast<std::size_t>(under_way) >= options_.jobs_max)
    return refuse(ErrorCode::overloaded, "as much of retention as this node takes is under way");
  auto job = std::make_shared<Job>();
  jobs_.emplace(id, job);
  try {
    job->thread = thread_of(job, std::move(work));
  } catch (const std::system_error&) {
    jobs_.erase(id);
    return refuse(ErrorCode::unavailable, "this node has no thread for more of retention");
  }
  return {};
}

std::thread RetentionJobs::thread_of(const std::shared_ptr<Job>& job, Work work) {
  return std::thread([this, job, work = std::move(work)] {
    const auto carry_out = [&](const Progress& progress) -> Result<std::string> {
      try {
        return work(progress);
      } catch (const std::exception& thrown) {
        return refuse(ErrorCode::timeout, std::string("it was broken off: ") + thrown.what());
      }
    };
    auto outcome = carry_out([this, &job](std::uint64_t done, std::uint64_t total) {
      const std::lock_guard guard(mutex_);
      job->done = done;
      job->total = total;
      return !stopping_ && !job->given_up && Clock::now() - job->heard < options_.patience;
    });
    const std::lock_guard guard(mutex_);
    job->outcome = std::move(outcome);
    changed_.notify_all();
  });
}

std::optional<RetentionJobs::State> RetentionJobs::wait(const std::string& id, bool give_up,
                                                        std::chrono::milliseconds time) {
  std::unique_lock lock(mutex_);
  const auto found = jobs_.find(id);
  if (found == jobs_.end()) return std::nullopt;
  const auto job = found->second;
  job->given_up |= give_up;
  job->heard = Clock::now();
  changed_.wait_for(lock, time, [&] { return stopping_ || job->outcome.has_value(); });
  job->heard = Clock::now();
  return State{job->done, job->total, job->outcome};
}

void RetentionJobs::forget_old() {
  std::vector<std::pair<Clock::time_point, std::string>> ended;  // the last ones heard of first
  for (const auto& [id, job] : jobs_)
    if (job->outcome) ended.emplace_back(job->heard, id);
  std::ranges::sort(ended, std::greater<>());
  for (std::size_t i = 0; i != ended.size(); ++i) {
    if (i < options_.ended_max && Clock::now() - ended[i].first < options_.keep) continue;
    const auto job = jobs_.find(ended[i].second);
    job->second->thread.join();  // it has nothing left to do but to end
    jobs_.erase(job);
  }
}

void RetentionJobs::stop() {
  std::map<std::string, std::shared_ptr<Job>> ending;
  {
    const std::lock_guard lock(mutex_);
    stopping_ = true;
    ending.swap(jobs_);
  }
  changed_.notify_all();
  for (const auto& [id, job] : ending) job->thread.join();
}

}  // namespace evershard::cluster
