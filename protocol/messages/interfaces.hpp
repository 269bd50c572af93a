// Every actor of a node, a sentence a message. One talks to an actor through these handles and never includes its header.

#pragma once

#include <caf/all.hpp>
#include <memory>
#include <variant>

#include "evershard/protocol/append.hpp"
#include "evershard/protocol/query.hpp"
#include "evershard/protocol/read.hpp"
#include "evershard/protocol/result.hpp"

namespace evershard::messages {

using AppendAtom = caf::atom_constant<caf::atom("append")>;
using PageAtom = caf::atom_constant<caf::atom("page")>;

/// Values travel by pointer between actors of one process; nothing here crosses a network (that is the link's, in bytes).
struct AppendMessage {
  std::shared_ptr<Append> append;  ///< taken over: the sender does not look at it again
};
struct AppendAnswer {
  std::shared_ptr<const Result<Appended>> answer;
};

/// One page of a read. To go on, ask again behind the last event, with `up_to` set to the first page's watermark.
struct PageMessage {
  struct OfQuery {
    Query query;
    ReadOptions options;
  };
  struct OfStream {
    AggregateId aggregate;
    StreamOptions options;
  };
  std::shared_ptr<const std::variant<OfQuery, OfStream>> read;
  std::size_t events_max = 1'000;
  std::size_t bytes_max = 1u << 20;
};
struct PageAnswer {
  std::shared_ptr<const Result<Page>> answer;
};

/// Takes appends for the node's shards; answers when the committer has (the promise is kept even if the store fails).
using IntakeActor = caf::typed_actor<caf::replies_to<AppendAtom, AppendMessage>::with<AppendAnswer>>;
/// Reads a page of one view; blocks on the disk in a thread of its own, never on the writers' path.
using ReaderActor = caf::typed_actor<caf::replies_to<PageAtom, PageMessage>::with<PageAnswer>>;

}  // namespace evershard::messages

CAF_ALLOW_UNSAFE_MESSAGE_TYPE(evershard::messages::AppendMessage)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(evershard::messages::AppendAnswer)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(evershard::messages::PageMessage)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(evershard::messages::PageAnswer)
