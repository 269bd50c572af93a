// What the package offers.

export {
  connect,
  Client,
  type AggregateInfo,
  type AggregatesOptions,
  type AggregateState,
  type StateOptions,
} from "./client.js";
export type { AtLeast, CallOptions, ConnectOptions, Tls } from "./connection.js";
export type {
  AskOptions,
  Command,
  CommandAnswer,
  HostedCommand,
  HostedEvent,
  HostedKind,
  HostedKinds,
  HostedType,
} from "./commands.js";
export type { Append, Appended, Condition, NewSnapshot } from "./append.js";
export type { AppendManyOptions, Appends, Outcome } from "./append_many.js";
export { GivenEvent, PayloadFormat, RecordedEvent, type JsonValue, type NewEvent, type Payload } from "./event.js";
export {
  Documents,
  Projections,
  type Cell,
  type Document,
  type DocumentsOptions,
  type IfAbsent,
  type IndexEntry,
  type IndexPage,
  type Parameter,
  type ProjectionInfo,
  type ReadIndexOptions,
  type ReadValuesOptions,
  type Row,
  type SelectOptions,
  type TablePage,
  type ValueEntry,
  type ValuePage,
} from "./derived.js";
export { GroupWorker, type GroupDelivery, type GroupInfo, type WorkerOptions } from "./groups.js";
export { Query, type QueryItem } from "./query.js";
export { Reading, type ReadAggregateOptions, type ReadOptions } from "./reading.js";
export { Subscription, type SubscribeOptions, type SubscriptionItem } from "./subscription.js";
export { RecordedSnapshot } from "./snapshot.js";
export { Administration, type BackupOptions, type Stats, type VerifyReport } from "./administration.js";
export {
  Retention,
  type RetentionEntry,
  type RetentionLogOptions,
  type RetentionOptions,
  type RetentionPolicy,
  type RetentionReason,
  type RetentionResult,
  type TruncateOptions,
} from "./retention.js";
export type { Schedule, ScheduledAppend, ScheduledEvents, ScheduledOptions } from "./scheduled.js";
export type { WorkOptions } from "./work.js";
export { aggregateId, newId, splitAggregate } from "./ids.js";
export {
  EvershardError,
  VersionConflictError,
  ConditionFailedError,
  DuplicateEventError,
  NotFoundError,
  AlreadyExistsError,
  InvalidArgumentError,
  InvalidQueryError,
  ForkChangedError,
  TooLargeError,
  WrongShardError,
  FencedError,
  UnavailableError,
  OverloadedError,
  TimeoutError,
  OutcomeUnknownError,
  CorruptionError,
  IoError,
  CancelledError,
  UnauthenticatedError,
  PermissionDeniedError,
} from "./errors.js";
export type { Code, Details, ExpectedVersion } from "./errors.js";
