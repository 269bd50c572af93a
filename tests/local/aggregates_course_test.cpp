// The course example under contention: rules over many aggregates hold, whoever comes at the same time.

#include <atomic>
#include <map>
#include <thread>

#include "examples/course_enrolment/course_enrolment.hpp"
#include "tests/local/accounts.hpp"

namespace evershard {
namespace {

school::OpenCourse opening(const std::string& course, const std::string& title, std::uint32_t places) {
  school::OpenCourse command;
  command.set_course(course);
  command.set_title(title);
  command.set_places(places);
  return command;
}
school::Enrol enrolling(const std::string& course, const std::string& student) {
  school::Enrol command;
  command.set_course(course);
  command.set_student(student);
  return command;
}

/// Asked again as long as it lost every race: then it said so, and nothing was written.
template <class Ask>
auto until_decided(Ask ask) {
  for (;;) {
    auto answer = ask();
    if (!answer.failed() || answer.error().code != ErrorCode::condition_failed) return answer;
  }
}

class Courses : public ::testing::TestWithParam<bool> {
 protected:
  Courses() {
    LocalOptions options;
    if (GetParam()) options.data_dir = dir_.path() / "store";
    options.disk_reserve_bytes = 1 << 20;
    store_.emplace(open_store(options));
    EXPECT_TRUE(store_->host<Course>());
    EXPECT_TRUE(store_->host<Enrolment>());
  }
  auto enrol(const std::string& course, const std::string& student) {
    return until_decided(
        [&] { return store_->get<Enrolment>(course + "/" + student).ask(enrolling(course, student)); });
  }
  std::uint64_t events(Query query) { return positions_of(store_->read(std::move(query))).size(); }

  ScratchDir dir_;
  std::optional<Local> store_;
};

INSTANTIATE_TEST_SUITE_P(InMemory, Courses, ::testing::Values(false));
INSTANTIATE_TEST_SUITE_P(Durable, Courses, ::testing::Values(true));

TEST_P(Courses, AreNeverOverbooked) {
  constexpr std::uint32_t places = 7;
  constexpr int students = 40;
  ASSERT_TRUE(store_->get<Course>("algebra").ask(opening("algebra", "Algebra", places)));
  std::atomic<int> in{0}, full{0};
  std::vector<std::thread> threads;

  for (int t = 0; t < 8; ++t) {
    threads.emplace_back([&, t] {
      for (int s = t; s < students; s += 8) {
        const auto answer = enrol("algebra", "s" + std::to_string(s));
        ASSERT_FALSE(answer.failed()) << answer.error().what;
        ++(answer ? in : full);
      }
    });
  }
  for (auto& thread : threads) thread.join();

  EXPECT_EQ(in, static_cast<int>(places));
  EXPECT_EQ(full, students - static_cast<int>(places));
  EXPECT_EQ(events(Query{}.types(names_of<school::Enrolled>()).tags({course_tag("algebra")})), places);
}

TEST_P(Courses, AreAtMostThreeAStudentWhereverTheyAre) {
  for (int c = 0; c < 8; ++c) {
    const std::string course = "c" + std::to_string(c);
    ASSERT_TRUE(store_->get<Course>(course).ask(opening(course, "Title " + course, 100)));
  }
  std::vector<std::thread> threads;

  for (int c = 0; c < 8; ++c) {
    threads.emplace_back([&, c] {
      for (const char* student : {"ann", "bob"}) {
        const auto answer = enrol("c" + std::to_string(c), student);
        ASSERT_FALSE(answer.failed()) << answer.error().what;
      }
    });
  }
  for (auto& thread : threads) thread.join();

  for (const char* student : {"ann", "bob"}) {
    EXPECT_EQ(events(Query{}.types(names_of<school::Enrolled>()).tags({student_tag(student)})), 3u) << student;
  }
}

TEST_P(Courses, HaveTitlesOfTheirOwn) {
  std::atomic<int> opened{0};
  std::vector<std::thread> threads;

  for (int t = 0; t < 8; ++t) {
    threads.emplace_back([&, t] {
      const std::string course = "c" + std::to_string(t);
      const auto answer = store_->get<Course>(course).ask(opening(course, "The only one", 10));
      if (answer)
        ++opened;
      else
        EXPECT_EQ(answer.error().code, ErrorCode::condition_failed);
    });
  }
  for (auto& thread : threads) thread.join();

  EXPECT_EQ(opened, 1);
  EXPECT_EQ(events(Query{}.tags({title_tag("The only one")})), 1u);
}

}  // namespace
}  // namespace evershard
