// An import from KurrentDB: what its addresses and events become; and a server made up here, with what a server of ours
// does not send: positions that are offsets, several events at one, beginnings that are gone, events of its own.

#include <gmock/gmock.h>
#include <grpcpp/grpcpp.h>

#include <map>
#include <utility>

#include "evershard/compat/import/kurrent_events.hpp"
#include "evershard/compat/import/kurrent_url.hpp"
#include "evershard/compat/import/refused_file.hpp"
#include "evershard/compat/import/store_import.hpp"
#include "evershard/kurrent/streams.grpc.pb.h"
#include "evershard/local/local.hpp"
#include "tests/services/copy/forwarding_store.hpp"

namespace evershard::cli {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;

namespace kurrent_pb = ::event_store::client::streams;

TEST(KurrentUrl, IsWhatTheirClientsTake) {
  const auto url =
      KurrentUrl::parse("admin:change%40it@one,two:2114/?tls=true&nodePreference=leader&tlsCaFile=%2Fca.pem");
  ASSERT_TRUE(url) << url.error().what;
  EXPECT_THAT(url->hosts, ElementsAre("one:2113", "two:2114"));
  EXPECT_EQ(url->user, "admin");
  EXPECT_EQ(url->password, "change@it");
  EXPECT_TRUE(url->tls);
  EXPECT_EQ(url->tls_ca, "/ca.pem");
  EXPECT_EQ(url->name(), "kurrentdb://one:2113,two:2114");
  EXPECT_FALSE(KurrentUrl::parse("one?TLS=False")->tls);
  EXPECT_THAT(KurrentUrl::parse("[::1]:7")->hosts, ElementsAre("[::1]:7"));
}

TEST(KurrentUrl, OthersAreRefusedWithoutTheirPassword) {
  for (const auto* wrong : {"", "one:", "one:0", "one:70000", "one:x", "one,,two", "[::1", "user@one", "u:%zz@one",
                            "one?tls=perhaps", "one?tlsVerifyCert=false", "one?userCertFile=x", "one?unheard=1"}) {
    const auto url = KurrentUrl::parse(wrong);
    ASSERT_FALSE(url) << wrong;
    EXPECT_EQ(url.error().code, ErrorCode::invalid_argument);
  }
  EXPECT_THAT(KurrentUrl::parse("u:secret%@one").error().what, Not(HasSubstr("secret")));
}

TEST(SourcePlaces, AreOrderedAndHaveATextAndBack) {
  const std::vector<SourcePlace> places{{}, {7, 0, 0}, {12, 7, 0}, {12, 7, 1}, {12, 9, 0}, {13, 0, 2}};
  for (std::size_t i = 0; i < places.size(); ++i) {
    EXPECT_EQ(SourcePlace::from(places[i].text()), places[i]) << places[i].text();
    if (i > 0) {
      EXPECT_LT(places[i - 1], places[i]);
    }
  }
  EXPECT_EQ(places[1].text(), "7");
  EXPECT_EQ(places[3].text(), "12/7/1");
}

TEST(KurrentEvents, LeavesOutWhatServersWriteForThemselves) {
  for (const auto* own :
       {"$all", "$ce-order", "$$$ce-order", "$et-Placed", "$projections-$all", "$stats-127.0.0.1:2113",
        "$$$stats-127.0.0.1:2113", "$persistentsubscription-order::group-parked", "$user-admin", "$users", "$settings",
        "$scavenges-1", "$copy-x", "$persistent-y", "$streams"})
    EXPECT_TRUE(is_of_server(own)) << own;
  for (const auto* users : {"order-7", "cart", "$$order-7", "$mine-7", "$$$mine-7", "$statistics", "$$", "streams"})
    EXPECT_FALSE(is_of_server(users)) << users;
}

KurrentRecorded recorded(const std::string& stream, std::uint64_t revision, const std::string& type) {
  KurrentRecorded event;
  event.mutable_id()->set_string(EventId::random().text());
  event.mutable_stream_identifier()->set_stream_name(stream);
  event.set_stream_revision(revision);
  (*event.mutable_metadata())["type"] = type;
  (*event.mutable_metadata())["content-type"] = "application/json";
  (*event.mutable_metadata())["created"] = "16000000000000010";
  event.set_data("{}");
  event.set_custom_metadata("{\"by\":1}");
  return event;
}

TEST(KurrentEvents, KeepNameTimeAndContent) {
  const auto from = recorded("$mine-7", 4, "Placed");
  auto apart = from;
  const auto taken = KurrentEvents(false).take(apart);
  ASSERT_TRUE(taken) << taken.error().what;
  EXPECT_EQ(taken->event.aggregate, (AggregateId{"$stream", "$mine-7"}));
  EXPECT_EQ(taken->event.type, "Placed");
  EXPECT_EQ(taken->event.format, PayloadFormat::json);
  EXPECT_EQ(taken->event.occurred_at, Timestamp{1'600'000'000'000'001});
  EXPECT_EQ(taken->event.metadata, "{\"by\":1}");
  EXPECT_EQ(taken->event.id.text(), from.id().string());
  EXPECT_EQ(taken->revision, 4u);
  auto other = from;
  other.set_stream_revision(5);
  EXPECT_NE(KurrentEvents(false).content_of(other), taken->content);
  EXPECT_EQ(KurrentEvents(true).content_of(other), KurrentEvents(true).content_of(from));
  (*other.mutable_metadata())["created"] = "soon";
  EXPECT_EQ(KurrentEvents(false).take(other).error().code, ErrorCode::invalid_argument);
  for (auto wrong : {recorded("order-7", 0, "$ProjectionCreated"), recorded("order-7", 0, ""),
                     recorded(std::string(600, 'x'), 0, "Placed")}) {
    const auto whole = wrong.SerializeAsString();
    EXPECT_FALSE(KurrentEvents(false).take(wrong));
    EXPECT_EQ(wrong.SerializeAsString(), whole) << "it is to be shown";
  }
  auto last = recorded("order-7", 1u << 30, "$streamDeleted");
  const auto end = KurrentEvents(false).take(last);
  ASSERT_TRUE(end);
  EXPECT_EQ(end->revision, std::nullopt);
}

/// Reads of `$all`, as KurrentDB answers them.
class MadeUpKurrent final : public kurrent_pb::Streams::Service {
 public:
  MadeUpKurrent() {
    grpc::ServerBuilder builder;
    int port = 0;
    builder.AddListeningPort("127.0.0.1:0", grpc::InsecureServerCredentials(), &port);
    builder.RegisterService(this);
    server_ = builder.BuildAndStart();
    address = "127.0.0.1:" + std::to_string(port);
  }
  ~MadeUpKurrent() override { server_->Shutdown(); }

  KurrentRecorded& add(const std::string& stream, std::uint64_t revision, const std::string& type,
                       std::uint64_t commit = 0, std::uint64_t prepare = 0) {
    at_ += 137;  // bytes
    auto& event = events.emplace_back(recorded(stream, revision, type));
    event.set_commit_position(commit == 0 ? at_ : commit);
    event.set_prepare_position(prepare == 0 ? event.commit_position() : prepare);
    return event;
  }

  grpc::Status Read(grpc::ServerContext* context, const kurrent_pb::ReadReq* request,
                    grpc::ServerWriter<kurrent_pb::ReadResp>* writer) override {
    if (denies) {
      context->AddTrailingMetadata("exception", "access-denied");
      return {grpc::StatusCode::PERMISSION_DENIED, "Access Denied"};
    }
    const auto& options = request->options();
    const auto give = [&](const KurrentRecorded& event) {
      kurrent_pb::ReadResp response;
      *response.mutable_event()->mutable_event() = event;
      return writer->Write(response);
    };
    if (options.read_direction() == kurrent_pb::ReadReq::Backwards) {
      if (!events.empty()) give(events.back());
      return grpc::Status::OK;
    }
    const auto& from = options.all().position();
    std::uint64_t given = 0;
    for (const auto& event : events) {
      const std::pair place(event.commit_position(), event.prepare_position());
      if (options.all().has_position() && place < std::pair(from.commit_position(), from.prepare_position())) continue;
      if (given++ == options.count() || !give(event)) break;
    }
    return grpc::Status::OK;
  }

  std::string address;
  std::vector<KurrentRecorded> events;
  bool denies = false;

 private:
  std::uint64_t at_ = 9'000;
  std::unique_ptr<grpc::Server> server_;
};

class KurrentImport : public ::testing::Test {
 protected:
  struct Told {
    std::uint64_t stored = 0, left_out = 0;
    std::vector<std::string> refused{};  // why
    ImportNumbers numbers{};
    ImportCheck check{};
  };
  /// `most`: it is stopped when it was asked so often whether to go on.
  Result<Told> import(bool renumber = false, int most = -1, bool skip_refused = false) {
    auto source = open_source("kurrentdb://" + theirs.address + "?tls=false", {"", "", renumber});
    if (!source) return refuse(source.error());
    StoreImport import(**source, ours, {(*source)->name(), !renumber, skip_refused});
    auto stored = import.run([&](std::uint64_t, std::uint64_t) { return most < 0 || most-- > 0; });
    if (!stored) return refuse(stored.error());
    std::vector<std::string> refused;
    auto check = import.compare(go_on, [&](const ImportedEvent& event) {
      refused.push_back(event.refused->why.what + ' ' + event.refused->shown);
      return Result<void>();
    });
    if (!check) return refuse(check.error());
    return Told{*stored, (*source)->left_out(), std::move(refused), import.numbers(), *check};
  }
  /// `type@revision` of what is live, in order.
  std::vector<std::string> stream(const AggregateId& aggregate) {
    std::vector<std::string> seen;
    auto events = ours.read(aggregate, {});
    for (const auto& event : events)
      if (event.state == EventState::live) seen.push_back(event.type + "@" + std::to_string(event.seq_nr.value - 1));
    EXPECT_FALSE(events.error());
    return seen;
  }

  static bool go_on(std::uint64_t, std::uint64_t) { return true; }
  static Result<void> none_is_refused(const ImportedEvent&) { return refuse(ErrorCode::invalid_argument, "refused"); }

  MadeUpKurrent theirs;
  Local ours = Local::open({}).value();
};

TEST_F(KurrentImport, TakesEverythingInOrderButTheServersOwn) {
  theirs.add("$stats-127.0.0.1:2113", 0, "$statsCollected");
  theirs.add("order-1", 0, "Placed");
  theirs.add("$projections-$all", 0, "$ProjectionCreated");
  theirs.add("cart", 0, "Added");
  theirs.add("$$order-1", 0, "$metadata").set_data("{\"$maxCount\":5}");
  theirs.add("links", 0, "$>").set_data("0@order-1");
  theirs.add("order-1", 1, "Paid");
  theirs.add("order-2", 0, "$streamDeleted").set_stream_revision(std::numeric_limits<std::int64_t>::max());
  theirs.add("$ce-order", 0, "$>").set_data("0@order-1");

  const auto told = import();
  ASSERT_TRUE(told) << told.error().what;
  EXPECT_EQ(told->stored, 6u);
  EXPECT_EQ(told->left_out, 3u);
  EXPECT_TRUE(told->check.same());
  EXPECT_EQ(told->check.source_events, 6u);
  std::vector<std::string> types;
  auto all = ours.read(Query::all(), ReadOptions{});
  for (const auto& event : all) types.push_back(event.type);
  EXPECT_THAT(types, ElementsAre("Placed", "Added", "$metadata", "$>", "Paid", "$streamDeleted"));
  EXPECT_THAT(stream({"$metastream", "order-1"}), ElementsAre("$metadata@0"));
  EXPECT_EQ(import()->stored, 0u) << "what is here is known";
  theirs.add("order-1", 2, "Sent");
  EXPECT_EQ(import()->stored, 1u);
}

TEST_F(KurrentImport, KeepsRevisionsWhereBeginningsAreGone) {
  theirs.add("order-1", 3, "D");
  theirs.add("order-2", 1'234, "Late");
  theirs.add("order-1", 4, "E");
  theirs.add("order-1", 7, "H");
  theirs.add("order-2", 1'235, "Later");
  const auto told = import();
  ASSERT_TRUE(told) << told.error().what;
  EXPECT_EQ(told->stored, 5u);
  EXPECT_EQ(told->numbers.places, 3u + 1'234 + 2);
  EXPECT_TRUE(told->check.same());
  EXPECT_THAT(stream({"order", "1"}), ElementsAre("D@3", "E@4", "H@7"));
  EXPECT_THAT(stream({"order", "2"}), ElementsAre("Late@1234", "Later@1235"));
  theirs.add("order-2", 1'300, "Last");  // by another import, which knows nothing but what is stored
  ASSERT_EQ(import()->numbers.places, 64u);
  EXPECT_THAT(stream({"order", "2"}), ElementsAre("Late@1234", "Later@1235", "Last@1300"));
}

TEST_F(KurrentImport, RenumbersWhereItIsTold) {
  theirs.add("order-1", 3, "D");
  theirs.add("order-2", 0, "A");
  theirs.add("order-1", 9, "J");
  const auto told = import(true);
  ASSERT_TRUE(told) << told.error().what;
  EXPECT_EQ(told->numbers.places, 0u);
  EXPECT_EQ(told->numbers.renumbered, 1u);
  EXPECT_TRUE(told->check.same());
  EXPECT_THAT(stream({"order", "1"}), ElementsAre("D@0", "J@1"));
}

TEST_F(KurrentImport, IsRefusedWhereAStreamHasOtherEventsHere) {
  ASSERT_TRUE(ours.append(Append().event("order-1", "Ours", "")));
  theirs.add("order-1", 0, "A");
  const auto told = import();
  ASSERT_FALSE(told);
  EXPECT_EQ(told.error().code, ErrorCode::version_conflict);
  EXPECT_THAT(told.error().what, HasSubstr("--renumber"));
  EXPECT_TRUE(import(true)->check.same());
}

TEST_F(KurrentImport, TellsEventsAtOnePositionApart) {
  theirs.add("order-1", 0, "A", 10'000, 9'100);
  theirs.add("order-1", 1, "B", 10'000, 9'200);
  theirs.add("order-1", 2, "C", 10'000, 9'200);
  theirs.add("order-1", 3, "D", 10'000, 9'200);
  theirs.add("order-1", 4, "E", 10'000, 9'300);
  ASSERT_EQ(import()->stored, 5u);
  theirs.add("order-1", 5, "F", 10'000, 9'300);
  EXPECT_EQ(import()->stored, 1u);
  EXPECT_THAT(stream({"order", "1"}), ElementsAre("A@0", "B@1", "C@2", "D@3", "E@4", "F@5"));
  EXPECT_TRUE(import()->check.same());
}

TEST_F(KurrentImport, ReadsLargeEventsInShortPages) {
  for (std::uint64_t i = 0; i < 48; ++i) {  // some of them at one position
    auto& event = theirs.add("order-1", i, "A", 10'000 + i / 5);
    event.set_data(std::string(1u << 20, 'x'));
  }
  const auto source = open_source("kurrentdb://" + theirs.address + "?tls=false", {"", "", false});
  ASSERT_TRUE(source);
  const auto page = (*source)->read_after({}, 2'000);
  ASSERT_TRUE(page) << page.error().what;
  EXPECT_EQ(page->size(), page_bytes_enough >> 20);
  const auto told = import();
  ASSERT_TRUE(told) << told.error().what;
  EXPECT_EQ(told->stored, 48u);
  EXPECT_TRUE(told->check.same());
}

TEST_F(KurrentImport, TakesOneIdManyTimes) {
  const auto id = theirs.add("order-1", 0, "A").id();
  *theirs.add("order-1", 1, "B").mutable_id() = id;
  *theirs.add("order-2", 0, "C").mutable_id() = id;
  theirs.add("order-2", 1, "D").mutable_id()->set_string(EventId{}.text());
  ASSERT_TRUE(import()->check.same());
  *theirs.add("order-1", 2, "E").mutable_id() = id;
  *theirs.add("order-1", 3, "F").mutable_id() = id;
  const auto told = import();
  ASSERT_TRUE(told) << told.error().what;
  EXPECT_EQ(told->stored, 2u);
  EXPECT_TRUE(told->check.same()) << "they are shown with the id that they have there";
}

TEST_F(KurrentImport, GoesOnWhereItWasStopped) {
  std::map<std::string, std::uint64_t> next{{"order-3", 700}};
  for (int i = 0; i < 7'000; ++i) {
    const auto name = "order-" + std::to_string(i % 13);
    theirs.add(name, next[name]++, i % 3 == 0 ? "Placed" : "Paid");
    if (i % 50 == 0) theirs.add("$stats-x", static_cast<std::uint64_t>(i), "$statsCollected");
  }
  int stopped = 0;
  for (int most = 1; most < 40; ++most) {
    const auto told = import(false, most);
    if (told) break;
    ASSERT_EQ(told.error().code, ErrorCode::cancelled) << told.error().what;
    ++stopped;
  }
  EXPECT_GT(stopped, 3);
  const auto told = import();
  ASSERT_TRUE(told) << told.error().what;
  EXPECT_EQ(told->check.source_events, 7'000u);
  EXPECT_TRUE(told->check.same());
  EXPECT_EQ(told->left_out, 140u);
}

// The marks went with the events, and everything was stored a second time.
TEST_F(KurrentImport, GoesOnWhereWhatItStoredIsRemoved) {
  for (std::uint64_t i = 0; i < 6; ++i) theirs.add("order-1", i, "Placed");
  ASSERT_TRUE(import());
  const auto gone = ours.retention().remove_aggregate({"order", "1"}, {});
  ASSERT_TRUE(gone) << gone.error().what;
  EXPECT_THAT(stream({"order", "1"}), ElementsAre("$AggregateRemoved@6"));

  theirs.add("order-2", 0, "Placed");
  const auto told = import();
  ASSERT_TRUE(told) << told.error().what;
  EXPECT_EQ(told->stored, 1u);
  EXPECT_THAT(stream({"order", "1"}), ElementsAre("$AggregateRemoved@6"));
  EXPECT_THAT(stream({"order", "2"}), ElementsAre("Placed@0"));
  EXPECT_TRUE(told->check.same());
  EXPECT_EQ(told->check.removed_events, 6u);
}

/// Stores an append, and does not say so, once; what it stored is not seen for a while.
class LateToTell final : public evershard::testing::ForwardingStore {
 public:
  using ForwardingStore::ForwardingStore;
  using ForwardingStore::read;
  Result<Appended> append(Append append) override {
    const auto before = to_.head();
    auto appended = to_.append(std::move(append));
    if (!appended || ++appends_ != 2) return appended;
    seen_ = *before;
    return refuse(ErrorCode::timeout, "whether it was stored is unknown");
  }
  EventStream read(Query query, ReadOptions options = {}) override {
    if (seen_ != GlobalPosition{}) options.up_to = std::exchange(seen_, {});
    return to_.read(std::move(query), options);
  }

 private:
  int appends_ = 0;
  GlobalPosition seen_;
};

TEST_F(KurrentImport, GoesOnWhereAnOutcomeIsUnknown) {
  for (std::uint64_t i = 0; i < 2'000; ++i) theirs.add("order-1", i, "A");
  const auto source = open_source("kurrentdb://" + theirs.address + "?tls=false", {"", "", false});
  ASSERT_TRUE(source);
  LateToTell late(ours);
  StoreImport import(**source, late, {(*source)->name(), true});
  const auto stored = import.run(go_on);
  ASSERT_TRUE(stored) << stored.error().what;
  const auto check = import.compare(go_on, none_is_refused);
  ASSERT_TRUE(check) << check.error().what;
  EXPECT_TRUE(check->same());
  EXPECT_EQ(ours.head().value(), GlobalPosition(2'000)) << "nothing twice";
}

TEST_F(KurrentImport, StoresAllBeforeAnEventThatCannotBeStored) {
  theirs.add("order-1", 0, "A");
  theirs.add("order-1", 1, "");
  theirs.add("order-1", 2, "C");
  const auto told = import();
  ASSERT_FALSE(told);
  EXPECT_EQ(told.error().code, ErrorCode::invalid_argument);
  EXPECT_THAT(told.error().what, HasSubstr("1@order-1"));
  EXPECT_THAT(stream({"order", "1"}), ElementsAre("A@0"));
}

TEST_F(KurrentImport, LeavesOutWhatCannotBeStoredWhereItIsTold) {
  theirs.add("order-1", 0, "");
  theirs.add("order-1", 1, "B");
  theirs.add("order-1", 2, "").set_data("which is kept");
  theirs.add("order-2", 0, "");
  theirs.add("order-1", 3, "D");
  theirs.add("order-1", 4, "E").set_data(std::string(Limits::most().payload_bytes_max + 1, 'x'));
  theirs.add("order-2", 1, "");
  for (int again = 0; again < 2; ++again) {
    const auto told = import(false, -1, true);
    ASSERT_TRUE(told) << told.error().what;
    EXPECT_EQ(told->stored, again == 0 ? 2u : 0u);
    EXPECT_TRUE(told->check.same());
    EXPECT_EQ(told->check.source_events, 2u);
    EXPECT_EQ(told->check.refused_events, 5u);
    ASSERT_EQ(told->refused.size(), 5u);
    EXPECT_THAT(told->refused[1], HasSubstr("2@order-1"));
    EXPECT_THAT(told->refused[1], HasSubstr("d2hpY2ggaXMga2VwdA==")) << "its content, in base64";
    EXPECT_GT(told->refused[3].size(), Limits::most().payload_bytes_max);
    EXPECT_THAT(stream({"order", "1"}), ElementsAre("B@1", "D@3")) << "their numbers are held";
  }
  theirs.add("order-2", 2, "C");
  EXPECT_EQ(import(false, -1, true)->stored, 1u);
  EXPECT_THAT(stream({"order", "2"}), ElementsAre("C@2"));
}

TEST(RefusedFile, IsRefusedBeforeAnythingIsImportedWhereItCouldNotBeKept) {
  for (const auto* path : {"", "/", "/nowhere/left.jsonl"}) {
    const auto file = RefusedFile::create(path);
    ASSERT_FALSE(file) << path;
    EXPECT_EQ(file.error().code, ErrorCode::io) << path;
  }
}

TEST_F(KurrentImport, LeavesOutWholePages) {
  for (std::uint64_t i = 0; i < 6'000; ++i) theirs.add("order-1", i, i % 4'500 == 0 ? "A" : "");
  const auto told = import(false, -1, true);
  ASSERT_TRUE(told) << told.error().what;
  EXPECT_EQ(told->check.refused_events, 5'998u);
  EXPECT_TRUE(told->check.same());
  EXPECT_THAT(stream({"order", "1"}), ElementsAre("A@0", "A@4500"));
}

TEST_F(KurrentImport, OfTwoAtOnceOneIsRefused) {
  theirs.add("order-1", 0, "A");
  theirs.add("order-1", 1, "B");
  const auto source = open_source("kurrentdb://" + theirs.address + "?tls=false", {"", "", true});
  ASSERT_TRUE(source);
  StoreImport one(**source, ours, {(*source)->name(), false});
  bool first = true;
  const auto stored = one.run([&](std::uint64_t, std::uint64_t) {
    if (!std::exchange(first, false)) return true;
    EXPECT_TRUE(import(true));
    return true;
  });
  ASSERT_FALSE(stored);
  EXPECT_EQ(stored.error().code, ErrorCode::condition_failed) << stored.error().what;
  EXPECT_EQ(stream({"order", "1"}), (std::vector<std::string>{"A@0", "B@1"})) << "nothing twice";
}

TEST_F(KurrentImport, NoticesWhatIsNotTheSame) {
  theirs.add("order-1", 0, "A");
  theirs.add("order-1", 1, "B");
  const auto before = import();
  ASSERT_TRUE(before->check.same());
  theirs.events.front().mutable_data()->back() = ' ';
  const auto told = import();
  EXPECT_FALSE(told->check.same());
  EXPECT_NE(told->check.source_hash, before->check.source_hash) << "though they are as long";
  EXPECT_LT(told->check.stored_events, told->check.source_events);
}

TEST_F(KurrentImport, SaysWhoIsMissing) {
  theirs.add("order-1", 0, "A");
  theirs.denies = true;
  const auto told = import();
  ASSERT_FALSE(told);
  EXPECT_EQ(told.error().code, ErrorCode::permission_denied);
  EXPECT_THAT(told.error().what, HasSubstr("kurrentdb://USER:PASSWORD@HOST:PORT"));
  EXPECT_EQ(open_source("kurrentdb://u:p@h?x=1", {}).error().code, ErrorCode::invalid_argument);
  EXPECT_THAT(open_source("mysql://u:secret@h", {}).error().what, Not(HasSubstr("secret")));
}

}  // namespace
}  // namespace evershard::cli
