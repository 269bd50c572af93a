// Retention: what is removed from a store's history, for good, and the record of it. Field numbers are frozen, see event.proto; failures
// as in service.proto. What is removed stays as a stub: RecordedEvent.removed.
import { enumDesc, fileDesc, messageDesc, serviceDesc } from "@bufbuild/protobuf/codegenv2";
import { file_evershard_v1_event } from "./event_pb.js";
import { file_evershard_v1_service } from "./service_pb.js";
/**
 * Describes the file evershard/v1/retention.proto.
 */
export const file_evershard_v1_retention = /*@__PURE__*/ fileDesc("ChxldmVyc2hhcmQvdjEvcmV0ZW50aW9uLnByb3RvEgxldmVyc2hhcmQudjEiVwoOUmV0ZW50aW9uT3JkZXISCgoCYnkYASABKAkSDgoGcmVhc29uGAIgASgJEg8KB2RyeV9ydW4YAyABKAgSGAoQYnl0ZXNfcGVyX3NlY29uZBgEIAEoBCKYAQoYVHJ1bmNhdGVBZ2dyZWdhdGVSZXF1ZXN0EiwKCWFnZ3JlZ2F0ZRgBIAEoCzIZLmV2ZXJzaGFyZC52MS5BZ2dyZWdhdGVJZBIOCgZiZWZvcmUYAiABKAQSEQoJdW5jb3ZlcmVkGAMgASgIEisKBW9yZGVyGAQgASgLMhwuZXZlcnNoYXJkLnYxLlJldGVudGlvbk9yZGVyInMKFlJlbW92ZUFnZ3JlZ2F0ZVJlcXVlc3QSLAoJYWdncmVnYXRlGAEgASgLMhkuZXZlcnNoYXJkLnYxLkFnZ3JlZ2F0ZUlkEisKBW9yZGVyGAIgASgLMhwuZXZlcnNoYXJkLnYxLlJldGVudGlvbk9yZGVyIlMKE0VyYXNlU3ViamVjdFJlcXVlc3QSDwoHc3ViamVjdBgBIAEoCRIrCgVvcmRlchgCIAEoCzIcLmV2ZXJzaGFyZC52MS5SZXRlbnRpb25PcmRlciJEChVBcHBseVJldGVudGlvblJlcXVlc3QSKwoFb3JkZXIYASABKAsyHC5ldmVyc2hhcmQudjEuUmV0ZW50aW9uT3JkZXIicAoRUmV0ZW50aW9uUmVzcG9uc2USLAoIcHJvZ3Jlc3MYASABKAsyGi5ldmVyc2hhcmQudjEuV29ya1Byb2dyZXNzEi0KBnJlc3VsdBgCIAEoCzIdLmV2ZXJzaGFyZC52MS5SZXRlbnRpb25SZXN1bHQi+gEKD1JldGVudGlvblJlc3VsdBIRCglvcGVyYXRpb24YASABKAkSEgoKYWdncmVnYXRlcxgCIAEoBBIOCgZldmVudHMYAyABKAQSEQoJc25hcHNob3RzGAQgASgEEg8KB3JlY29yZHMYBSABKAQSFAoMYnl0ZXNfYmVmb3JlGAYgASgEEhMKC2J5dGVzX2FmdGVyGAcgASgEEg8KB3ZlcnNpb24YCCABKAQSDgoGYmVmb3JlGAkgASgEEhcKCmNvdmVyZWRfYnkYCiABKARIAIgBARIYChBjb3ZlcmVkX3JldmlzaW9uGAsgASgNQg0KC19jb3ZlcmVkX2J5IocBCg9SZXRlbnRpb25Qb2xpY3kSDAoEbmFtZRgBIAEoCRIvCgRraW5kGAIgASgOMiEuZXZlcnNoYXJkLnYxLlJldGVudGlvblBvbGljeUtpbmQSDAoEdHlwZRgDIAEoCRIUCgxrZWVwX3NlY29uZHMYBCABKAQSEQoJdW5jb3ZlcmVkGAUgASgIIncKGVNldFJldGVudGlvblBvbGljeVJlcXVlc3QSLQoGcG9saWN5GAEgASgLMh0uZXZlcnNoYXJkLnYxLlJldGVudGlvblBvbGljeRIrCgVvcmRlchgCIAEoCzIcLmV2ZXJzaGFyZC52MS5SZXRlbnRpb25PcmRlciIcChpTZXRSZXRlbnRpb25Qb2xpY3lSZXNwb25zZSJXChpEcm9wUmV0ZW50aW9uUG9saWN5UmVxdWVzdBIMCgRuYW1lGAEgASgJEisKBW9yZGVyGAIgASgLMhwuZXZlcnNoYXJkLnYxLlJldGVudGlvbk9yZGVyIh0KG0Ryb3BSZXRlbnRpb25Qb2xpY3lSZXNwb25zZSJHChxMaXN0UmV0ZW50aW9uUG9saWNpZXNSZXF1ZXN0EicKCGF0X2xlYXN0GAEgASgLMhUuZXZlcnNoYXJkLnYxLkF0TGVhc3QiUAodTGlzdFJldGVudGlvblBvbGljaWVzUmVzcG9uc2USLwoIcG9saWNpZXMYASADKAsyHS5ldmVyc2hhcmQudjEuUmV0ZW50aW9uUG9saWN5ImAKF1JlYWRSZXRlbnRpb25Mb2dSZXF1ZXN0Eg0KBWFmdGVyGAEgASgEEg0KBWxpbWl0GAIgASgNEicKCGF0X2xlYXN0GAMgASgLMhUuZXZlcnNoYXJkLnYxLkF0TGVhc3QiZQoYUmVhZFJldGVudGlvbkxvZ1Jlc3BvbnNlEi0KB2VudHJpZXMYASADKAsyHC5ldmVyc2hhcmQudjEuUmV0ZW50aW9uRW50cnkSEQoEbmV4dBgCIAEoBEgAiAEBQgcKBV9uZXh0Il0KDlJldGVudGlvbkVudHJ5EhAKCHBvc2l0aW9uGAEgASgEEg4KBm51bWJlchgCIAEoBBINCgVhdF91cxgDIAEoAxIMCgR3aGF0GAQgASgJEgwKBGpzb24YBSABKAwqpAEKE1JldGVudGlvblBvbGljeUtpbmQSJQohUkVURU5USU9OX1BPTElDWV9LSU5EX1VOU1BFQ0lGSUVEEAASIAocUkVURU5USU9OX1BPTElDWV9LSU5EX0VWRU5UUxABEiIKHlJFVEVOVElPTl9QT0xJQ1lfS0lORF9UUlVOQ0FURRACEiAKHFJFVEVOVElPTl9QT0xJQ1lfS0lORF9SRU1PVkUQAzKhBgoJUmV0ZW50aW9uEl4KEVRydW5jYXRlQWdncmVnYXRlEiYuZXZlcnNoYXJkLnYxLlRydW5jYXRlQWdncmVnYXRlUmVxdWVzdBofLmV2ZXJzaGFyZC52MS5SZXRlbnRpb25SZXNwb25zZTABEloKD1JlbW92ZUFnZ3JlZ2F0ZRIkLmV2ZXJzaGFyZC52MS5SZW1vdmVBZ2dyZWdhdGVSZXF1ZXN0Gh8uZXZlcnNoYXJkLnYxLlJldGVudGlvblJlc3BvbnNlMAESVAoMRXJhc2VTdWJqZWN0EiEuZXZlcnNoYXJkLnYxLkVyYXNlU3ViamVjdFJlcXVlc3QaHy5ldmVyc2hhcmQudjEuUmV0ZW50aW9uUmVzcG9uc2UwARJYCg5BcHBseVJldGVudGlvbhIjLmV2ZXJzaGFyZC52MS5BcHBseVJldGVudGlvblJlcXVlc3QaHy5ldmVyc2hhcmQudjEuUmV0ZW50aW9uUmVzcG9uc2UwARJnChJTZXRSZXRlbnRpb25Qb2xpY3kSJy5ldmVyc2hhcmQudjEuU2V0UmV0ZW50aW9uUG9saWN5UmVxdWVzdBooLmV2ZXJzaGFyZC52MS5TZXRSZXRlbnRpb25Qb2xpY3lSZXNwb25zZRJqChNEcm9wUmV0ZW50aW9uUG9saWN5EiguZXZlcnNoYXJkLnYxLkRyb3BSZXRlbnRpb25Qb2xpY3lSZXF1ZXN0GikuZXZlcnNoYXJkLnYxLkRyb3BSZXRlbnRpb25Qb2xpY3lSZXNwb25zZRJwChVMaXN0UmV0ZW50aW9uUG9saWNpZXMSKi5ldmVyc2hhcmQudjEuTGlzdFJldGVudGlvblBvbGljaWVzUmVxdWVzdBorLmV2ZXJzaGFyZC52MS5MaXN0UmV0ZW50aW9uUG9saWNpZXNSZXNwb25zZRJhChBSZWFkUmV0ZW50aW9uTG9nEiUuZXZlcnNoYXJkLnYxLlJlYWRSZXRlbnRpb25Mb2dSZXF1ZXN0GiYuZXZlcnNoYXJkLnYxLlJlYWRSZXRlbnRpb25Mb2dSZXNwb25zZWIGcHJvdG8z", [file_evershard_v1_event, file_evershard_v1_service]);
/**
 * Describes the message evershard.v1.RetentionOrder.
 * Use `create(RetentionOrderSchema)` to create a new message.
 */
