// What is asked of the store and what it answers. Field numbers are frozen, see event.proto.
import { enumDesc, fileDesc, messageDesc } from "@bufbuild/protobuf/codegenv2";
import { file_evershard_v1_event } from "./event_pb.js";
/**
 * Describes the file evershard/v1/store.proto.
 */
export const file_evershard_v1_store = /*@__PURE__*/ fileDesc("ChhldmVyc2hhcmQvdjEvc3RvcmUucHJvdG8SDGV2ZXJzaGFyZC52MSI8CgVRdWVyeRILCgNhbGwYASABKAgSJgoFaXRlbXMYAiADKAsyFy5ldmVyc2hhcmQudjEuUXVlcnlJdGVtIlcKCVF1ZXJ5SXRlbRINCgV0eXBlcxgBIAMoCRIMCgR0YWdzGAIgAygJEi0KCmNvbmNlcm5pbmcYAyADKAsyGS5ldmVyc2hhcmQudjEuQWdncmVnYXRlSWQisQEKD0V4cGVjdGVkVmVyc2lvbhIwCgRraW5kGAEgASgOMiIuZXZlcnNoYXJkLnYxLkV4cGVjdGVkVmVyc2lvbi5LaW5kEg4KBm51bWJlchgCIAEoBCJcCgRLaW5kEhQKEEtJTkRfVU5TUEVDSUZJRUQQABIMCghLSU5EX0FOWRABEg0KCUtJTkRfTk9ORRACEg8KC0tJTkRfRVhJU1RTEAMSEAoMS0lORF9FWEFDVExZEAQiawoLRXhwZWN0YXRpb24SLAoJYWdncmVnYXRlGAEgASgLMhkuZXZlcnNoYXJkLnYxLkFnZ3JlZ2F0ZUlkEi4KB3ZlcnNpb24YAiABKAsyHS5ldmVyc2hhcmQudjEuRXhwZWN0ZWRWZXJzaW9uIkQKD0FwcGVuZENvbmRpdGlvbhIiCgVxdWVyeRgBIAEoCzITLmV2ZXJzaGFyZC52MS5RdWVyeRINCgVhZnRlchgCIAEoBCLWAQoIU25hcHNob3QSLAoJYWdncmVnYXRlGAEgASgLMhkuZXZlcnNoYXJkLnYxLkFnZ3JlZ2F0ZUlkEg8KB3ZlcnNpb24YAiABKAQSDwoHcGF5bG9hZBgDIAEoDBIWCg5wYXlsb2FkX2Zvcm1hdBgEIAEoDRIXCg9zY2hlbWFfcmV2aXNpb24YBSABKA0SEQoEa2VlcBgGIAEoDUgAiAEBEhIKBXR0bF9zGAcgASgDSAGIAQESDwoHc3ViamVjdBgIIAEoCUIHCgVfa2VlcEIICgZfdHRsX3MiWAoNQ29tbWFuZFJlY29yZBIsCglhZ2dyZWdhdGUYASABKAsyGS5ldmVyc2hhcmQudjEuQWdncmVnYXRlSWQSCgoCaWQYAiABKAwSDQoFcmVwbHkYAyABKAwi0QIKDUFwcGVuZFJlcXVlc3QSEgoKcmVxdWVzdF9pZBgBIAEoDBIjCgZldmVudHMYAiADKAsyEy5ldmVyc2hhcmQudjEuRXZlbnQSLwoMZXhwZWN0YXRpb25zGAMgAygLMhkuZXZlcnNoYXJkLnYxLkV4cGVjdGF0aW9uEjEKCmNvbmRpdGlvbnMYBCADKAsyHS5ldmVyc2hhcmQudjEuQXBwZW5kQ29uZGl0aW9uEikKCXNuYXBzaG90cxgFIAMoCzIWLmV2ZXJzaGFyZC52MS5TbmFwc2hvdBIsCgdjb21tYW5kGAYgASgLMhsuZXZlcnNoYXJkLnYxLkNvbW1hbmRSZWNvcmQSHgoDYWNrGAcgASgOMhEuZXZlcnNoYXJkLnYxLkFjaxIVCg1jb25mbGljdHNfbWF4GAggASgNEhMKC2Zyb21fZXhwb3J0GAkgASgIIlEKEEFnZ3JlZ2F0ZVZlcnNpb24SLAoJYWdncmVnYXRlGAEgASgLMhkuZXZlcnNoYXJkLnYxLkFnZ3JlZ2F0ZUlkEg8KB3ZlcnNpb24YAiABKAQilwEKDkFwcGVuZFJlc3BvbnNlEhYKDmZpcnN0X3Bvc2l0aW9uGAEgASgEEhUKDWxhc3RfcG9zaXRpb24YAiABKAQSMAoIdmVyc2lvbnMYAyADKAsyHi5ldmVyc2hhcmQudjEuQWdncmVnYXRlVmVyc2lvbhIRCglkdXBsaWNhdGUYBCABKAgSEQoJd2F0ZXJtYXJrGAUgASgEIrcDCgVFcnJvchIlCgRjb2RlGAEgASgOMhcuZXZlcnNoYXJkLnYxLkVycm9yQ29kZRIPCgdtZXNzYWdlGAIgASgJEiwKCWFnZ3JlZ2F0ZRgDIAEoCzIZLmV2ZXJzaGFyZC52MS5BZ2dyZWdhdGVJZBIvCghleHBlY3RlZBgEIAEoCzIdLmV2ZXJzaGFyZC52MS5FeHBlY3RlZFZlcnNpb24SEwoGYWN0dWFsGAUgASgESACIAQESFgoJY29uZGl0aW9uGAYgASgNSAGIAQESFQoIcG9zaXRpb24YByABKARIAogBARISCgVzaGFyZBgIIAEoDUgDiAEBEhMKBm9mZnNldBgJIAEoBEgEiAEBEi4KCWNvbmZsaWN0cxgKIAMoCzIbLmV2ZXJzaGFyZC52MS5SZWNvcmRlZEV2ZW50EhsKDnJldHJ5X2FmdGVyX21zGAsgASgNSAWIAQESDwoHbGFzdGluZxgMIAEoCEIJCgdfYWN0dWFsQgwKCl9jb25kaXRpb25CCwoJX3Bvc2l0aW9uQggKBl9zaGFyZEIJCgdfb2Zmc2V0QhEKD19yZXRyeV9hZnRlcl9tcyLIAQoLUmVhZE9wdGlvbnMSDQoFYWZ0ZXIYASABKAQSEwoGYmVmb3JlGAIgASgESACIAQESEgoFdXBfdG8YAyABKARIAYgBARISCgVsaW1pdBgEIAEoBEgCiAEBEioKCWRpcmVjdGlvbhgFIAEoDjIXLmV2ZXJzaGFyZC52MS5EaXJlY3Rpb24SFQoIYXRfbGVhc3QYBiABKARIA4gBAUIJCgdfYmVmb3JlQggKBl91cF90b0IICgZfbGltaXRCCwoJX2F0X2xlYXN0IpMBCg1TdHJlYW1PcHRpb25zEhEKBGZyb20YASABKARIAIgBARISCgVsaW1pdBgCIAEoBEgBiAEBEioKCWRpcmVjdGlvbhgDIAEoDjIXLmV2ZXJzaGFyZC52MS5EaXJlY3Rpb24SEgoFdXBfdG8YBCABKARIAogBAUIHCgVfZnJvbUIICgZfbGltaXRCCAoGX3VwX3RvIlgKBFBhZ2USKwoGZXZlbnRzGAEgAygLMhsuZXZlcnNoYXJkLnYxLlJlY29yZGVkRXZlbnQSEQoJd2F0ZXJtYXJrGAIgASgEEhAKCGNvbXBsZXRlGAMgASgIIokCChBSZWNvcmRlZFNuYXBzaG90EiwKCWFnZ3JlZ2F0ZRgBIAEoCzIZLmV2ZXJzaGFyZC52MS5BZ2dyZWdhdGVJZBIPCgd2ZXJzaW9uGAIgASgEEhAKCHBvc2l0aW9uGAMgASgEEg8KB3BheWxvYWQYBCABKAwSFgoOcGF5bG9hZF9mb3JtYXQYBSABKA0SFwoPc2NoZW1hX3JldmlzaW9uGAYgASgNEhMKC3Rha2VuX2F0X3VzGAcgASgDEhoKDWV4cGlyZXNfYXRfdXMYCCABKANIAIgBARIOCgZsYXRlc3QYCSABKAgSDwoHc3ViamVjdBgKIAEoCUIQCg5fZXhwaXJlc19hdF91cyonCgNBY2sSDwoLQUNLX09SREVSRUQQABIPCgtBQ0tfRFVSQUJMRRABKogECglFcnJvckNvZGUSGgoWRVJST1JfQ09ERV9VTlNQRUNJRklFRBAAEh8KG0VSUk9SX0NPREVfVkVSU0lPTl9DT05GTElDVBABEh8KG0VSUk9SX0NPREVfQ09ORElUSU9OX0ZBSUxFRBACEh4KGkVSUk9SX0NPREVfRFVQTElDQVRFX0VWRU5UEAMSGAoURVJST1JfQ09ERV9OT1RfRk9VTkQQBBIfChtFUlJPUl9DT0RFX0lOVkFMSURfQVJHVU1FTlQQBRIcChhFUlJPUl9DT0RFX0lOVkFMSURfUVVFUlkQBhIYChRFUlJPUl9DT0RFX1RPT19MQVJHRRAHEhoKFkVSUk9SX0NPREVfV1JPTkdfU0hBUkQQCBIVChFFUlJPUl9DT0RFX0ZFTkNFRBAJEhoKFkVSUk9SX0NPREVfVU5BVkFJTEFCTEUQChIZChVFUlJPUl9DT0RFX09WRVJMT0FERUQQCxIWChJFUlJPUl9DT0RFX1RJTUVPVVQQDBIZChVFUlJPUl9DT0RFX0NPUlJVUFRJT04QDRIRCg1FUlJPUl9DT0RFX0lPEA4SGAoURVJST1JfQ09ERV9DQU5DRUxMRUQQDxIeChpFUlJPUl9DT0RFX1VOQVVUSEVOVElDQVRFRBAQEiAKHEVSUk9SX0NPREVfUEVSTUlTU0lPTl9ERU5JRUQQESo8CglEaXJlY3Rpb24SFgoSRElSRUNUSU9OX0ZPUldBUkRTEAASFwoTRElSRUNUSU9OX0JBQ0tXQVJEUxABYgZwcm90bzM", [file_evershard_v1_event]);
/**
 * Describes the message evershard.v1.Query.
 * Use `create(QuerySchema)` to create a new message.
 */
