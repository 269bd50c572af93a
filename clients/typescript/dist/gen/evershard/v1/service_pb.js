// The door: what a server offers to other processes, in any language. Field numbers are frozen, see event.proto.
//
// A request's failure is a gRPC status with an Error in its details (grpc-status-details-bin: a google.rpc.Status whose one
// detail is an evershard.v1.Error):
//   version_conflict, condition_failed  ABORTED              read again and decide again
//   duplicate_event                     ALREADY_EXISTS
//   not_found                           NOT_FOUND
//   invalid_argument, invalid_query     INVALID_ARGUMENT
//   too_large, overloaded               RESOURCE_EXHAUSTED   overloaded: try again after retry_after_ms
//   wrong_shard, fenced, unavailable    UNAVAILABLE
//   timeout                             DEADLINE_EXCEEDED    an append's outcome is unknown: send the same request again
//   corruption, io                      DATA_LOSS
//   cancelled                           CANCELLED
//   unauthenticated, permission_denied  UNAUTHENTICATED, PERMISSION_DENIED
import { enumDesc, fileDesc, messageDesc, serviceDesc } from "@bufbuild/protobuf/codegenv2";
import { file_evershard_v1_event } from "./event_pb.js";
import { file_evershard_v1_store } from "./store_pb.js";
/**
 * Describes the file evershard/v1/service.proto.
 */
