// Many threads want the last places of a course, and one student wants more courses than are allowed. Nobody holds a
// lock.
//
//   course_enrolment [DIR]     without DIR in memory; with it the second run finds the courses full

#include "examples/course_enrolment/course_enrolment.hpp"

#include <atomic>
#include <cstdlib>
#include <evershard/local.hpp>
#include <iostream>
#include <mutex>
#include <thread>

namespace {

using evershard::ErrorCode;

constexpr std::uint32_t places = 5;
constexpr int students = 40;
constexpr int threads = 8;

[[noreturn]] void give_up(const std::string& what) {
  std::cerr << "course_enrolment: " << what << '\n';
  std::exit(1);
}

void open_course(evershard::Local& store, const std::string& course, const std::string& title, std::uint32_t count) {
  school::OpenCourse open;
  open.set_course(course);
  open.set_title(title);
  open.set_places(count);
  const auto answer = store.get<Course>(course).ask(open);
  if (answer) {
    std::cout << "course " << course << ", \"" << title << "\", has " << count << " places\n";
  } else if (answer.rejected()) {
    std::cout << "course " << course << ": " << answer.rejection() << '\n';
  } else if (answer.error().code == ErrorCode::condition_failed) {
    std::cout << "course " << course << ": another one has the title \"" << title << "\"\n";
  } else {
    give_up(answer.error().what);
  }
}

struct Tally {
  std::atomic<int> enrolled{0}, refused{0}, asked_again{0};
  std::mutex mutex;
  std::string last_refusal;
};

/// Nothing was written, or perhaps it was: under the same id asking again is right in both cases.
bool worth_asking_again(ErrorCode code) {
  return code == ErrorCode::condition_failed || code == ErrorCode::timeout || code == ErrorCode::unavailable ||
         code == ErrorCode::overloaded;
}

/// The store decides again by itself, four times; whoever is outrun even then simply asks again.
void enrol(evershard::Local& store, const std::string& course, const std::string& student, Tally& tally) {
  school::Enrol command;
  command.set_course(course);
  command.set_student(student);
  const std::string request = evershard::EventId::random().text();
  for (;;) {
    const auto answer = store.get<Enrolment>(course + "/" + student).ask(command, {.command_id = request});
    if (answer) {
      ++tally.enrolled;
      return;
    }
    if (answer.rejected()) {
      ++tally.refused;
      const std::lock_guard lock(tally.mutex);
      tally.last_refusal = answer.rejection();
      return;
    }
    if (!worth_asking_again(answer.error().code)) give_up(answer.error().what);
    ++tally.asked_again;
  }
}

int taken(evershard::Local& store, const std::string& tag) {
  int count = 0;
  auto events = store.read(evershard::Query{}.types(evershard::names_of<school::Enrolled, school::Left>()).tags({tag}));
  for (const auto& event : events) count += event.type == evershard::name_of_type<school::Enrolled>() ? 1 : -1;
  if (events.error()) give_up(events.error()->what);
  return count;
}

/// What the store did by itself.
std::uint64_t decided_again(const evershard::Local& store) {
  const auto stats = store.stats().value();
  for (const auto& [name, count] : stats.details) {
    if (name == "aggregates.condition_retries") return count;
  }
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  evershard::LocalOptions options;
  if (argc > 1) options.data_dir = argv[1];
  auto opened = evershard::Local::open(options);
  if (!opened) give_up(opened.error().what);
  auto& store = *opened;
  if (auto hosted = store.host<Course>(); !hosted) give_up(hosted.error().what);
  if (auto hosted = store.host<Enrolment>(); !hosted) give_up(hosted.error().what);

  std::cout << "-- a title is unique\n";
  open_course(store, "algebra", "Algebra for everybody", places);
  open_course(store, "numbers", "Algebra for everybody", places);

  std::cout << "-- " << students << " students, " << threads << " threads, " << places << " places\n";
  Tally race;
  std::vector<std::thread> running;
  for (int t = 0; t < threads; ++t) {
    running.emplace_back([&, t] {
      for (int s = t; s < students; s += threads) enrol(store, "algebra", "student-" + std::to_string(s), race);
    });
  }
  for (auto& thread : running) thread.join();
  std::cout << race.enrolled << " enrolled, " << race.refused << " refused, the last because " << race.last_refusal
            << '\n';
  std::cout << "decided again by the store " << decided_again(store)
            << " times, because somebody was faster; asked again by us " << race.asked_again << " times\n";
  const int in_algebra = taken(store, course_tag("algebra"));
  std::cout << "the events say: " << in_algebra << " of " << places << " places are taken\n";

  std::cout << "-- ann wants five courses at once; " << Enrolment::courses_max << " are allowed\n";
  Tally greed;
  running.clear();
  for (const char* course : {"logic", "music", "chess", "latin", "dance"}) open_course(store, course, course, 9);
  for (const char* course : {"logic", "music", "chess", "latin", "dance"}) {
    running.emplace_back([&, course] { enrol(store, course, "ann", greed); });
  }
  for (auto& thread : running) thread.join();
  const int of_ann = taken(store, student_tag("ann"));
  std::cout << greed.enrolled << " enrolled, " << greed.refused << " refused; the events say: " << of_ann
            << " courses\n";

  if (in_algebra != static_cast<int>(places) || of_ann != static_cast<int>(Enrolment::courses_max))
    give_up("a rule was broken");
}
