// Rules over many aggregates, without locks and without one aggregate that everybody waits for: a course has room, a
// student takes at most three courses, and no two courses have one title.
//
// Each enrolment is an aggregate of its own, "enrolment-algebra/ann": a thousand students enrol in one course on all
// shards at once. What the rules are about is found by tags, decided on, and holds when the event is written: if a
// matching event came in between, nothing was written, and the command is decided again on what is there then.

#pragma once

#include <cstdint>
#include <evershard/aggregate.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "examples/course_enrolment/school.pb.h"

inline std::string course_tag(const std::string& course) { return "course:" + course; }
inline std::string student_tag(const std::string& student) { return "student:" + student; }
inline std::string title_tag(const std::string& title) { return "course_title:" + title; }

struct Course {
  static constexpr std::string_view type = "course";
  using State = school::Course;
  using Commands = evershard::Types<school::OpenCourse, school::ChangePlaces>;
  using Events = evershard::Types<school::CourseOpened, school::PlacesChanged>;

  // A title is unique: this is written only if no event has its tag. Nobody keeps a list of titles.
  static evershard::Effect<> on(const State& course, const school::OpenCourse& command) {
    if (course.open()) return evershard::reject("the course is open already");
    school::CourseOpened opened;
    opened.set_course(command.course());
    opened.set_title(command.title());
    opened.set_places(command.places());
    return evershard::persist(opened).fail_if(
        evershard::Query{}.types(evershard::names_of<school::CourseOpened>()).tags({title_tag(command.title())}));
  }

  static evershard::Effect<> on(const State& course, const school::ChangePlaces& command) {
    if (!course.open()) return evershard::reject("there is no such course");
    if (course.places() == command.places()) return evershard::nothing();
    school::PlacesChanged changed;
    changed.set_course(command.course());
    changed.set_places(command.places());
    return evershard::persist(changed);
  }

  static void apply(State& course, const school::CourseOpened& event) {
    course.set_open(true);
    course.set_title(event.title());
    course.set_places(event.places());
  }
  static void apply(State& course, const school::PlacesChanged& event) { course.set_places(event.places()); }

  static std::vector<evershard::Tag> tags(const school::CourseOpened& event) {
    return {course_tag(event.course()), title_tag(event.title())};
  }
  static std::vector<evershard::Tag> tags(const school::PlacesChanged& event) { return {course_tag(event.course())}; }
};

/// What enrolling is decided on: everything that has happened to this course, and to this student, on whatever shard.
struct CourseAndStudent {
  using Events = evershard::Types<school::CourseOpened, school::PlacesChanged, school::Enrolled, school::Left>;

  static evershard::Query query(const school::Enrol& command) {
    return evershard::Query{}
        .types(evershard::names_of<school::CourseOpened, school::PlacesChanged, school::Enrolled, school::Left>())
        .tags({course_tag(command.course())})
        .or_()
        .types(evershard::names_of<school::Enrolled, school::Left>())
        .tags({student_tag(command.student())});
  }
  explicit CourseAndStudent(const school::Enrol& command) : course(command.course()), student(command.student()) {}

  void apply(const school::CourseOpened& event) {
    open = true;
    places = event.places();
  }
  void apply(const school::PlacesChanged& event) { places = event.places(); }
  void apply(const school::Enrolled& event) {
    if (event.course() == course) ++taken;
    if (event.student() == student) ++courses_of_student;
  }
  void apply(const school::Left& event) {
    if (event.course() == course) --taken;
    if (event.student() == student) --courses_of_student;
  }

  std::string course, student;
  bool open = false;
  std::uint32_t places = 0, taken = 0, courses_of_student = 0;
};

struct Enrolment {
  static constexpr std::string_view type = "enrolment";
  static constexpr std::uint32_t courses_max = 3;
  using State = school::Enrolment;
  using Commands = evershard::Types<school::Enrol, school::Leave>;
  using Events = evershard::Types<school::Enrolled, school::Left>;
  using Views = evershard::Types<CourseAndStudent>;

  static evershard::Effect<school::PlacesLeft> on(const State& enrolment, const school::Enrol& command,
                                                  const CourseAndStudent& view) {
    if (enrolment.enrolled()) return evershard::reject("the student takes the course already");
    if (!view.open) return evershard::reject("there is no such course");
    if (view.taken >= view.places) return evershard::reject("the course is full");
    if (view.courses_of_student >= courses_max) return evershard::reject("the student takes enough courses");
    school::Enrolled enrolled;
    enrolled.set_course(command.course());
    enrolled.set_student(command.student());
    school::PlacesLeft left;
    left.set_places(view.places - view.taken - 1);
    return evershard::persist(enrolled).reply(left);
  }

  // Leaving rests on nothing but the enrolment itself, so it needs no view.
  static evershard::Effect<> on(const State& enrolment, const school::Leave& command) {
    if (!enrolment.enrolled()) return evershard::nothing();
    school::Left left;
    left.set_course(command.course());
    left.set_student(command.student());
    return evershard::persist(left);
  }

  static void apply(State& enrolment, const school::Enrolled&) { enrolment.set_enrolled(true); }
  static void apply(State& enrolment, const school::Left&) { enrolment.set_enrolled(false); }

  template <class Event>
  static std::vector<evershard::Tag> tags(const Event& event) {
    return {course_tag(event.course()), student_tag(event.student())};
  }
};