export const file_evershard_v1_service = /*@__PURE__*/ fileDesc("ChpldmVyc2hhcmQvdjEvc2VydmljZS5wcm90bxIMZXZlcnNoYXJkLnYxIkMKB0F0TGVhc3QSEAoIcG9zaXRpb24YASABKAQSFwoKdGltZW91dF9tcxgCIAEoDUgAiAEBQg0KC190aW1lb3V0X21zInQKDUFwcGVuZE91dGNvbWUSMAoIYXBwZW5kZWQYASABKAsyHC5ldmVyc2hhcmQudjEuQXBwZW5kUmVzcG9uc2VIABImCgdyZWZ1c2VkGAIgASgLMhMuZXZlcnNoYXJkLnYxLkVycm9ySABCCQoHb3V0Y29tZSLhAQoLUmVhZFJlcXVlc3QSIgoFcXVlcnkYASABKAsyEy5ldmVyc2hhcmQudjEuUXVlcnkSKgoHb3B0aW9ucxgCIAEoCzIZLmV2ZXJzaGFyZC52MS5SZWFkT3B0aW9ucxIsCglhZ2dyZWdhdGUYAyABKAsyGS5ldmVyc2hhcmQudjEuQWdncmVnYXRlSWQSKwoGc3RyZWFtGAQgASgLMhsuZXZlcnNoYXJkLnYxLlN0cmVhbU9wdGlvbnMSJwoIYXRfbGVhc3QYBSABKAsyFS5ldmVyc2hhcmQudjEuQXRMZWFzdCKyAQoQU3Vic2NyaWJlUmVxdWVzdBIiCgVxdWVyeRgBIAEoCzITLmV2ZXJzaGFyZC52MS5RdWVyeRISCgVhZnRlchgCIAEoBEgAiAEBEhwKD3BhZ2VfZXZlbnRzX21heBgDIAEoDUgBiAEBEhkKDGhlYXJ0YmVhdF9tcxgEIAEoDUgCiAEBQggKBl9hZnRlckISChBfcGFnZV9ldmVudHNfbWF4Qg8KDV9oZWFydGJlYXRfbXMi9AEKEVN1YnNjcmliZVJlc3BvbnNlEjIKBGtpbmQYASABKA4yJC5ldmVyc2hhcmQudjEuU3Vic2NyaWJlUmVzcG9uc2UuS2luZBIrCgZldmVudHMYAiADKAsyGy5ldmVyc2hhcmQudjEuUmVjb3JkZWRFdmVudBIRCgl3YXRlcm1hcmsYAyABKAQiawoES2luZBIUChBLSU5EX1VOU1BFQ0lGSUVEEAASDwoLS0lORF9FVkVOVFMQARISCg5LSU5EX0NBVUdIVF9VUBACEhQKEEtJTkRfRkVMTF9CRUhJTkQQAxISCg5LSU5EX0hFQVJUQkVBVBAEIjYKC0hlYWRSZXF1ZXN0EicKCGF0X2xlYXN0GAEgASgLMhUuZXZlcnNoYXJkLnYxLkF0TGVhc3QiIQoMSGVhZFJlc3BvbnNlEhEKCXdhdGVybWFyaxgBIAEoBCJMCg9HZXRFdmVudFJlcXVlc3QSEAoIcG9zaXRpb24YASABKAQSJwoIYXRfbGVhc3QYAiABKAsyFS5ldmVyc2hhcmQudjEuQXRMZWFzdCJ0Cg1BZ2dyZWdhdGVJbmZvEiwKCWFnZ3JlZ2F0ZRgBIAEoCzIZLmV2ZXJzaGFyZC52MS5BZ2dyZWdhdGVJZBIPCgd2ZXJzaW9uGAIgASgEEhUKDWxhc3RfcG9zaXRpb24YAyABKAQSDQoFc2hhcmQYBCABKA0iigEKE0dldEFnZ3JlZ2F0ZVJlcXVlc3QSLAoJYWdncmVnYXRlGAEgASgLMhkuZXZlcnNoYXJkLnYxLkFnZ3JlZ2F0ZUlkEhIKBXVwX3RvGAIgASgESACIAQESJwoIYXRfbGVhc3QYAyABKAsyFS5ldmVyc2hhcmQudjEuQXRMZWFzdEIICgZfdXBfdG8ipAEKFUxpc3RBZ2dyZWdhdGVzUmVxdWVzdBIRCgR0eXBlGAEgASgJSACIAQESKAoFYWZ0ZXIYAiABKAsyGS5ldmVyc2hhcmQudjEuQWdncmVnYXRlSWQSEgoFbGltaXQYAyABKA1IAYgBARInCghhdF9sZWFzdBgEIAEoCzIVLmV2ZXJzaGFyZC52MS5BdExlYXN0QgcKBV90eXBlQggKBl9saW1pdCJJChZMaXN0QWdncmVnYXRlc1Jlc3BvbnNlEi8KCmFnZ3JlZ2F0ZXMYASADKAsyGy5ldmVyc2hhcmQudjEuQWdncmVnYXRlSW5mbyLGAQoPR2V0U3RhdGVSZXF1ZXN0EiwKCWFnZ3JlZ2F0ZRgBIAEoCzIZLmV2ZXJzaGFyZC52MS5BZ2dyZWdhdGVJZBIUCgd2ZXJzaW9uGAIgASgESACIAQESEgoFdXBfdG8YAyABKARIAYgBARISCgVsaW1pdBgEIAEoBEgCiAEBEicKCGF0X2xlYXN0GAUgASgLMhUuZXZlcnNoYXJkLnYxLkF0TGVhc3RCCgoIX3ZlcnNpb25CCAoGX3VwX3RvQggKBl9saW1pdCIgChBHZXRTdGF0ZVJlc3BvbnNlEgwKBGpzb24YASABKAkiFQoTUHV0U25hcHNob3RSZXNwb25zZSK1AQoSR2V0U25hcHNob3RSZXF1ZXN0EiwKCWFnZ3JlZ2F0ZRgBIAEoCzIZLmV2ZXJzaGFyZC52MS5BZ2dyZWdhdGVJZBIZCgxhdF9vcl9iZWZvcmUYAiABKARIAIgBARISCgV1cF90bxgDIAEoBEgBiAEBEicKCGF0X2xlYXN0GAQgASgLMhUuZXZlcnNoYXJkLnYxLkF0TGVhc3RCDwoNX2F0X29yX2JlZm9yZUIICgZfdXBfdG8iRwoTR2V0U25hcHNob3RSZXNwb25zZRIwCghzbmFwc2hvdBgBIAEoCzIeLmV2ZXJzaGFyZC52MS5SZWNvcmRlZFNuYXBzaG90Im0KFExpc3RTbmFwc2hvdHNSZXF1ZXN0EiwKCWFnZ3JlZ2F0ZRgBIAEoCzIZLmV2ZXJzaGFyZC52MS5BZ2dyZWdhdGVJZBInCghhdF9sZWFzdBgCIAEoCzIVLmV2ZXJzaGFyZC52MS5BdExlYXN0IkoKFUxpc3RTbmFwc2hvdHNSZXNwb25zZRIxCglzbmFwc2hvdHMYASADKAsyHi5ldmVyc2hhcmQudjEuUmVjb3JkZWRTbmFwc2hvdCIRCg9HZXRUeXBlc1JlcXVlc3QiIQoQR2V0VHlwZXNSZXNwb25zZRINCgV0eXBlcxgBIAEoDCIQCg5NZW1iZXJzUmVxdWVzdCLcAQoPTWVtYmVyc1Jlc3BvbnNlEhAKCHN0b3JlX2lkGAEgASgJEg8KB2ZvcmtfaWQYAiABKAkSDgoGc2hhcmRzGAMgASgNEgwKBGhhc2gYBCABKA0SDAoEaGVyZRgFIAEoDRIzCgdtZW1iZXJzGAYgAygLMiIuZXZlcnNoYXJkLnYxLk1lbWJlcnNSZXNwb25zZS5Ob2RlEg4KBm93bmVycxgHIAMoDRIOCgZlcG9jaHMYCCADKAQaJQoETm9kZRIMCgRub2RlGAEgASgNEg8KB2FkZHJlc3MYAiABKAkiDgoMU3RhdHNSZXF1ZXN0Ip0DCg1TdGF0c1Jlc3BvbnNlEhAKCHN0b3JlX2lkGAEgASgJEg4KBnNoYXJkcxgCIAEoDRIOCgZmb3JtYXQYAyABKA0SDAoEaGFzaBgEIAEoDRIVCg1jcmVhdGVkX2F0X3VzGAUgASgDEhEKCXdhdGVybWFyaxgGIAEoBBIOCgZzZWFsZWQYByABKAQSEwoLdGFpbF9ldmVudHMYCCABKAQSDwoHY29tbWl0cxgJIAEoBBIPCgdhcHBlbmRzGAogASgEEg8KB3JlZnVzZWQYCyABKAQSEgoKZGlza19ieXRlcxgMIAEoBBIXCg9kaXNrX2ZyZWVfYnl0ZXMYDSABKAQSFAoMbWVtb3J5X2J5dGVzGA4gASgEEhoKEmJhY2tlbmRfYXNzZXJ0aW9ucxgPIAEoCBIzCgdkZXRhaWxzGBAgAygLMiIuZXZlcnNoYXJkLnYxLlN0YXRzUmVzcG9uc2UuRGV0YWlsEg8KB2ZvcmtfaWQYESABKAkaJQoGRGV0YWlsEgwKBG5hbWUYASABKAkSDQoFdmFsdWUYAiABKAQiDgoMRmx1c2hSZXF1ZXN0Ig8KDUZsdXNoUmVzcG9uc2UiKwoMV29ya1Byb2dyZXNzEgwKBGRvbmUYASABKAQSDQoFdG90YWwYAiABKAQiDwoNVmVyaWZ5UmVxdWVzdCJqCg5WZXJpZnlSZXNwb25zZRIsCghwcm9ncmVzcxgBIAEoCzIaLmV2ZXJzaGFyZC52MS5Xb3JrUHJvZ3Jlc3MSKgoGcmVwb3J0GAIgASgLMhouZXZlcnNoYXJkLnYxLlZlcmlmeVJlcG9ydCJ4CgxWZXJpZnlSZXBvcnQSDgoGZXZlbnRzGAEgASgEEg8KB3JlY29yZHMYAiABKAQSEgoKaW5kZXhfcm93cxgDIAEoBBIRCglzbmFwc2hvdHMYBCABKAQSDgoGZXJyb3JzGAUgASgEEhAKCGZpbmRpbmdzGAYgAygJIg8KDVZhY3V1bVJlcXVlc3QiPgoOVmFjdXVtUmVzcG9uc2USLAoIcHJvZ3Jlc3MYASABKAsyGi5ldmVyc2hhcmQudjEuV29ya1Byb2dyZXNzIlEKDUJhY2t1cFJlcXVlc3QSDgoGdGFyZ2V0GAEgASgJEhIKCnRydXRoX29ubHkYAiABKAgSEgoFdXBfdG8YAyABKARIAIgBAUIICgZfdXBfdG8iTQoOQmFja3VwUmVzcG9uc2USLAoIcHJvZ3Jlc3MYASABKAsyGi5ldmVyc2hhcmQudjEuV29ya1Byb2dyZXNzEg0KBXVwX3RvGAIgASgEIhYKFENsdXN0ZXJTdGF0dXNSZXF1ZXN0IsQEChVDbHVzdGVyU3RhdHVzUmVzcG9uc2USDAoEc2VsZhgBIAEoDRIPCgdhcHBsaWVkGAIgASgEEg8KB3Ryb3VibGUYAyABKAkSEwoLY29vcmRpbmF0b3IYBCABKAQSEAoIbGFzdF9jdXQYBSABKAQSEQoJd2F0ZXJtYXJrGAYgASgEEhcKD2N1dHNfcGVyX3NlY29uZBgHIAEoBBI3CgVub2RlcxgIIAMoCzIoLmV2ZXJzaGFyZC52MS5DbHVzdGVyU3RhdHVzUmVzcG9uc2UuTm9kZRI5CgZzaGFyZHMYCSADKAsyKS5ldmVyc2hhcmQudjEuQ2x1c3RlclN0YXR1c1Jlc3BvbnNlLlNoYXJkGrUBCgROb2RlEgwKBG5vZGUYASABKA0SDwoHYWRkcmVzcxgCIAEoCRIMCgRkb29yGAMgASgJEgoKAnVwGAQgASgIEhAKCHNpbmNlX3VzGAUgASgSEg8KB3ZlcnNpb24YBiABKAkSDgoGc2hhcmRzGAcgASgNEg8KB2FwcGxpZWQYCCABKAQSDgoGYmVoaW5kGAkgASgEEg8KB3JlZnVzZWQYCiABKA0SDwoHZ2F0ZXdheRgLIAEoCBp8CgVTaGFyZBIMCgRub2RlGAEgASgNEg0KBWVwb2NoGAIgASgEEgwKBG9wZW4YAyABKAgSDwoHZHVyYWJsZRgEIAEoBBIPCgdvcmRlcmVkGAUgASgEEhUKDWxhc3RfcG9zaXRpb24YBiABKAQSDwoHdHJvdWJsZRgHIAEoCSJKCglTaGFyZExvc3MSDQoFc2hhcmQYASABKA0SDAoEZnJvbRgCIAEoBBINCgV1bnRpbBgDIAEoBBIRCgl1bm9yZGVyZWQYBCABKAQiXwoUQ2x1c3RlckFzc2lnblJlcXVlc3QSDAoEbm9kZRgBIAEoDRIOCgZzaGFyZHMYAiADKA0SKQoIYWNjZXB0ZWQYAyADKAsyFy5ldmVyc2hhcmQudjEuU2hhcmRMb3NzIk4KFUNsdXN0ZXJBc3NpZ25SZXNwb25zZRIMCgRkb25lGAEgASgIEicKBmxvc3NlcxgCIAMoCzIXLmV2ZXJzaGFyZC52MS5TaGFyZExvc3MysAgKCkV2ZW50U3RvcmUSQwoGQXBwZW5kEhsuZXZlcnNoYXJkLnYxLkFwcGVuZFJlcXVlc3QaHC5ldmVyc2hhcmQudjEuQXBwZW5kUmVzcG9uc2USSgoKQXBwZW5kTWFueRIbLmV2ZXJzaGFyZC52MS5BcHBlbmRSZXF1ZXN0GhsuZXZlcnNoYXJkLnYxLkFwcGVuZE91dGNvbWUoATABEjcKBFJlYWQSGS5ldmVyc2hhcmQudjEuUmVhZFJlcXVlc3QaEi5ldmVyc2hhcmQudjEuUGFnZTABEk4KCVN1YnNjcmliZRIeLmV2ZXJzaGFyZC52MS5TdWJzY3JpYmVSZXF1ZXN0Gh8uZXZlcnNoYXJkLnYxLlN1YnNjcmliZVJlc3BvbnNlMAESPQoESGVhZBIZLmV2ZXJzaGFyZC52MS5IZWFkUmVxdWVzdBoaLmV2ZXJzaGFyZC52MS5IZWFkUmVzcG9uc2USRgoIR2V0RXZlbnQSHS5ldmVyc2hhcmQudjEuR2V0RXZlbnRSZXF1ZXN0GhsuZXZlcnNoYXJkLnYxLlJlY29yZGVkRXZlbnQSTgoMR2V0QWdncmVnYXRlEiEuZXZlcnNoYXJkLnYxLkdldEFnZ3JlZ2F0ZVJlcXVlc3QaGy5ldmVyc2hhcmQudjEuQWdncmVnYXRlSW5mbxJbCg5MaXN0QWdncmVnYXRlcxIjLmV2ZXJzaGFyZC52MS5MaXN0QWdncmVnYXRlc1JlcXVlc3QaJC5ldmVyc2hhcmQudjEuTGlzdEFnZ3JlZ2F0ZXNSZXNwb25zZRJJCghHZXRTdGF0ZRIdLmV2ZXJzaGFyZC52MS5HZXRTdGF0ZVJlcXVlc3QaHi5ldmVyc2hhcmQudjEuR2V0U3RhdGVSZXNwb25zZRJICgtQdXRTbmFwc2hvdBIWLmV2ZXJzaGFyZC52MS5TbmFwc2hvdBohLmV2ZXJzaGFyZC52MS5QdXRTbmFwc2hvdFJlc3BvbnNlElIKC0dldFNuYXBzaG90EiAuZXZlcnNoYXJkLnYxLkdldFNuYXBzaG90UmVxdWVzdBohLmV2ZXJzaGFyZC52MS5HZXRTbmFwc2hvdFJlc3BvbnNlElgKDUxpc3RTbmFwc2hvdHMSIi5ldmVyc2hhcmQudjEuTGlzdFNuYXBzaG90c1JlcXVlc3QaIy5ldmVyc2hhcmQudjEuTGlzdFNuYXBzaG90c1Jlc3BvbnNlEkkKCEdldFR5cGVzEh0uZXZlcnNoYXJkLnYxLkdldFR5cGVzUmVxdWVzdBoeLmV2ZXJzaGFyZC52MS5HZXRUeXBlc1Jlc3BvbnNlEkYKB01lbWJlcnMSHC5ldmVyc2hhcmQudjEuTWVtYmVyc1JlcXVlc3QaHS5ldmVyc2hhcmQudjEuTWVtYmVyc1Jlc3BvbnNlMp0ECg5BZG1pbmlzdHJhdGlvbhJACgVTdGF0cxIaLmV2ZXJzaGFyZC52MS5TdGF0c1JlcXVlc3QaGy5ldmVyc2hhcmQudjEuU3RhdHNSZXNwb25zZRJACgVGbHVzaBIaLmV2ZXJzaGFyZC52MS5GbHVzaFJlcXVlc3QaGy5ldmVyc2hhcmQudjEuRmx1c2hSZXNwb25zZRJFCgZWZXJpZnkSGy5ldmVyc2hhcmQudjEuVmVyaWZ5UmVxdWVzdBocLmV2ZXJzaGFyZC52MS5WZXJpZnlSZXNwb25zZTABEkUKBlZhY3V1bRIbLmV2ZXJzaGFyZC52MS5WYWN1dW1SZXF1ZXN0GhwuZXZlcnNoYXJkLnYxLlZhY3V1bVJlc3BvbnNlMAESRQoGQmFja3VwEhsuZXZlcnNoYXJkLnYxLkJhY2t1cFJlcXVlc3QaHC5ldmVyc2hhcmQudjEuQmFja3VwUmVzcG9uc2UwARJYCg1DbHVzdGVyU3RhdHVzEiIuZXZlcnNoYXJkLnYxLkNsdXN0ZXJTdGF0dXNSZXF1ZXN0GiMuZXZlcnNoYXJkLnYxLkNsdXN0ZXJTdGF0dXNSZXNwb25zZRJYCg1DbHVzdGVyQXNzaWduEiIuZXZlcnNoYXJkLnYxLkNsdXN0ZXJBc3NpZ25SZXF1ZXN0GiMuZXZlcnNoYXJkLnYxLkNsdXN0ZXJBc3NpZ25SZXNwb25zZWIGcHJvdG8z", [file_evershard_v1_event, file_evershard_v1_store]);
/**
 * Describes the message evershard.v1.AtLeast.
 * Use `create(AtLeastSchema)` to create a new message.
 */
