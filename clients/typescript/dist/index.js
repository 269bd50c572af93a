// What the package offers.
export { connect, Client } from "./client.js";
export { PayloadFormat, RecordedEvent } from "./event.js";
export { Documents, Projections, } from "./derived.js";
export { GroupWorker } from "./groups.js";
export { Query } from "./query.js";
export { Reading } from "./reading.js";
export { Subscription } from "./subscription.js";
export { RecordedSnapshot } from "./snapshot.js";
export { Administration } from "./administration.js";
export { Retention, } from "./retention.js";
export { aggregateId, newId, splitAggregate } from "./ids.js";
export { EvershardError, VersionConflictError, ConditionFailedError, DuplicateEventError, NotFoundError, InvalidArgumentError, InvalidQueryError, TooLargeError, WrongShardError, FencedError, UnavailableError, OverloadedError, TimeoutError, OutcomeUnknownError, CorruptionError, IoError, CancelledError, UnauthenticatedError, PermissionDeniedError, } from "./errors.js";