export const QuerySchema = /*@__PURE__*/ messageDesc(file_evershard_v1_store, 0);
/**
 * Describes the message evershard.v1.QueryItem.
 * Use `create(QueryItemSchema)` to create a new message.
 */
export const QueryItemSchema = /*@__PURE__*/ messageDesc(file_evershard_v1_store, 1);
/**
 * Describes the message evershard.v1.ExpectedVersion.
 * Use `create(ExpectedVersionSchema)` to create a new message.
 */
export const ExpectedVersionSchema = /*@__PURE__*/ messageDesc(file_evershard_v1_store, 2);
/**
 * @generated from enum evershard.v1.ExpectedVersion.Kind
 */
export var ExpectedVersion_Kind;
(function (ExpectedVersion_Kind) {
    /**
     * @generated from enum value: KIND_UNSPECIFIED = 0;
     */
    ExpectedVersion_Kind[ExpectedVersion_Kind["UNSPECIFIED"] = 0] = "UNSPECIFIED";
    /**
     * @generated from enum value: KIND_ANY = 1;
     */
    ExpectedVersion_Kind[ExpectedVersion_Kind["ANY"] = 1] = "ANY";
    /**
     * the aggregate must not exist
     *
     * @generated from enum value: KIND_NONE = 2;
     */
    ExpectedVersion_Kind[ExpectedVersion_Kind["NONE"] = 2] = "NONE";
    /**
     * @generated from enum value: KIND_EXISTS = 3;
     */
    ExpectedVersion_Kind[ExpectedVersion_Kind["EXISTS"] = 3] = "EXISTS";
    /**
     * `number`; 0 is none
     *
     * @generated from enum value: KIND_EXACTLY = 4;
     */
    ExpectedVersion_Kind[ExpectedVersion_Kind["EXACTLY"] = 4] = "EXACTLY";
})(ExpectedVersion_Kind || (ExpectedVersion_Kind = {}));
/**
 * Describes the enum evershard.v1.ExpectedVersion.Kind.
 */