export const AtLeastSchema = /*@__PURE__*/ messageDesc(file_evershard_v1_service, 0);
/**
 * Describes the message evershard.v1.AppendOutcome.
 * Use `create(AppendOutcomeSchema)` to create a new message.
 */
export const AppendOutcomeSchema = /*@__PURE__*/ messageDesc(file_evershard_v1_service, 1);
/**
 * Describes the message evershard.v1.ReadRequest.
 * Use `create(ReadRequestSchema)` to create a new message.
 */
export const ReadRequestSchema = /*@__PURE__*/ messageDesc(file_evershard_v1_service, 2);
/**
 * Describes the message evershard.v1.SubscribeRequest.
 * Use `create(SubscribeRequestSchema)` to create a new message.
 */
export const SubscribeRequestSchema = /*@__PURE__*/ messageDesc(file_evershard_v1_service, 3);
/**
 * Describes the message evershard.v1.SubscribeResponse.
 * Use `create(SubscribeResponseSchema)` to create a new message.
 */
export const SubscribeResponseSchema = /*@__PURE__*/ messageDesc(file_evershard_v1_service, 4);
/**
 * @generated from enum evershard.v1.SubscribeResponse.Kind
 */
export var SubscribeResponse_Kind;
(function (SubscribeResponse_Kind) {
    /**
     * @generated from enum value: KIND_UNSPECIFIED = 0;
     */
    SubscribeResponse_Kind[SubscribeResponse_Kind["UNSPECIFIED"] = 0] = "UNSPECIFIED";
    /**
     * @generated from enum value: KIND_EVENTS = 1;
     */
    SubscribeResponse_Kind[SubscribeResponse_Kind["EVENTS"] = 1] = "EVENTS";
    /**
     * everything up to `watermark` was given; from now on events come as they are appended
     *
     * @generated from enum value: KIND_CAUGHT_UP = 2;
     */
    SubscribeResponse_Kind[SubscribeResponse_Kind["CAUGHT_UP"] = 2] = "CAUGHT_UP";
    /**
     * more than a page is waiting
     *
     * @generated from enum value: KIND_FELL_BEHIND = 3;
     */
    SubscribeResponse_Kind[SubscribeResponse_Kind["FELL_BEHIND"] = 3] = "FELL_BEHIND";
    /**
     * nothing new
     *
     * @generated from enum value: KIND_HEARTBEAT = 4;
     */
    SubscribeResponse_Kind[SubscribeResponse_Kind["HEARTBEAT"] = 4] = "HEARTBEAT";
})(SubscribeResponse_Kind || (SubscribeResponse_Kind = {}));
/**
 * Describes the enum evershard.v1.SubscribeResponse.Kind.
 */
