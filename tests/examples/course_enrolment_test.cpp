#include "examples/course_enrolment/course_enrolment.hpp"

#include <gtest/gtest.h>
#include <evershard/test_kit.hpp>

namespace {

using evershard::ErrorCode;
using evershard::TestKit;

school::CourseOpened course_opened(std::string course, std::uint32_t places) {
  school::CourseOpened event;
  event.set_title("About " + course);
  event.set_course(std::move(course));
  event.set_places(places);
  return event;
}
school::OpenCourse open_course(std::string course, std::uint32_t places) {
  school::OpenCourse command;
  command.set_title("About " + course);
  command.set_course(std::move(course));
  command.set_places(places);
  return command;
}
template <class Message>
Message places(std::string course, std::uint32_t count) {
  Message message;
  message.set_course(std::move(course));
  message.set_places(count);
  return message;
}
template <class Message>
Message of(std::string course, std::string student) {
  Message message;
  message.set_course(std::move(course));
  message.set_student(std::move(student));
  return message;
}
school::PlacesLeft left(std::uint32_t count) {
  school::PlacesLeft reply;
  reply.set_places(count);
  return reply;
}

TEST(CourseEnrolment, OpensACourseWhoseTitleNobodyHas) {
  TestKit<Course> kit("algebra");

  kit.given()
      .when(open_course("algebra", 2))
      .then(course_opened("algebra", 2))
      .tagged(0, {"course:algebra", "course_title:About algebra"});
  kit.given()
      .given_of<Course>("logic", course_opened("logic", 9))
      .when(open_course("algebra", 2))
      .then(course_opened("algebra", 2));
  kit.given()
      .given_of<Course>("algebra-2", course_opened("algebra", 9))
      .when(open_course("algebra", 2))
      .failed(ErrorCode::condition_failed);
  kit.given(course_opened("algebra", 2)).when(open_course("algebra", 2)).rejected("the course is open already");
}

TEST(CourseEnrolment, ChangesPlaces) {
  TestKit<Course> kit("algebra");

  kit.given(course_opened("algebra", 2))
      .when(places<school::ChangePlaces>("algebra", 3))
      .then(places<school::PlacesChanged>("algebra", 3))
      .replied();
  kit.when(places<school::ChangePlaces>("algebra", 3)).then().replied();
  kit.given().when(places<school::ChangePlaces>("algebra", 3)).rejected("there is no such course");
}

TEST(CourseEnrolment, TakesStudentsWhileThereIsRoom) {
  const auto enrol = of<school::Enrol>("algebra", "ann");
  TestKit<Enrolment> kit("algebra/ann");

  kit.given()
      .given_of<Course>("algebra", course_opened("algebra", 2))
      .given_of<Enrolment>("algebra/bob", of<school::Enrolled>("algebra", "bob"))
      .when(enrol)
      .then(of<school::Enrolled>("algebra", "ann"))
      .tagged(0, {"course:algebra", "student:ann"})
      .replied(left(0));
  kit.given()
      .given_of<Course>("algebra", course_opened("algebra", 1))
      .given_of<Enrolment>("algebra/bob", of<school::Enrolled>("algebra", "bob"))
      .when(enrol)
      .rejected("the course is full")
      .then();
  kit.given_of<Enrolment>("algebra/bob", of<school::Left>("algebra", "bob")).when(enrol).replied(left(0));
  kit.given().given_of<Course>("logic", course_opened("logic", 1)).when(enrol).rejected("there is no such course");
}

TEST(CourseEnrolment, GoesByThePlacesOfToday) {
  TestKit<Enrolment> kit("algebra/ann");

  kit.given()
      .given_of<Course>("algebra", course_opened("algebra", 1), places<school::PlacesChanged>("algebra", 5))
      .when(of<school::Enrol>("algebra", "ann"))
      .replied(left(4));
}

TEST(CourseEnrolment, LetsAStudentTakeThreeCourses) {
  const auto busy = [](TestKit<Enrolment>& kit) -> TestKit<Enrolment>& {
    kit.given().given_of<Course>("algebra", course_opened("algebra", 9));
    for (const char* course : {"logic", "music", "chess"}) {
      kit.given_of<Enrolment>(std::string(course) + "/ann", of<school::Enrolled>(course, "ann"));
    }
    return kit;
  };
  TestKit<Enrolment> kit("algebra/ann");

  busy(kit).when(of<school::Enrol>("algebra", "ann")).rejected("the student takes enough courses").then();
  busy(kit).when(of<school::Enrol>("algebra", "bob")).replied(left(8));
  busy(kit)
      .given_of<Enrolment>("chess/ann", of<school::Left>("chess", "ann"))
      .when(of<school::Enrol>("algebra", "ann"))
      .then(of<school::Enrolled>("algebra", "ann"));
}

TEST(CourseEnrolment, EnrolsAndLeavesOnce) {
  TestKit<Enrolment> kit("algebra/ann");

  kit.given(of<school::Enrolled>("algebra", "ann"))
      .given_of<Course>("algebra", course_opened("algebra", 9))
      .when(of<school::Enrol>("algebra", "ann"))
      .rejected("the student takes the course already");
  kit.when(of<school::Leave>("algebra", "ann")).then(of<school::Left>("algebra", "ann")).replied();
  kit.when(of<school::Leave>("algebra", "ann")).then().replied();
  kit.when(of<school::Enrol>("algebra", "ann")).then(of<school::Enrolled>("algebra", "ann")).replied(left(8));
}

}  // namespace