export const ExpectedVersion_KindSchema = /*@__PURE__*/ enumDesc(file_evershard_v1_store, 2, 0);
/**
 * Describes the message evershard.v1.Expectation.
 * Use `create(ExpectationSchema)` to create a new message.
 */
export const ExpectationSchema = /*@__PURE__*/ messageDesc(file_evershard_v1_store, 3);
/**
 * Describes the message evershard.v1.AppendCondition.
 * Use `create(AppendConditionSchema)` to create a new message.
 */
export const AppendConditionSchema = /*@__PURE__*/ messageDesc(file_evershard_v1_store, 4);
/**
 * Describes the message evershard.v1.Snapshot.
 * Use `create(SnapshotSchema)` to create a new message.
 */
export const SnapshotSchema = /*@__PURE__*/ messageDesc(file_evershard_v1_store, 5);
/**
 * Describes the message evershard.v1.CommandRecord.
 * Use `create(CommandRecordSchema)` to create a new message.
 */
export const CommandRecordSchema = /*@__PURE__*/ messageDesc(file_evershard_v1_store, 6);
/**
 * Describes the message evershard.v1.AppendRequest.
 * Use `create(AppendRequestSchema)` to create a new message.
 */
export const AppendRequestSchema = /*@__PURE__*/ messageDesc(file_evershard_v1_store, 7);
/**
 * Describes the message evershard.v1.AggregateVersion.
 * Use `create(AggregateVersionSchema)` to create a new message.
 */