export const SubscribeResponse_KindSchema = /*@__PURE__*/ enumDesc(file_evershard_v1_service, 4, 0);
/**
 * Describes the message evershard.v1.HeadRequest.
 * Use `create(HeadRequestSchema)` to create a new message.
 */
export const HeadRequestSchema = /*@__PURE__*/ messageDesc(file_evershard_v1_service, 5);
/**
 * Describes the message evershard.v1.HeadResponse.
 * Use `create(HeadResponseSchema)` to create a new message.
 */
export const HeadResponseSchema = /*@__PURE__*/ messageDesc(file_evershard_v1_service, 6);
/**
 * Describes the message evershard.v1.GetEventRequest.
 * Use `create(GetEventRequestSchema)` to create a new message.
 */
export const GetEventRequestSchema = /*@__PURE__*/ messageDesc(file_evershard_v1_service, 7);
/**
 * Describes the message evershard.v1.AggregateInfo.
 * Use `create(AggregateInfoSchema)` to create a new message.
 */
export const AggregateInfoSchema = /*@__PURE__*/ messageDesc(file_evershard_v1_service, 8);
/**
 * Describes the message evershard.v1.GetAggregateRequest.
 * Use `create(GetAggregateRequestSchema)` to create a new message.
 */
export const GetAggregateRequestSchema = /*@__PURE__*/ messageDesc(file_evershard_v1_service, 9);
/**
 * Describes the message evershard.v1.ListAggregatesRequest.
 * Use `create(ListAggregatesRequestSchema)` to create a new message.
 */