export const RetentionOrderSchema = /*@__PURE__*/ messageDesc(file_evershard_v1_retention, 0);
/**
 * Describes the message evershard.v1.TruncateAggregateRequest.
 * Use `create(TruncateAggregateRequestSchema)` to create a new message.
 */
export const TruncateAggregateRequestSchema = /*@__PURE__*/ messageDesc(file_evershard_v1_retention, 1);
/**
 * Describes the message evershard.v1.RemoveAggregateRequest.
 * Use `create(RemoveAggregateRequestSchema)` to create a new message.
 */
export const RemoveAggregateRequestSchema = /*@__PURE__*/ messageDesc(file_evershard_v1_retention, 2);
/**
 * Describes the message evershard.v1.EraseSubjectRequest.
 * Use `create(EraseSubjectRequestSchema)` to create a new message.
 */
export const EraseSubjectRequestSchema = /*@__PURE__*/ messageDesc(file_evershard_v1_retention, 3);
/**
 * Describes the message evershard.v1.ApplyRetentionRequest.
 * Use `create(ApplyRetentionRequestSchema)` to create a new message.
 */
export const ApplyRetentionRequestSchema = /*@__PURE__*/ messageDesc(file_evershard_v1_retention, 4);
/**
 * Describes the message evershard.v1.RetentionResponse.
 * Use `create(RetentionResponseSchema)` to create a new message.
 */