export const AggregateVersionSchema = /*@__PURE__*/ messageDesc(file_evershard_v1_store, 8);
/**
 * Describes the message evershard.v1.AppendResponse.
 * Use `create(AppendResponseSchema)` to create a new message.
 */
export const AppendResponseSchema = /*@__PURE__*/ messageDesc(file_evershard_v1_store, 9);
/**
 * Describes the message evershard.v1.Error.
 * Use `create(ErrorSchema)` to create a new message.
 */
export const ErrorSchema = /*@__PURE__*/ messageDesc(file_evershard_v1_store, 10);
/**
 * Describes the message evershard.v1.ReadOptions.
 * Use `create(ReadOptionsSchema)` to create a new message.
 */
export const ReadOptionsSchema = /*@__PURE__*/ messageDesc(file_evershard_v1_store, 11);
/**
 * Describes the message evershard.v1.StreamOptions.
 * Use `create(StreamOptionsSchema)` to create a new message.
 */
export const StreamOptionsSchema = /*@__PURE__*/ messageDesc(file_evershard_v1_store, 12);
/**
 * Describes the message evershard.v1.Page.
 * Use `create(PageSchema)` to create a new message.
 */
export const PageSchema = /*@__PURE__*/ messageDesc(file_evershard_v1_store, 13);
/**
 * Describes the message evershard.v1.RecordedSnapshot.
 * Use `create(RecordedSnapshotSchema)` to create a new message.
 */
export const RecordedSnapshotSchema = /*@__PURE__*/ messageDesc(file_evershard_v1_store, 14);
/**
 * What an acknowledgement means; in one process both are the same.
 *
 * @generated from enum evershard.v1.Ack
 */
export var Ack;
(function (Ack) {
    /**
     * positions are known
     *
     * @generated from enum value: ACK_ORDERED = 0;
     */
    Ack[Ack["ORDERED"] = 0] = "ORDERED";
    /**
     * it will survive and will be ordered, where is open
     *
     * @generated from enum value: ACK_DURABLE = 1;
     */
    Ack[Ack["DURABLE"] = 1] = "DURABLE";
})(Ack || (Ack = {}));
/**
 * Describes the enum evershard.v1.Ack.
 */
export const AckSchema = /*@__PURE__*/ enumDesc(file_evershard_v1_store, 0);
/**
 * What the caller can do about it.
 *
 * @generated from enum evershard.v1.ErrorCode
 */