export const ListAggregatesRequestSchema = /*@__PURE__*/ messageDesc(file_evershard_v1_service, 10);
/**
 * Describes the message evershard.v1.ListAggregatesResponse.
 * Use `create(ListAggregatesResponseSchema)` to create a new message.
 */
export const ListAggregatesResponseSchema = /*@__PURE__*/ messageDesc(file_evershard_v1_service, 11);
/**
 * Describes the message evershard.v1.GetStateRequest.
 * Use `create(GetStateRequestSchema)` to create a new message.
 */
export const GetStateRequestSchema = /*@__PURE__*/ messageDesc(file_evershard_v1_service, 12);
/**
 * Describes the message evershard.v1.GetStateResponse.
 * Use `create(GetStateResponseSchema)` to create a new message.
 */
export const GetStateResponseSchema = /*@__PURE__*/ messageDesc(file_evershard_v1_service, 13);
/**
 * Describes the message evershard.v1.PutSnapshotResponse.
 * Use `create(PutSnapshotResponseSchema)` to create a new message.
 */
export const PutSnapshotResponseSchema = /*@__PURE__*/ messageDesc(file_evershard_v1_service, 14);
/**
 * Describes the message evershard.v1.GetSnapshotRequest.
 * Use `create(GetSnapshotRequestSchema)` to create a new message.
 */
