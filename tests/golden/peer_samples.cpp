#include "tests/golden/peer_samples.hpp"

#include <utility>

#include "evershard/cluster/peers/home_messages.hpp"
#include "evershard/cluster/peers/key_messages.hpp"
#include "evershard/sharding/stream_hash.hpp"

namespace evershard::cluster {
namespace {

constexpr std::uint64_t most = ~0ull;
constexpr std::uint32_t sample_shards = 4;
const sharding::TermHasher sample_hasher{0x5eed};
constexpr NodeProcess sample_process{3, 0x0123456789abcdef};

AggregateId aggregate(const char* value) { return {"order", value}; }

EventId id_of(std::uint8_t first) {
  EventId id;
  for (std::size_t i = 0; i != id.bytes.size(); ++i) id.bytes[i] = static_cast<std::uint8_t>(first + i);
  return id;
}

Error full_error() {
  ErrorDetails details;
  details.aggregate = aggregate("7");
  details.expected = ExpectedVersion::exactly(3);
  details.actual = SeqNr{4};
  details.condition = 1;
  details.position = GlobalPosition{41};
  details.shard = ShardId{2};
  details.offset = ShardOffset{9};
  return {ErrorCode::version_conflict, "größer", std::move(details)};
}

sharding::Cut sample_cut() {
  return {CutNumber{7},
          Epoch{2},
          GlobalPosition{41},
          {{ShardId{2}, Epoch{1}, ShardOffset{10}, ShardOffset{13}, {}},
           {ShardId{0}, Epoch{4}, ShardOffset{5}, ShardOffset{8}, {ShardOffset{6}}}},
          {{ShardId{0}, Epoch{4}, 3, ShardOffset{5}, ShardOffset{3}, ShardOffset{5}}}};
}

Query sample_query() { return Query().types({"Placed", "Paid"}).tags({"customer:7"}).concerning({aggregate("1")}); }

Snapshot sample_snapshot() {
  Snapshot snapshot;
  snapshot.aggregate = aggregate("1");
  snapshot.version = SeqNr{5};
  snapshot.payload = "{}";
  snapshot.format = PayloadFormat::json;
  snapshot.schema_revision = 2;
  snapshot.keep = 3;
  snapshot.ttl = std::chrono::seconds(60);
  return snapshot;
}

Event sample_event() {
  Event event;
  event.id = id_of(1);
  event.aggregate = aggregate("1");
  event.type = "Placed";
  event.tags = {"customer:7", "größe:9"};
  event.also = {aggregate("2")};
  event.payload = std::string("\0\xff", 2);
  event.format = PayloadFormat::protobuf;
  event.metadata = "m";
  event.occurred_at = Timestamp{1'769'860'800'123'456};
  return event;
}

RecordedEvent sample_recorded() {
  RecordedEvent event;
  event.position = GlobalPosition{41};
  event.shard = ShardId{2};
  event.offset = ShardOffset{9};
  event.id = id_of(1);
  event.aggregate = aggregate("1");
  event.seq_nr = SeqNr{5};
  event.type = "Placed";
  event.tags = {"customer:7"};
  event.also = {aggregate("2")};
  event.payload = "{}";
  event.format = PayloadFormat::json;
  event.metadata = "m";
  event.occurred_at = Timestamp{1'769'860'800'123'456};
  event.append_index = 1;
  event.append_events = 3;
  return event;
}

Append sample_append() {
  Append append;
  append.request_id = id_of(64);
  append.event(sample_event());
  append.expect("order-1", ExpectedVersion::exactly(4));
  append.fail_if(sample_query(), GlobalPosition{17});
  append.snapshot(sample_snapshot());
  append.command = CommandRecord{aggregate("1"), "command", "reply"};
  return append;
}

/// An aggregate's value, of the shard.
std::string value_on(ShardId shard) {
  for (int n = 0;; ++n) {
    auto value = std::to_string(n);
    if (sharding::shard_of(sharding::stream_hash(aggregate(value.c_str()).text()), sample_shards) == shard)
      return value;
  }
}

storage::EncodedAggregate encoded(const AggregateId& id) {
  storage::EncodedAggregate aggregate;
  aggregate.id = id;
  aggregate.text = id.text();
  aggregate.stream = sample_hasher.aggregate(aggregate.text);
  aggregate.shard = sharding::shard_of(sharding::stream_hash(aggregate.text), sample_shards);
  return aggregate;
}

/// Two events of shard 2, the first of an aggregate, and carrying a command; one elsewhere, which the part leaves out.
PartMessage sample_part() {
  PartMessage message{std::make_shared<actors::Attempt>(), {}};
  auto& prepared = message.of->prepared;
  auto& append = prepared.append;
  append.request = id_of(64);
  append.content_hash = 0xfeed;
  append.aggregates = {encoded(aggregate(value_on(ShardId{3}).c_str())),
                       encoded(aggregate(value_on(ShardId{2}).c_str()))};
  append.terms = {11, 12, 13, 21, 31};
  append.bodies = "firstotherlast";
  append.events = {{id_of(1), true, ShardId{2}, 1, 0, 3, 0, 5, 0xa1},
                   {id_of(2), false, ShardId{3}, 0, 3, 4, 5, 10, 0xa2},
                   {id_of(3), false, ShardId{2}, storage::EncodedEvent::no_aggregate, 4, 5, 10, 14, 0xa3}};
  append.snapshots = {{1, sample_snapshot()}};
  append.command = id_of(96);
  append.command_event = 0;
  append.appended_at = Timestamp{1'769'860'800'123'456};
  prepared.guards = {encoded(aggregate("guard"))};
  prepared.expected = {{1, ExpectedVersion::exactly(4)}, {2, ExpectedVersion::exists()}};
  prepared.command = CommandRecord{append.aggregates[1].id, "command", ""};
  prepared.named = true;
  prepared.bytes = 1'234;
  prepared.chain = {77, true};
  message.part = {ShardId{2}, {id_of(200), {{ShardId{2}, 1}, {ShardId{3}, 1}, {ShardId{2}, 1}}}, 12, 2};
  return message;
}

sharding::CutsFound sample_found() {
  sharding::CutLogState state(2);
  state.epoch = Epoch{2};
  state.last_cut = CutNumber{6};
  state.watermark = GlobalPosition{40};
  state.shards[0] = {Epoch{4}, 3, ShardOffset{5}, GlobalPosition{39}, Epoch{3}, ShardOffset{2}};
  return {{sample_cut(), sample_cut()}, state, true};
}

sharding::ShardMap sample_map() {
  sharding::ShardMap map(2);
  (void)map.assign(ShardId{1}, {3, "host:7431", Epoch{4}});
  return map;
}

actors::WriterReport sample_report() {
  sharding::ReportedAppend plain{2, false, {}, {{1, 2, most}, {3}}, {}};
  sharding::ReportedAppend conditional{
      1, true, {{{false, {{{1}, {2, most}}, {{}, {3}}}}, GlobalPosition{17}}, {{true, {}}, GlobalPosition{0}}}, {}, {}};
  sharding::ReportedAppend part{1, true, {}, {{5}}, sharding::PartOf{id_of(200), {{ShardId{2}, 1}, {ShardId{0}, 3}}}};
  return {{ShardId{2}, Epoch{4}, ShardOffset{10}, {plain, conditional, part}}, 0};
}

template <class Decoded>
Result<std::string> written(Result<Decoded> decoded, const auto& write) {
  if (!decoded) return refuse(std::move(decoded).error());
  return write(*decoded);
}

void add(std::vector<PeerSample>& samples, std::string name, const ToCoordinator& message) {
  auto made = encode(message);
  samples.push_back({std::move(name), std::move(made.bytes), made.kind, [kind = made.kind](std::string_view bytes) {
                       return written(decode_to_coordinator(kind, bytes),
                                      [](const ToCoordinator& value) { return encode(value).bytes; });
                     }});
}

void add_down(std::vector<PeerSample>& samples, std::string name, const auto& message) {
  auto made = encode(message);
  samples.push_back({std::move(name), std::move(made.bytes), made.kind, [kind = made.kind](std::string_view bytes) {
                       return written(decode_from_coordinator(kind, bytes), [](const FromCoordinator& value) {
                         return std::visit([](const auto& one) { return encode(one).bytes; }, value);
                       });
                     }});
}

void add_with_coordinator(std::vector<PeerSample>& samples) {
  add(samples, "Hello",
      Hello{sample_process,
            9,
            "host:7431",
            CutNumber{6},
            {{ShardId{0}, Epoch{4}, true, ShardOffset{5}, ShardOffset{8}},
             {ShardId{65'535}, Epoch{most}, false, ShardOffset{most}, ShardOffset{most}}}});
  add(samples, "Hello-empty", Hello{{1, 1}, 1, "", CutNumber{0}, {}});
  add(samples, "Hello-door", Hello{sample_process, 9, "host:7431", CutNumber{6}, {}, "host:7420", "1.2.3"});
  add(samples, "Hello-gateway", Hello{sample_process, 9, "host:7431", CutNumber{6}, {}, "host:7420", "1.2.3", true});
  auto kurrent = Hello{sample_process, 9, "host:7431", CutNumber{6}, {}, "host:7420", "1.2.3"};
  kurrent.kurrent_door = "host:2113";
  add(samples, "Hello-kurrent", kurrent);
  auto damaged = Hello{sample_process, 9, "host:7431", CutNumber{6}, {}};
  damaged.shards.push_back({ShardId{1}, Epoch{4}, false, ShardOffset{5}, ShardOffset{5}, true});
  add(samples, "Hello-damaged", damaged);
  auto led = Hello{sample_process, 9, "host:7431", CutNumber{6}, {}};
  led.led = {Epoch{2}, id_of(48)};
  add(samples, "Hello-led", led);
  led.led = {};
  led.zone = "rack-7";
  add(samples, "Hello-zone", led);
  add(samples, "Held-learned", Held{sample_process, CutNumber{6}, CutNumber{7}, 4711});
  add(samples, "Held-full", Held{sample_process, CutNumber{6}, CutNumber{7}, 0, true});
  led.zone = {};
  led.clock = Timestamp{1'700'000'000'000'001};
  add(samples, "Hello-clock", led);
  led.builds = true;
  add(samples, "Hello-builds", led);
  auto builds = sample_report();
  builds.report.appends = {{1, true, {}, {{5}}, {}, {ShardOffset{0}, ShardOffset{7}}}};
  add(samples, "Report-builds", builds);
  add(samples, "Held-clock", Held{sample_process, CutNumber{6}, CutNumber{7}, 0, false, Timestamp{-5}});
  add(samples, "Narrowed", Narrowed{sample_process, Epoch{2}, ShardId{1}, Epoch{4}, 3});
  add(samples, "Narrowed-number", Narrowed{sample_process, Epoch{2}, ShardId{1}, Epoch{4}, 3, most});
  add(samples, "CutsAfter", CutsAfter{sample_process, CutNumber{6}});
  add(samples, "Held", Held{sample_process, CutNumber{6}});
  add(samples, "Held-applied", Held{sample_process, CutNumber{6}, CutNumber{7}});
  add(samples, "Report", sample_report());
  add(samples, "Report-asks", actors::WriterReport{{ShardId{2}, Epoch{4}, ShardOffset{10}, {}}, most});
  add(samples, "Report-naming", actors::WriterReport{{ShardId{2}, Epoch{4}, ShardOffset{10}, {}}, 0, most});
  add_down(samples, "Welcome",
           ToNode(Welcome{sample_process,
                          9,
                          Epoch{2},
                          CutNumber{6},
                          GlobalPosition{40},
                          sample_map(),
                          {GlobalPosition{39}, GlobalPosition{0}},
                          {{ShardId{1}, full_error()}},
                          GlobalPosition{12},
                          true}));
  Welcome welcome{sample_process,
                  9,
                  Epoch{2},
                  CutNumber{6},
                  GlobalPosition{40},
                  sample_map(),
                  {GlobalPosition{39}, GlobalPosition{0}},
                  {},
                  GlobalPosition{12},
                  true};
  welcome.leaderships = {{Epoch{1}, id_of(16)}, {Epoch{2}, id_of(48)}};
  add_down(samples, "Welcome-led", ToNode(welcome));
  welcome.replicas = {{2, {1, 2, 3}}, {}};
  add_down(samples, "Welcome-replicas", ToNode(welcome));
  welcome.replicas = {{2, {1, 2, 3}, {3, 7}}, {}};
  add_down(samples, "Welcome-learned", ToNode(welcome));
  welcome.builds = true;
  add_down(samples, "Welcome-builds", ToNode(welcome));
  add_down(samples, "Announce-builds", ToNode(Announce{sample_cut(), GlobalPosition{12}, true, id_of(48), true}));
  add_down(samples, "Narrow", ToNode(Narrow{sample_process, Epoch{2}, ShardId{1}, Epoch{4}, 3}));
  add_down(samples, "Narrow-number", ToNode(Narrow{sample_process, Epoch{2}, ShardId{1}, Epoch{4}, 3, most}));
  auto found = sample_found();
  found.folded->shards[0].replicas = {2, {1, 2, 3}};
  found.cuts[0].replicas = {{ShardId{0}, {2, {1, 2, 3}}}};
  add_down(samples, "Cuts-replicas",
           ToNode(Cuts{sample_process, CutNumber{5}, found, GlobalPosition{12}, true, id_of(48)}));
  found.folded->shards[0].replicas.learned = {3, 7};
  found.cuts[0].replicas[0].set.learned = {3, 7};
  add_down(samples, "Cuts-learned",
           ToNode(Cuts{sample_process, CutNumber{5}, found, GlobalPosition{12}, true, id_of(48)}));
  add_down(samples, "TellAgain", ToNode(TellAgain{sample_process}));
  add_down(samples, "Opens-led", ToNode(Opens{sample_process, Epoch{2}, ShardId{1}, Epoch{4}, id_of(48)}));
  add_down(samples, "Announce-led", ToNode(Announce{sample_cut(), GlobalPosition{12}, true, id_of(48)}));
  add_down(samples, "Cuts-led",
           ToNode(Cuts{sample_process, CutNumber{5}, sample_found(), GlobalPosition{12}, true, id_of(48)}));
  add_down(samples, "CutPromised-led", CutPromised{ShardId{2}, Epoch{4}, 5, CutNumber{8}, {Epoch{2}, id_of(48)}});
  add_down(samples, "HelloRefused", ToNode(HelloRefused{sample_process, 9, full_error()}));
  add_down(samples, "Opens", ToNode(Opens{sample_process, Epoch{2}, ShardId{1}, Epoch{4}}));
  add_down(samples, "Announce", ToNode(Announce{sample_cut(), GlobalPosition{12}, true}));
  add_down(samples, "Cuts", ToNode(Cuts{sample_process, CutNumber{5}, sample_found(), GlobalPosition{12}, true}));
  add_down(samples, "Cuts-none", ToNode(Cuts{sample_process, CutNumber{5}, {}, GlobalPosition{0}, false}));
  add_down(samples, "ReportFrom", ToNode(ReportFrom{ShardId{2}, Epoch{4}, ShardOffset{10}}));
  add_down(samples, "CutPromised", CutPromised{ShardId{2}, Epoch{4}, 5, CutNumber{8}, {Epoch{2}, {}}});
  add_down(samples, "Members-processes", Members{{}, {}, {sample_process, {4, most}}, most});
  add_down(samples, "Members", Members{{}, {{3, "host:7431", "", true, {}, ""}, {1, "", "", true, {}, ""}}});
  add_down(samples, "Members-doors",
           Members{Epoch{2},
                   {{1, "host:7431", "host:7420", true, Timestamp{1'700'000'000'000'000}, "1.2.3"},
                    {2, "", "", false, Timestamp{-1}, ""}}});
  add_down(
      samples, "Members-kurrent",
      Members{Epoch{2},
              {{1, "host:7431", "host:7420", true, Timestamp{1'700'000'000'000'000}, "1.2.3", false, "host:2113"}}});
  add_down(samples, "Members-gateway",
           Members{Epoch{2}, {{1, "host:7431", "host:7420", true, Timestamp{1'700'000'000'000'000}, "1.2.3", true}}});
}

void add_between_nodes(std::vector<PeerSample>& samples) {
  const auto add_one = [&](std::string name, std::optional<PeerKind> kind, std::string bytes,
                           std::function<Result<std::string>(std::string_view)> again) {
    samples.push_back({std::move(name), std::move(bytes), kind, std::move(again)});
  };
  const auto encoded_again = [](const auto& value) { return encode(value); };
  add_one("NodeRead", PeerKind::read,
          encode(NodePageAsked{{ShardId{0}, ShardId{65'535}},
                               sample_query(),
                               GlobalPosition{17},
                               GlobalPosition{41},
                               Direction::backwards,
                               500}),
          [=](std::string_view b) { return written(decode_read(b), encoded_again); });
  storage::ShippedRows rows{ShardId{2},
                            ShardOffset{10},
                            ShardOffset{13},
                            ShardOffset{11},
                            {{ShardOffset{10}, "record"}, {ShardOffset{12}, std::string("\0\xff", 2)}},
                            {{ShardOffset{12}, "waits"}}};
  add_one("Ship", PeerKind::ship, encode(Ship{{{Epoch{4}, rows}}}),
          [=](std::string_view b) { return written(decode_ship(b), encoded_again); });
  add_one("Followed-process", PeerKind::followed, encode(FollowerTold{{}, false, most}),
          [=](std::string_view b) { return written(decode_followed(b), encoded_again); });
  add_one("Followed", PeerKind::followed, encode(FollowerTold{{{ShardId{2}, Epoch{4}, ShardOffset{13}, {}}}, true}),
          [=](std::string_view b) { return written(decode_followed(b), encoded_again); });
  add_one("Followed-unsure", PeerKind::followed,
          encode(FollowerTold{{{ShardId{2}, Epoch{4}, ShardOffset{13}, {}, false}}, false}),
          [=](std::string_view b) { return written(decode_followed(b), encoded_again); });
  add_one("Followed-rows", PeerKind::followed,
          encode(FollowerTold{{{ShardId{2}, Epoch{4}, ShardOffset{13}, {{Epoch{2}, 5}, {Epoch{3}, 7}}}}, false}),
          [=](std::string_view b) { return written(decode_followed(b), encoded_again); });
  add_one("Followed-bases", PeerKind::followed,
          encode(FollowerTold{{{ShardId{2}, Epoch{4}, ShardOffset{13}, {}, true, {{5, 6}}}}, false}),
          [=](std::string_view b) { return written(decode_followed(b), encoded_again); });
  add_one("RowLogPart-difference", PeerKind::ship_row_log,
          encode(RowLogPart{
              ShardId{2}, Epoch{4}, {Epoch{3}, 7}, {"row"}, {{{"$group", "1"}, "", "base", "difference"}}, false}),
          [=](std::string_view b) { return written(decode_row_log_part(b), encoded_again); });
  add_one("RowLogPart-whole", PeerKind::ship_row_log, encode(RowLogPart{ShardId{2}, Epoch{4}, {}, {}, {}, false, true}),
          [=](std::string_view b) { return written(decode_row_log_part(b), encoded_again); });
  add_one(
      "RowLogPart", PeerKind::ship_row_log,
      encode(RowLogPart{ShardId{2}, Epoch{4}, {Epoch{3}, 7}, {"row", "next row"}, {{{"order", "1"}, "state"}}, true}),
      [=](std::string_view b) { return written(decode_row_log_part(b), encoded_again); });
  add_one("JournalAsked", PeerKind::journal, encode(JournalAsked{ShardId{2}, ShardOffset{7}}),
          [=](std::string_view b) { return written(decode_journal_asked(b), encoded_again); });
  add_one("Ship-asked", {}, encode_journal(rows), [](std::string_view b) {
    return written(decode_journal(b), [](const auto& of) { return encode_journal(of); });
  });
  add_one("JournalSumAsked", PeerKind::journal_sum,
          encode(JournalSumAsked{ShardId{2}, ShardOffset{7}, ShardOffset{99}}),
          [=](std::string_view b) { return written(decode_journal_sum_asked(b), encoded_again); });
  add_one("JournalSum", {}, encode(storage::JournalSum{ShardOffset{99}, 4711, {{Epoch{3}, 7}}, {}}),
          [=](std::string_view b) { return written(decode_journal_sum(b), encoded_again); });
  add_one("JournalSumAsked-snapshots", PeerKind::journal_sum,
          encode(JournalSumAsked{ShardId{2}, ShardOffset{1}, ShardOffset{1}, true}),
          [=](std::string_view b) { return written(decode_journal_sum_asked(b), encoded_again); });
  add_one("JournalSum-snapshots", {}, encode(storage::JournalSum{ShardOffset{1}, 0, {{Epoch{3}, 7}}, 4712}),
          [=](std::string_view b) { return written(decode_journal_sum(b), encoded_again); });
  add_one("RowLogAsked", PeerKind::row_log, encode(RowLogAsked{ShardId{2}, {Epoch{3}, 7}}),
          [=](std::string_view b) { return written(decode_row_log_asked(b), encoded_again); });
  add_one("ShipSnapshot", PeerKind::ship_snapshot, encode({sample_snapshot(), GlobalPosition{41}}, Epoch{4}),
          [](std::string_view b) {
            return written(decode_shipped_snapshot(b), [](const auto& of) { return encode(of.first, of.second); });
          });
  add_one("NodeHistoryAsked", PeerKind::history, encode_history_asked(GlobalPosition{17}), [](std::string_view b) {
    return written(decode_history_asked(b), [](GlobalPosition after) { return encode_history_asked(after); });
  });
  add_one("NodeHistory", {},
          encode(NodeHistory{
              {sample_cut()}, CutNumber{7}, GlobalPosition{45}, {{ShardId{2}, ShardOffset{13}, Epoch{1}, 3}}}),
          [=](std::string_view b) { return written(decode_history(b), encoded_again); });
  NodeHistory whole{{}, CutNumber{7}, GlobalPosition{45}, {}};
  whole.shards = {ShardId{0}, ShardId{2}};
  add_one("NodeHistory-shards", {}, encode(whole),
          [=](std::string_view b) { return written(decode_history(b), encoded_again); });
  NodePageAsked page_given_up{{ShardId{0}},       sample_query(),      GlobalPosition{17},
                              GlobalPosition{41}, Direction::forwards, 500};
  page_given_up.read = 258;
  add_one("NodeRead-given_up", PeerKind::read, encode(page_given_up),
          [=](std::string_view b) { return written(decode_read(b), encoded_again); });
  NodePageAsked of_names{{ShardId{0}}, sample_query(), GlobalPosition{17}, GlobalPosition{41}, Direction::forwards, 1};
  of_names.names = {id_of(16), id_of(48)};
  add_one("NodeRead-names", PeerKind::read, encode(of_names),
          [=](std::string_view b) { return written(decode_read(b), encoded_again); });
  add_one("NodeGivenUp", PeerKind::given_up, encode_given_up(258), [](std::string_view b) {
    return written(decode_given_up(b), [](std::uint64_t read) { return encode_given_up(read); });
  });
  add_one("AskedUnder", {}, encode_asked_under({{Epoch{1}, id_of(16)}, {Epoch{2}, id_of(48)}}), [](std::string_view b) {
    return written(decode_asked_under(b), [](const auto& led) { return encode_asked_under(led); });
  });
  add_one("NodeReadStream", PeerKind::read_stream,
          encode(NodeStreamAsked{
              aggregate("1"), {SeqNr{2}, 10, Direction::backwards, GlobalPosition{40}}, GlobalPosition{41}, 500}),
          [=](std::string_view b) { return written(decode_read_stream(b), encoded_again); });
  add_one("NodeHead", PeerKind::head, encode(NodeHeadAsked{aggregate("1"), GlobalPosition{41}}),
          [=](std::string_view b) { return written(decode_head_asked(b), encoded_again); });
  add_one("NodeHead-shown", PeerKind::head, encode(NodeHeadAsked{aggregate("1"), GlobalPosition{41}, true}),
          [=](std::string_view b) { return written(decode_head_asked(b), encoded_again); });
  add_one("NodeHeadAnswer", {}, encode_head({aggregate("1"), SeqNr{5}, GlobalPosition{41}, ShardId{2}}),
          [](std::string_view b) {
            return written(decode_head(b, aggregate("1"), ShardId{2}),
                           [](const AggregateInfo& head) { return encode_head(head); });
          });
  add_one("NodePage", {}, encode(NodePage{{sample_recorded(), sample_recorded()}, GlobalPosition{41}, true}),
          [=](std::string_view b) { return written(decode_page(b), encoded_again); });
  add_one("NodeSnapshotsAsked", PeerKind::snapshots,
          encode(NodeSnapshotsAsked{aggregate("1"), NodeSnapshotsAsked::Which::as_of, 40, GlobalPosition{41}}),
          [=](std::string_view b) { return written(decode_snapshots_asked(b), encoded_again); });
  add_one(
      "NodeSnapshots", {},
      encode(std::vector<RecordedSnapshot>{{aggregate("1"), SeqNr{5}, GlobalPosition{41}, "{}", PayloadFormat::json, 2,
                                            Timestamp{1'769'860'800'123'456}, Timestamp{1'769'860'860'123'456}, true}}),
      [=](std::string_view b) { return written(decode_snapshots(b), encoded_again); });
  add_one("NodePutSnapshot", PeerKind::put_snapshot, encode(sample_snapshot(), GlobalPosition{41}),
          [](std::string_view b) {
            return written(decode_put_snapshot(b), [](const auto& put) { return encode(put.first, put.second); });
          });
  add_one("NodeAggregatesAsked", PeerKind::aggregates,
          encode(NodeAggregatesAsked{{ShardId{0}, ShardId{2}}, "order", aggregate("1"), 100, GlobalPosition{41}}),
          [=](std::string_view b) { return written(decode_aggregates_asked(b), encoded_again); });
  add_one("NodeAggregatesAsked-all", PeerKind::aggregates,
          encode(NodeAggregatesAsked{{ShardId{0}}, {}, {}, 100, GlobalPosition{41}}),
          [=](std::string_view b) { return written(decode_aggregates_asked(b), encoded_again); });
  NodeAggregatesAsked aggregates_given_up{{ShardId{0}}, {}, {}, 100, GlobalPosition{41}};
  aggregates_given_up.read = 258;
  add_one("NodeAggregatesAsked-given_up", PeerKind::aggregates, encode(aggregates_given_up),
          [=](std::string_view b) { return written(decode_aggregates_asked(b), encoded_again); });
  add_one("NodeAggregates", {},
          encode(std::vector<AggregateInfo>{{aggregate("1"), SeqNr{5}, GlobalPosition{41}, ShardId{2}}}),
          [=](std::string_view b) { return written(decode_aggregates(b), encoded_again); });
  auto durable = sample_append();
  durable.ack = Ack::durable;
  add_one("ForwardAppend", PeerKind::forward, encode_forward(durable), [](std::string_view b) {
    return written(decode_forward(b), [](const Append& append) { return encode_forward(append); });
  });
  add_one("AppendResponse", {},
          encode(Appended{GlobalPosition{41}, GlobalPosition{42}, {{aggregate("1"), SeqNr{5}}}, true}),
          [=](std::string_view b) { return written(decode_appended(b), encoded_again); });
  const auto part = sample_part();
  add_one("Part", PeerKind::part, encode_part(*part.of, part.part), [](std::string_view b) {
    return written(decode_part(b, sample_shards, sample_hasher),
                   [](const PartMessage& message) { return encode_part(*message.of, message.part); });
  });
  auto gone = sample_part();
  gone.of->prepared.append.events.front().state = EventState::removed;
  add_one("Part-gone", PeerKind::part, encode_part(*gone.of, gone.part), [](std::string_view b) {
    return written(decode_part(b, sample_shards, sample_hasher),
                   [](const PartMessage& message) { return encode_part(*message.of, message.part); });
  });
  using Kind = actors::PartAnswer::Kind;
  for (const auto& [name, kind] : {std::pair{"PartAnswer-written", Kind::written},
                                   {"PartAnswer-busy", Kind::busy},
                                   {"PartAnswer-known", Kind::known},
                                   {"PartAnswer-refused", Kind::refused},
                                   {"PartAnswer-lost", Kind::lost}}) {
    actors::PartAnswer answer{12, 2, ShardId{2}, kind, {}, {}, {}, {}};
    if (kind == Kind::written) answer.first = ShardOffset{10}, answer.versions = {{aggregate("1"), SeqNr{5}}};
    if (kind == Kind::refused || kind == Kind::lost) answer.error = full_error(), answer.rests_on = GlobalPosition{40};
    add_one(name, {}, encode(answer),
            [=](std::string_view b) { return written(decode_part_answer(b), encoded_again); });
  }
}

void add_to_homes(std::vector<PeerSample>& samples) {
  const auto again = [](const auto& value) { return encode(value); };
  samples.push_back(
      {"HomeAsked",
       encode(HomeAsked{
           "projections.read_index", {"$projection", "1"}, std::string("\0\xff", 2), std::chrono::milliseconds(258)}),
       PeerKind::home, [=](std::string_view b) { return written(decode_home_asked(b), again); }});
  samples.push_back({"HomeAsked-given_up",
                     encode(HomeAsked{"tables.select", {"$projection", "1"}, "x", std::chrono::milliseconds(258), 259}),
                     PeerKind::home, [=](std::string_view b) { return written(decode_home_asked(b), again); }});
  using Kind = HomeAnswered::Kind;
  for (const auto& [name, answered] :
       {std::pair{"HomeAnswered", HomeAnswered{Kind::answered, std::string("\0\xff", 2)}},
        {"HomeAnswered-failed", {Kind::failed, {}, full_error()}},
        {"HomeAnswered-elsewhere", {Kind::not_here, {}, full_error()}}})
    samples.push_back(
        {name, encode(answered), {}, [=](std::string_view b) { return written(decode_home_answered(b), again); }});
}

KeyId key_id(std::uint8_t first) {
  KeyId id;
  for (std::size_t i = 0; i != id.bytes.size(); ++i) id.bytes[i] = static_cast<std::uint8_t>(first + i);
  return id;
}

void add_of_keys(std::vector<PeerSample>& samples) {
  const auto again = [](const auto& value) { return encode(value); };
  using What = KeysAsked::What;
  for (const auto& [name, asked] : {std::pair{"KeysAsked", KeysAsked{What::key_for, most, {"größe"}, {}}},
                                    {"KeysAsked-further", {What::key_for, 7, {"ada", "bob", "carol"}, {}}},
                                    {"KeysAsked-find", {What::find, 7, {}, {key_id(1), key_id(200)}}},
                                    {"KeysAsked-current", {What::current, 7, {"ada"}, {}}},
                                    {"KeysAsked-destroy", {What::destroy, 7, {}, {key_id(1)}}},
                                    {"KeysAsked-erasures", {What::erasures, 7, {}, {}}}})
    samples.push_back({name, encode(asked), PeerKind::keys,
                       [=](std::string_view b) { return written(decode_keys_asked(b), again); }});
  std::array<std::uint8_t, PayloadKey::secret_bytes> secret{};
  for (std::size_t i = 0; i != secret.size(); ++i) secret[i] = static_cast<std::uint8_t>(3 * i);
  const KeysAnswered told{
      false,
      {{key_id(1), secret, false, {}}, {key_id(2), {}, true, {}}, {key_id(3), {}, false, full_error()}},
      {most, 41},
      std::chrono::milliseconds(5'000)};
  for (const auto& [name, answered] :
       {std::pair{"KeysAnswered", told}, {"KeysAnswered-none", KeysAnswered{true, {}, {}, {}}}})
    samples.push_back(
        {name, encode(answered), {}, [=](std::string_view b) { return written(decode_keys_answered(b), again); }});
  samples.push_back({"KeysForget", encode(KeysForget{{key_id(1), key_id(2)}, {most, 42}}), PeerKind::keys_forget,
                     [=](std::string_view b) { return written(decode_keys_forget(b), again); }});
  samples.push_back({"KeysForgotten", encode(KeysForgotten{most}), {}, [=](std::string_view b) {
                       return written(decode_keys_forgotten(b), again);
                     }});
}

}  // namespace

std::vector<PeerSample> peer_samples() {
  std::vector<PeerSample> samples;
  add_with_coordinator(samples);
  add_between_nodes(samples);
  add_to_homes(samples);
  add_of_keys(samples);
  return samples;
}

}  // namespace evershard::cluster