export var ErrorCode;
(function (ErrorCode) {
    /**
     * @generated from enum value: ERROR_CODE_UNSPECIFIED = 0;
     */
    ErrorCode[ErrorCode["UNSPECIFIED"] = 0] = "UNSPECIFIED";
    /**
     * an aggregate is not at the expected version: read it again and decide again
     *
     * @generated from enum value: ERROR_CODE_VERSION_CONFLICT = 1;
     */
    ErrorCode[ErrorCode["VERSION_CONFLICT"] = 1] = "VERSION_CONFLICT";
    /**
     * an event matches an append condition: read again and decide again
     *
     * @generated from enum value: ERROR_CODE_CONDITION_FAILED = 2;
     */
    ErrorCode[ErrorCode["CONDITION_FAILED"] = 2] = "CONDITION_FAILED";
    /**
     * an event id is stored already, by another request
     *
     * @generated from enum value: ERROR_CODE_DUPLICATE_EVENT = 3;
     */
    ErrorCode[ErrorCode["DUPLICATE_EVENT"] = 3] = "DUPLICATE_EVENT";
    /**
     * @generated from enum value: ERROR_CODE_NOT_FOUND = 4;
     */
    ErrorCode[ErrorCode["NOT_FOUND"] = 4] = "NOT_FOUND";
    /**
     * @generated from enum value: ERROR_CODE_INVALID_ARGUMENT = 5;
     */
    ErrorCode[ErrorCode["INVALID_ARGUMENT"] = 5] = "INVALID_ARGUMENT";
    /**
     * @generated from enum value: ERROR_CODE_INVALID_QUERY = 6;
     */
    ErrorCode[ErrorCode["INVALID_QUERY"] = 6] = "INVALID_QUERY";
    /**
     * over a limit, which the text names
     *
     * @generated from enum value: ERROR_CODE_TOO_LARGE = 7;
     */
    ErrorCode[ErrorCode["TOO_LARGE"] = 7] = "TOO_LARGE";
    /**
     * the shard lives elsewhere
     *
     * @generated from enum value: ERROR_CODE_WRONG_SHARD = 8;
     */
    ErrorCode[ErrorCode["WRONG_SHARD"] = 8] = "WRONG_SHARD";
    /**
     * a newer writer owns the shard
     *
     * @generated from enum value: ERROR_CODE_FENCED = 9;
     */
    ErrorCode[ErrorCode["FENCED"] = 9] = "FENCED";
    /**
     * not now; names the shard, or the full disk
     *
     * @generated from enum value: ERROR_CODE_UNAVAILABLE = 10;
     */
    ErrorCode[ErrorCode["UNAVAILABLE"] = 10] = "UNAVAILABLE";
    /**
     * a bounded queue is full: try again later
     *
     * @generated from enum value: ERROR_CODE_OVERLOADED = 11;
     */
    ErrorCode[ErrorCode["OVERLOADED"] = 11] = "OVERLOADED";
    /**
     * outcome unknown
     *
     * @generated from enum value: ERROR_CODE_TIMEOUT = 12;
     */
    ErrorCode[ErrorCode["TIMEOUT"] = 12] = "TIMEOUT";
    /**
     * damaged data was found; never served
     *
     * @generated from enum value: ERROR_CODE_CORRUPTION = 13;
     */
    ErrorCode[ErrorCode["CORRUPTION"] = 13] = "CORRUPTION";
    /**
     * the store has failed for good; the outcome of what was under way is unknown
     *
     * @generated from enum value: ERROR_CODE_IO = 14;
     */
    ErrorCode[ErrorCode["IO"] = 14] = "IO";
    /**
     * the caller asked for it
     *
     * @generated from enum value: ERROR_CODE_CANCELLED = 15;
     */
    ErrorCode[ErrorCode["CANCELLED"] = 15] = "CANCELLED";
    /**
     * no token, or one that is not known
     *
     * @generated from enum value: ERROR_CODE_UNAUTHENTICATED = 16;
     */
    ErrorCode[ErrorCode["UNAUTHENTICATED"] = 16] = "UNAUTHENTICATED";
    /**
     * a token whose scopes do not reach so far
     *
     * @generated from enum value: ERROR_CODE_PERMISSION_DENIED = 17;
     */
    ErrorCode[ErrorCode["PERMISSION_DENIED"] = 17] = "PERMISSION_DENIED";
})(ErrorCode || (ErrorCode = {}));
/**
 * Describes the enum evershard.v1.ErrorCode.
 */
export const ErrorCodeSchema = /*@__PURE__*/ enumDesc(file_evershard_v1_store, 1);
/**
 * Which way a read goes.
 *
 * @generated from enum evershard.v1.Direction
 */
export var Direction;
(function (Direction) {
    /**
     * @generated from enum value: DIRECTION_FORWARDS = 0;
     */
    Direction[Direction["FORWARDS"] = 0] = "FORWARDS";
    /**
     * @generated from enum value: DIRECTION_BACKWARDS = 1;
     */
    Direction[Direction["BACKWARDS"] = 1] = "BACKWARDS";
})(Direction || (Direction = {}));
/**
 * Describes the enum evershard.v1.Direction.
 */
export const DirectionSchema = /*@__PURE__*/ enumDesc(file_evershard_v1_store, 2);