export const GetSnapshotRequestSchema = /*@__PURE__*/ messageDesc(file_evershard_v1_service, 15);
/**
 * Describes the message evershard.v1.GetSnapshotResponse.
 * Use `create(GetSnapshotResponseSchema)` to create a new message.
 */
export const GetSnapshotResponseSchema = /*@__PURE__*/ messageDesc(file_evershard_v1_service, 16);
/**
 * Describes the message evershard.v1.ListSnapshotsRequest.
 * Use `create(ListSnapshotsRequestSchema)` to create a new message.
 */
export const ListSnapshotsRequestSchema = /*@__PURE__*/ messageDesc(file_evershard_v1_service, 17);
/**
 * Describes the message evershard.v1.ListSnapshotsResponse.
 * Use `create(ListSnapshotsResponseSchema)` to create a new message.
 */
export const ListSnapshotsResponseSchema = /*@__PURE__*/ messageDesc(file_evershard_v1_service, 18);
/**
 * Describes the message evershard.v1.GetTypesRequest.
 * Use `create(GetTypesRequestSchema)` to create a new message.
 */
export const GetTypesRequestSchema = /*@__PURE__*/ messageDesc(file_evershard_v1_service, 19);
/**
 * Describes the message evershard.v1.GetTypesResponse.
 * Use `create(GetTypesResponseSchema)` to create a new message.
 */
