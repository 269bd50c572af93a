#include "evershard/cluster/etcd/etcd_keys.hpp"

#include <algorithm>
#include <utility>

#include "evershard/cluster/etcd/etcd_client.hpp"
#include "evershard/protocol/in_quotes.hpp"
#include "evershard/storage/order/cut_log_rows.hpp"

namespace evershard::cluster {
namespace {

namespace pb = etcdserverpb;
namespace log_rows = storage::cut_log_rows;

constexpr std::size_t ids_of_a_look = 60;  ///< two rows each: etcd takes 128 requests in one transaction
constexpr std::int64_t erasures_of_a_page = 1'000;
constexpr auto away_for = std::chrono::seconds(1);
constexpr int opens_max = 3;  ///< looks, where another coordinator begins with keys at the same time

Refused keys_are_corrupt(const std::string& what) { return refuse(ErrorCode::corruption, what); }

void compare_absent(pb::TxnRequest& txn, const std::string& name) {
  auto& compare = *txn.add_compare();
  compare.set_target(pb::Compare::CREATE);
  compare.set_key(name);
  compare.set_create_revision(0);
}

void put(pb::TxnRequest& txn, const std::string& name, std::string value) {
  auto& request = *txn.add_success()->mutable_request_put();
  request.set_key(name);
  request.set_value(std::move(value));
}

void look_at(pb::RequestOp& op, const std::string& name) { op.mutable_request_range()->set_key(name); }

/// The row that was looked for as this one of a transaction. Null: it is not there.
const std::string* row_at(const pb::TxnResponse& response, int index) {
  if (index >= response.responses_size()) return nullptr;
  const auto& range = response.responses(index).response_range();
  return range.kvs().empty() ? nullptr : &range.kvs(0).value();
}

/// All names that begin with this one, which ends with `/`.
void set_all(pb::RangeRequest& request, std::string begin) {
  request.set_key(begin);
  ++begin.back();
  request.set_range_end(begin);
}

}  // namespace

EtcdKeys::EtcdKeys(EtcdOptions etcd, KeyRows rows) : etcd_(std::move(etcd)), rows_(std::move(rows)) {}
EtcdKeys::~EtcdKeys() = default;

Result<std::unique_ptr<EtcdKeys>> EtcdKeys::open(const EtcdOptions& etcd, const MasterKey& master) {
  if (etcd.members.empty()) return refuse(ErrorCode::invalid_argument, "an etcd without members");
  std::unique_ptr<EtcdKeys> keys(new EtcdKeys(etcd, KeyRows(etcd.prefix, master)));
  EVERSHARD_TRY(keys->begin());
  return keys;
}

std::string EtcdKeys::where() const {
  std::string list;
  for (const auto& member : etcd_.members) list += (list.empty() ? "" : ", ") + member;
  return "etcd (" + list + ") under " + in_quotes(rows_.all(), 300);
}

Result<std::unique_ptr<EtcdClient>> EtcdKeys::take_client() {
  {
    const std::lock_guard lock(mutex_);
    if (away_ && Clock::now() < away_until_) return refuse(*away_);
    if (!idle_.empty()) {
      auto client = std::move(idle_.back());
      idle_.pop_back();
      return client;
    }
  }
  return EtcdClient::open(etcd_);
}

template <class Call>
auto EtcdKeys::ask(Call call) -> decltype(call(std::declval<EtcdClient&>())) {
  auto client = take_client();
  if (!client) return refuse(std::move(client).error());
  auto answer = call(**client);
  const std::lock_guard lock(mutex_);
  idle_.push_back(*std::move(client));
  if (answer) {
    away_.reset();
  } else if (answer.error().code == ErrorCode::unavailable) {
    away_ = answer.error();
    away_until_ = Clock::now() + away_for;
  }
  return answer;
}

// ---- opening

Result<void> EtcdKeys::begin() {
  for (int tries = 0; tries < opens_max; ++tries) {
    auto secret = naming_secret();
    if (secret) {
      names_.emplace(*std::move(secret));
      return {};
    }
    if (secret.error().code != ErrorCode::not_found) return refuse(std::move(secret).error());
    EVERSHARD_TRY(create());
  }
  return refuse(ErrorCode::unavailable, "keys come and go in " + where());
}

/// Errors: not_found: there are no rows at all
Result<std::string> EtcdKeys::naming_secret() {
  pb::TxnRequest txn;
  look_at(*txn.add_success(), rows_.check());
  look_at(*txn.add_success(), rows_.names());
  auto& any = *txn.add_success()->mutable_request_range();
  set_all(any, rows_.all());
  any.set_limit(1);
  const auto answer = ask([&](EtcdClient& etcd) { return etcd.txn(txn); });
  if (!answer) return refuse(answer.error());
  const auto* check = row_at(answer->response, 0);
  const auto* names = row_at(answer->response, 1);
  if (check == nullptr && row_at(answer->response, 2) == nullptr)
    return refuse(ErrorCode::not_found, "there are no keys in " + where());
  if (check == nullptr)
    return keys_are_corrupt("there are keys in " + where() + ", and the row that checks the master key is missing");
  EVERSHARD_TRY(rows_.check_master(*check));
  if (names == nullptr)
    return keys_are_corrupt("there are keys in " + where() + ", and the row that names them is missing");
  return rows_.secret_of(rows_.names(), *names);
}

/// Or another coordinator does.
Result<void> EtcdKeys::create() {
  auto secret = new_secret();
  pb::TxnRequest txn;
  compare_absent(txn, rows_.check());
  compare_absent(txn, rows_.names());
  put(txn, rows_.check(), rows_.check_row());
  put(txn, rows_.names(), rows_.secret_row(rows_.names(), secret));
  wipe(secret);
  const auto made = ask([&](EtcdClient& etcd) { return etcd.txn(txn); });
  if (!made) return refuse(made.error());
  return {};
}

/// Those that were destroyed before it leads first are nobody's news: no key was given here.
Result<void> EtcdKeys::lead(Epoch epoch) {
  auto erased = read_erased();
  if (!erased) return refuse(std::move(erased).error());
  bool first = false;
  {
    const std::lock_guard lock(mutex_);
    first = !epoch_;
    epoch_ = epoch;
    if (first) destroyed_ = *std::move(erased);
  }
  if (!first)
    for (const auto& id : *erased) note_erased(id);
  return {};
}

/// One that is damaged is left out: whoever looks for its key is told.
Result<std::set<KeyId>> EtcdKeys::read_erased() {
  std::set<KeyId> erased;
  pb::RangeRequest asked;
  set_all(asked, rows_.erasures());
  asked.set_limit(erasures_of_a_page);
  while (true) {
    const auto page = ask([&](EtcdClient& etcd) { return etcd.range(asked); });
    if (!page) return refuse(page.error());
    for (const auto& row : page->kvs()) {
      const auto id = rows_.erased_id(row.key());
      if (id && rows_.check_erased(*id, row.value())) erased.insert(*id);
    }
    if (!page->more() || page->kvs().empty()) return erased;
    asked.set_key(page->kvs().rbegin()->key() + '\0');
  }
}

// ---- one transaction

Result<pb::TxnResponse> EtcdKeys::carry_out(pb::TxnRequest request) {
  std::optional<Epoch> epoch;
  {
    const std::lock_guard lock(mutex_);
    epoch = epoch_;
  }
  if (!epoch) return refuse(ErrorCode::unavailable, "this coordinator does not lead: it has no keys to give");
  const auto name = etcd_.prefix + log_rows::epoch_key();
  auto& compare = *request.add_compare();
  compare.set_target(pb::Compare::VALUE);
  compare.set_key(name);
  compare.set_value(log_rows::epoch_row(*epoch));
  pb::TxnRequest asked = request;
  asked.clear_failure();
  look_at(*asked.add_failure(), name);
  for (auto& op : *request.mutable_failure()) *asked.add_failure() = std::move(op);
  auto answer = ask([&](EtcdClient& etcd) { return etcd.txn(asked); });
  if (!answer) return refuse(std::move(answer).error());
  if (answer->response.succeeded()) return std::move(answer->response);
  const auto* led = row_at(answer->response, 0);
  if (led == nullptr) return keys_are_corrupt("the cut log in etcd, beside which the keys of subjects lie, is gone");
  const auto newest = log_rows::decode_epoch_row(*led);
  if (!newest) return refuse(newest.error());
  if (*newest != *epoch)
    return refuse(ErrorCode::unavailable, "this coordinator led under epoch " + std::to_string(epoch->value) +
                                              ", and another one does under epoch " + std::to_string(newest->value) +
                                              ": it has no keys to give any more");
  return std::move(answer->response);
}

Result<EtcdKeys::Seen> EtcdKeys::seen(const KeyId& id, const std::string* key, const std::string* erased) {
  if (erased != nullptr) {
    EVERSHARD_TRY(rows_.check_erased(id, *erased));
    note_erased(id);
    return Seen{.erased = true};
  }
  return key == nullptr ? Seen{} : Seen{.row = *key};
}

Result<std::vector<Result<EtcdKeys::Seen>>> EtcdKeys::look_at_once(const std::vector<KeyId>& ids) {
  pb::TxnRequest txn;
  for (const auto& id : ids) {
    look_at(*txn.add_success(), rows_.key(id));
    look_at(*txn.add_success(), rows_.erased(id));
  }
  const auto answer = carry_out(std::move(txn));
  if (!answer) return refuse(answer.error());
  std::vector<Result<Seen>> all;
  for (int i = 0; i < static_cast<int>(ids.size()); ++i)
    all.push_back(seen(ids[static_cast<std::size_t>(i)], row_at(*answer, 2 * i), row_at(*answer, 2 * i + 1)));
  return all;
}

std::vector<Result<EtcdKeys::Seen>> EtcdKeys::look(const std::vector<KeyId>& ids) {
  std::vector<Result<Seen>> all;
  for (auto first = ids.begin(); first != ids.end();) {
    const auto end = first + std::min<std::ptrdiff_t>(ids.end() - first, ids_of_a_look);
    auto some = look_at_once(std::vector<KeyId>(first, end));
    for (; first != end; ++first) {
      if (some)
        all.push_back(std::move((*some)[all.size() % ids_of_a_look]));
      else
        all.push_back(refuse(some.error()));
    }
  }
  return all;
}

// ---- keys

/// Behind the look that found it: what was destroyed before it was made was noticed by that look.
Result<std::optional<HeldKey>> EtcdKeys::opened(const KeyId& id, const std::string& row) const {
  auto secret = rows_.secret_of(rows_.key(id), row);
  if (!secret) return refuse(std::move(secret).error());
  auto key = held_key(id, *std::move(secret));
  const std::lock_guard lock(mutex_);
  if (destroyed_.contains(id)) return std::nullopt;
  key.erasures = erasures_;
  return key;
}

Result<EtcdKeys::Seen> EtcdKeys::make(const KeyId& id) {
  auto secret = new_secret();
  auto row = rows_.secret_row(rows_.key(id), secret);
  wipe(secret);
  pb::TxnRequest txn;
  compare_absent(txn, rows_.key(id));
  compare_absent(txn, rows_.erased(id));
  put(txn, rows_.key(id), row);
  look_at(*txn.add_failure(), rows_.key(id));
  look_at(*txn.add_failure(), rows_.erased(id));
  const auto answer = carry_out(std::move(txn));
  if (!answer) return refuse(answer.error());
  if (answer->succeeded()) return Seen{.row = std::move(row)};
  return seen(id, row_at(*answer, 1), row_at(*answer, 2));
}

std::vector<Result<HeldKey>> EtcdKeys::keys_for(const std::vector<std::string>& subjects) {
  struct Sought {
    std::size_t at = 0;
    std::uint32_t generation = 0;
    KeyId id{};
  };
  std::vector<std::optional<Result<HeldKey>>> found(subjects.size());
  std::vector<Sought> open;
  for (std::size_t i = 0; i < subjects.size(); ++i) open.push_back({.at = i});
  while (!open.empty()) {
    std::vector<KeyId> ids;
    for (auto& sought : open) {
      const auto& subject = subjects[sought.at];
      sought.generation = not_known_to_be_destroyed(subject, sought.generation);
      sought.id = names_->id_of(subject, sought.generation);
      ids.push_back(sought.id);
    }
    const auto all = look(ids);
    std::vector<Sought> left;
    for (std::size_t i = 0; i < open.size(); ++i) {
      auto of = all[i];
      if (of && !of->erased && !of->row) of = make(open[i].id);
      auto key = of && of->row ? opened(open[i].id, *of->row) : Result<std::optional<HeldKey>>(std::nullopt);
      if (!of)
        found[open[i].at] = refuse(of.error());
      else if (!key)
        found[open[i].at] = refuse(std::move(key).error());
      else if (*key)
        found[open[i].at] = **std::move(key);
      else
        left.push_back(open[i]);  // destroyed, by now: its subject begins anew
    }
    open = std::move(left);
  }
  std::vector<Result<HeldKey>> keys;
  for (auto& key : found) keys.push_back(*std::move(key));
  return keys;
}

Result<HeldKey> EtcdKeys::key_for(std::string_view subject) {
  return std::move(keys_for({std::string(subject)}).front());
}

std::vector<Result<std::optional<HeldKey>>> EtcdKeys::find_all(const std::vector<KeyId>& ids) {
  std::vector<KeyId> asked;
  for (const auto& id : ids)
    if (!is_known_to_be_destroyed(id)) asked.push_back(id);
  const auto all = look(asked);
  std::vector<Result<std::optional<HeldKey>>> keys;
  std::size_t next = 0;
  for (const auto& id : ids) {
    if (next == asked.size() || asked[next] != id) {
      keys.push_back(std::nullopt);
      continue;
    }
    const auto& of = all[next++];
    if (!of) {
      keys.push_back(refuse(of.error()));
    } else if (of->erased) {
      keys.push_back(std::nullopt);
    } else if (!of->row) {
      keys.push_back(keys_are_corrupt("the key " + id.text() + " is not in " + where() +
                                      ", and was not destroyed: is it the right etcd, in its newest state?"));
    } else {
      keys.push_back(opened(id, *of->row));
    }
  }
  return keys;
}

Result<std::optional<HeldKey>> EtcdKeys::find(const KeyId& id) { return std::move(find_all({id}).front()); }

Result<std::optional<KeyId>> EtcdKeys::current(std::string_view subject) {
  for (std::uint32_t generation = 0;; ++generation) {
    generation = not_known_to_be_destroyed(subject, generation);
    const auto id = names_->id_of(subject, generation);
    const auto all = look({id});
    const auto& of = all.front();
    if (!of) return refuse(of.error());
    if (of->erased) continue;
    if (of->row) return id;
    // Whoever names another etcd than the one that has them must not take its silence for an erasure.
    const auto keys = has_keys();
    if (!keys) return refuse(keys.error());
    if (!*keys)
      return refuse(ErrorCode::not_found, "there are no keys at all in " + where() + ": is it the right etcd?");
    return std::nullopt;
  }
}

Result<bool> EtcdKeys::has_keys() {
  pb::TxnRequest txn;
  for (const auto& begin : {rows_.keys(), rows_.erasures()}) {
    auto& any = *txn.add_success()->mutable_request_range();
    set_all(any, begin);
    any.set_limit(1);
  }
  const auto answer = carry_out(std::move(txn));
  if (!answer) return refuse(answer.error());
  return row_at(*answer, 0) != nullptr || row_at(*answer, 1) != nullptr;
}

/// Again: the history is given up again, which may have failed before.
Result<void> EtcdKeys::destroy(const KeyId& id) {
  pb::TxnRequest txn;
  compare_absent(txn, rows_.erased(id));
  txn.add_success()->mutable_request_delete_range()->set_key(rows_.key(id));
  put(txn, rows_.erased(id), rows_.erased_row(id, Timestamp::now()));
  look_at(*txn.add_failure(), rows_.erased(id));
  const auto answer = carry_out(std::move(txn));
  if (!answer) return refuse(answer.error());
  if (!answer->succeeded()) {
    const auto* erased = row_at(*answer, 1);
    if (erased == nullptr) return keys_are_corrupt("etcd says that a key was destroyed, and does not have the row");
    EVERSHARD_TRY(rows_.check_erased(id, *erased));
  }
  note_erased(id);
  const auto revision = answer->header().revision();
  const auto compacted = ask([&](EtcdClient& etcd) { return etcd.compact(revision, EtcdClient::Physical::yes); });
  if (!compacted)
    return refuse(compacted.error().code == ErrorCode::not_found ? ErrorCode::io : compacted.error().code,
                  "the key is destroyed, and etcd has not given up the revisions that it can be read in; the next "
                  "erasure, `run` or `vacuum` goes on with it: " +
                      compacted.error().what);
  return {};
}

// ---- what was destroyed

std::uint64_t EtcdKeys::erasures() const {
  const std::lock_guard lock(mutex_);
  return erasures_;
}

bool EtcdKeys::is_known_to_be_destroyed(const KeyId& id) const {
  const std::lock_guard lock(mutex_);
  return destroyed_.contains(id);
}

std::uint32_t EtcdKeys::not_known_to_be_destroyed(std::string_view subject, std::uint32_t from) const {
  while (is_known_to_be_destroyed(names_->id_of(subject, from))) ++from;
  return from;
}

void EtcdKeys::note_erased(const KeyId& id) {
  {
    const std::lock_guard lock(mutex_);
    if (!destroyed_.insert(id).second) return;
    ++erasures_;
  }
  erased();
}

}  // namespace evershard::cluster