export const RetentionResponseSchema = /*@__PURE__*/ messageDesc(file_evershard_v1_retention, 5);
/**
 * Describes the message evershard.v1.RetentionResult.
 * Use `create(RetentionResultSchema)` to create a new message.
 */
export const RetentionResultSchema = /*@__PURE__*/ messageDesc(file_evershard_v1_retention, 6);
/**
 * Describes the message evershard.v1.RetentionPolicy.
 * Use `create(RetentionPolicySchema)` to create a new message.
 */
export const RetentionPolicySchema = /*@__PURE__*/ messageDesc(file_evershard_v1_retention, 7);
/**
 * Describes the message evershard.v1.SetRetentionPolicyRequest.
 * Use `create(SetRetentionPolicyRequestSchema)` to create a new message.
 */
export const SetRetentionPolicyRequestSchema = /*@__PURE__*/ messageDesc(file_evershard_v1_retention, 8);
/**
 * Describes the message evershard.v1.SetRetentionPolicyResponse.
 * Use `create(SetRetentionPolicyResponseSchema)` to create a new message.
 */
export const SetRetentionPolicyResponseSchema = /*@__PURE__*/ messageDesc(file_evershard_v1_retention, 9);
/**
 * Describes the message evershard.v1.DropRetentionPolicyRequest.
 * Use `create(DropRetentionPolicyRequestSchema)` to create a new message.
 */