export const GetTypesResponseSchema = /*@__PURE__*/ messageDesc(file_evershard_v1_service, 20);
/**
 * Describes the message evershard.v1.MembersRequest.
 * Use `create(MembersRequestSchema)` to create a new message.
 */
export const MembersRequestSchema = /*@__PURE__*/ messageDesc(file_evershard_v1_service, 21);
/**
 * Describes the message evershard.v1.MembersResponse.
 * Use `create(MembersResponseSchema)` to create a new message.
 */
export const MembersResponseSchema = /*@__PURE__*/ messageDesc(file_evershard_v1_service, 22);
/**
 * Describes the message evershard.v1.MembersResponse.Node.
 * Use `create(MembersResponse_NodeSchema)` to create a new message.
 */
export const MembersResponse_NodeSchema = /*@__PURE__*/ messageDesc(file_evershard_v1_service, 22, 0);
/**
 * Describes the message evershard.v1.StatsRequest.
 * Use `create(StatsRequestSchema)` to create a new message.
 */
export const StatsRequestSchema = /*@__PURE__*/ messageDesc(file_evershard_v1_service, 23);
/**
 * Describes the message evershard.v1.StatsResponse.
 * Use `create(StatsResponseSchema)` to create a new message.
 */
export const StatsResponseSchema = /*@__PURE__*/ messageDesc(file_evershard_v1_service, 24);
/**
 * Describes the message evershard.v1.StatsResponse.Detail.
 * Use `create(StatsResponse_DetailSchema)` to create a new message.
 */
export const StatsResponse_DetailSchema = /*@__PURE__*/ messageDesc(file_evershard_v1_service, 24, 0);
/**
 * Describes the message evershard.v1.FlushRequest.
 * Use `create(FlushRequestSchema)` to create a new message.
 */
export const FlushRequestSchema = /*@__PURE__*/ messageDesc(file_evershard_v1_service, 25);
/**
 * Describes the message evershard.v1.FlushResponse.
 * Use `create(FlushResponseSchema)` to create a new message.
 */
export const FlushResponseSchema = /*@__PURE__*/ messageDesc(file_evershard_v1_service, 26);
/**
 * Describes the message evershard.v1.WorkProgress.
 * Use `create(WorkProgressSchema)` to create a new message.
 */
export const WorkProgressSchema = /*@__PURE__*/ messageDesc(file_evershard_v1_service, 27);
/**
 * Describes the message evershard.v1.VerifyRequest.
 * Use `create(VerifyRequestSchema)` to create a new message.
 */
export const VerifyRequestSchema = /*@__PURE__*/ messageDesc(file_evershard_v1_service, 28);
/**
 * Describes the message evershard.v1.VerifyResponse.
 * Use `create(VerifyResponseSchema)` to create a new message.
 */
export const VerifyResponseSchema = /*@__PURE__*/ messageDesc(file_evershard_v1_service, 29);
/**
 * Describes the message evershard.v1.VerifyReport.
 * Use `create(VerifyReportSchema)` to create a new message.
 */
export const VerifyReportSchema = /*@__PURE__*/ messageDesc(file_evershard_v1_service, 30);
/**
 * Describes the message evershard.v1.VacuumRequest.
 * Use `create(VacuumRequestSchema)` to create a new message.
 */
export const VacuumRequestSchema = /*@__PURE__*/ messageDesc(file_evershard_v1_service, 31);
/**
 * Describes the message evershard.v1.VacuumResponse.
 * Use `create(VacuumResponseSchema)` to create a new message.
 */
export const VacuumResponseSchema = /*@__PURE__*/ messageDesc(file_evershard_v1_service, 32);
/**
 * Describes the message evershard.v1.BackupRequest.
 * Use `create(BackupRequestSchema)` to create a new message.
 */
export const BackupRequestSchema = /*@__PURE__*/ messageDesc(file_evershard_v1_service, 33);
/**
 * Describes the message evershard.v1.BackupResponse.
 * Use `create(BackupResponseSchema)` to create a new message.
 */
export const BackupResponseSchema = /*@__PURE__*/ messageDesc(file_evershard_v1_service, 34);
/**
 * Describes the message evershard.v1.ClusterStatusRequest.
 * Use `create(ClusterStatusRequestSchema)` to create a new message.
 */
export const ClusterStatusRequestSchema = /*@__PURE__*/ messageDesc(file_evershard_v1_service, 35);
/**
 * Describes the message evershard.v1.ClusterStatusResponse.
 * Use `create(ClusterStatusResponseSchema)` to create a new message.
 */
export const ClusterStatusResponseSchema = /*@__PURE__*/ messageDesc(file_evershard_v1_service, 36);
/**
 * Describes the message evershard.v1.ClusterStatusResponse.Node.
 * Use `create(ClusterStatusResponse_NodeSchema)` to create a new message.
 */
export const ClusterStatusResponse_NodeSchema = /*@__PURE__*/ messageDesc(file_evershard_v1_service, 36, 0);
/**
 * Describes the message evershard.v1.ClusterStatusResponse.Shard.
 * Use `create(ClusterStatusResponse_ShardSchema)` to create a new message.
 */
export const ClusterStatusResponse_ShardSchema = /*@__PURE__*/ messageDesc(file_evershard_v1_service, 36, 1);
/**
 * Describes the message evershard.v1.ShardLoss.
 * Use `create(ShardLossSchema)` to create a new message.
 */
export const ShardLossSchema = /*@__PURE__*/ messageDesc(file_evershard_v1_service, 37);
/**
 * Describes the message evershard.v1.ClusterAssignRequest.
 * Use `create(ClusterAssignRequestSchema)` to create a new message.
 */
export const ClusterAssignRequestSchema = /*@__PURE__*/ messageDesc(file_evershard_v1_service, 38);
/**
 * Describes the message evershard.v1.ClusterAssignResponse.
 * Use `create(ClusterAssignResponseSchema)` to create a new message.
 */
export const ClusterAssignResponseSchema = /*@__PURE__*/ messageDesc(file_evershard_v1_service, 39);
/**
 * @generated from service evershard.v1.EventStore
 */
export const EventStore = /*@__PURE__*/ serviceDesc(file_evershard_v1_service, 0);
/**
 * For operators. All but Stats need the scope `admin`.
 *
 * @generated from service evershard.v1.Administration
 */
export const Administration = /*@__PURE__*/ serviceDesc(file_evershard_v1_service, 1);