export const DropRetentionPolicyRequestSchema = /*@__PURE__*/ messageDesc(file_evershard_v1_retention, 10);
/**
 * Describes the message evershard.v1.DropRetentionPolicyResponse.
 * Use `create(DropRetentionPolicyResponseSchema)` to create a new message.
 */
export const DropRetentionPolicyResponseSchema = /*@__PURE__*/ messageDesc(file_evershard_v1_retention, 11);
/**
 * Describes the message evershard.v1.ListRetentionPoliciesRequest.
 * Use `create(ListRetentionPoliciesRequestSchema)` to create a new message.
 */
export const ListRetentionPoliciesRequestSchema = /*@__PURE__*/ messageDesc(file_evershard_v1_retention, 12);
/**
 * Describes the message evershard.v1.ListRetentionPoliciesResponse.
 * Use `create(ListRetentionPoliciesResponseSchema)` to create a new message.
 */
export const ListRetentionPoliciesResponseSchema = /*@__PURE__*/ messageDesc(file_evershard_v1_retention, 13);
/**
 * Describes the message evershard.v1.ReadRetentionLogRequest.
 * Use `create(ReadRetentionLogRequestSchema)` to create a new message.
 */
export const ReadRetentionLogRequestSchema = /*@__PURE__*/ messageDesc(file_evershard_v1_retention, 14);
/**
 * Describes the message evershard.v1.ReadRetentionLogResponse.
 * Use `create(ReadRetentionLogResponseSchema)` to create a new message.
 */
export const ReadRetentionLogResponseSchema = /*@__PURE__*/ messageDesc(file_evershard_v1_retention, 15);
/**
 * Describes the message evershard.v1.RetentionEntry.
 * Use `create(RetentionEntrySchema)` to create a new message.
 */
export const RetentionEntrySchema = /*@__PURE__*/ messageDesc(file_evershard_v1_retention, 16);
/**
 * @generated from enum evershard.v1.RetentionPolicyKind
 */
export var RetentionPolicyKind;
(function (RetentionPolicyKind) {
    /**
     * @generated from enum value: RETENTION_POLICY_KIND_UNSPECIFIED = 0;
     */
    RetentionPolicyKind[RetentionPolicyKind["UNSPECIFIED"] = 0] = "UNSPECIFIED";
    /**
     * events of a type, one by one
     *
     * @generated from enum value: RETENTION_POLICY_KIND_EVENTS = 1;
     */
    RetentionPolicyKind[RetentionPolicyKind["EVENTS"] = 1] = "EVENTS";
    /**
     * of aggregates of a type: events that a snapshot stands for
     *
     * @generated from enum value: RETENTION_POLICY_KIND_TRUNCATE = 2;
     */
    RetentionPolicyKind[RetentionPolicyKind["TRUNCATE"] = 2] = "TRUNCATE";
    /**
     * aggregates of a type, as a whole
     *
     * @generated from enum value: RETENTION_POLICY_KIND_REMOVE = 3;
     */
    RetentionPolicyKind[RetentionPolicyKind["REMOVE"] = 3] = "REMOVE";
})(RetentionPolicyKind || (RetentionPolicyKind = {}));
/**
 * Describes the enum evershard.v1.RetentionPolicyKind.
 */
export const RetentionPolicyKindSchema = /*@__PURE__*/ enumDesc(file_evershard_v1_retention, 0);
/**
 * @generated from service evershard.v1.Retention
 */
export const Retention = /*@__PURE__*/ serviceDesc(file_evershard_v1_retention, 0);
