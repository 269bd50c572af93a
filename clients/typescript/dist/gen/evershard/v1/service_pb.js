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
export const file_evershard_v1_service = /*@__PURE__*/ fileDesc("ChpldmVyc2hhcmQvdjEvc2VydmljZS5wcm90bxIMZXZlcnNoYXJkLnYxIkMKB0F0TGVhc3QSEAoIcG9zaXRpb24YASABKAQSFwoKdGltZW91dF9tcxgCIAEoDUgAiAEBQg0KC190aW1lb3V0X21zInQKDUFwcGVuZE91dGNvbWUSMAoIYXBwZW5kZWQYASABKAsyHC5ldmVyc2hhcmQudjEuQXBwZW5kUmVzcG9uc2VIABImCgdyZWZ1c2VkGAIgASgLMhMuZXZlcnNoYXJkLnYxLkVycm9ySABCCQoHb3V0Y29tZSLhAQoLUmVhZFJlcXVlc3QSIgoFcXVlcnkYASABKAsyEy5ldmVyc2hhcmQudjEuUXVlcnkSKgoHb3B0aW9ucxgCIAEoCzIZLmV2ZXJzaGFyZC52MS5SZWFkT3B0aW9ucxIsCglhZ2dyZWdhdGUYAyABKAsyGS5ldmVyc2hhcmQudjEuQWdncmVnYXRlSWQSKwoGc3RyZWFtGAQgASgLMhsuZXZlcnNoYXJkLnYxLlN0cmVhbU9wdGlvbnMSJwoIYXRfbGVhc3QYBSABKAsyFS5ldmVyc2hhcmQudjEuQXRMZWFzdCKyAQoQU3Vic2NyaWJlUmVxdWVzdBIiCgVxdWVyeRgBIAEoCzITLmV2ZXJzaGFyZC52MS5RdWVyeRISCgVhZnRlchgCIAEoBEgAiAEBEhwKD3BhZ2VfZXZlbnRzX21heBgDIAEoDUgBiAEBEhkKDGhlYXJ0YmVhdF9tcxgEIAEoDUgCiAEBQggKBl9hZnRlckISChBfcGFnZV9ldmVudHNfbWF4Qg8KDV9oZWFydGJlYXRfbXMi9AEKEVN1YnNjcmliZVJlc3BvbnNlEjIKBGtpbmQYASABKA4yJC5ldmVyc2hhcmQudjEuU3Vic2NyaWJlUmVzcG9uc2UuS2luZBIrCgZldmVudHMYAiADKAsyGy5ldmVyc2hhcmQudjEuUmVjb3JkZWRFdmVudBIRCgl3YXRlcm1hcmsYAyABKAQiawoES2luZBIUChBLSU5EX1VOU1BFQ0lGSUVEEAASDwoLS0lORF9FVkVOVFMQARISCg5LSU5EX0NBVUdIVF9VUBACEhQKEEtJTkRfRkVMTF9CRUhJTkQQAxISCg5LSU5EX0hFQVJUQkVBVBAEIjYKC0hlYWRSZXF1ZXN0EicKCGF0X2xlYXN0GAEgASgLMhUuZXZlcnNoYXJkLnYxLkF0TGVhc3QiIQoMSGVhZFJlc3BvbnNlEhEKCXdhdGVybWFyaxgBIAEoBCJMCg9HZXRFdmVudFJlcXVlc3QSEAoIcG9zaXRpb24YASABKAQSJwoIYXRfbGVhc3QYAiABKAsyFS5ldmVyc2hhcmQudjEuQXRMZWFzdCJ0Cg1BZ2dyZWdhdGVJbmZvEiwKCWFnZ3JlZ2F0ZRgBIAEoCzIZLmV2ZXJzaGFyZC52MS5BZ2dyZWdhdGVJZBIPCgd2ZXJzaW9uGAIgASgEEhUKDWxhc3RfcG9zaXRpb24YAyABKAQSDQoFc2hhcmQYBCABKA0iigEKE0dldEFnZ3JlZ2F0ZVJlcXVlc3QSLAoJYWdncmVnYXRlGAEgASgLMhkuZXZlcnNoYXJkLnYxLkFnZ3JlZ2F0ZUlkEhIKBXVwX3RvGAIgASgESACIAQESJwoIYXRfbGVhc3QYAyABKAsyFS5ldmVyc2hhcmQudjEuQXRMZWFzdEIICgZfdXBfdG8ipAEKFUxpc3RBZ2dyZWdhdGVzUmVxdWVzdBIRCgR0eXBlGAEgASgJSACIAQESKAoFYWZ0ZXIYAiABKAsyGS5ldmVyc2hhcmQudjEuQWdncmVnYXRlSWQSEgoFbGltaXQYAyABKA1IAYgBARInCghhdF9sZWFzdBgEIAEoCzIVLmV2ZXJzaGFyZC52MS5BdExlYXN0QgcKBV90eXBlQggKBl9saW1pdCJJChZMaXN0QWdncmVnYXRlc1Jlc3BvbnNlEi8KCmFnZ3JlZ2F0ZXMYASADKAsyGy5ldmVyc2hhcmQudjEuQWdncmVnYXRlSW5mbyLGAQoPR2V0U3RhdGVSZXF1ZXN0EiwKCWFnZ3JlZ2F0ZRgBIAEoCzIZLmV2ZXJzaGFyZC52MS5BZ2dyZWdhdGVJZBIUCgd2ZXJzaW9uGAIgASgESACIAQESEgoFdXBfdG8YAyABKARIAYgBARISCgVsaW1pdBgEIAEoBEgCiAEBEicKCGF0X2xlYXN0GAUgASgLMhUuZXZlcnNoYXJkLnYxLkF0TGVhc3RCCgoIX3ZlcnNpb25CCAoGX3VwX3RvQggKBl9saW1pdCIgChBHZXRTdGF0ZVJlc3BvbnNlEgwKBGpzb24YASABKAkiFQoTUHV0U25hcHNob3RSZXNwb25zZSK1AQoSR2V0U25hcHNob3RSZXF1ZXN0EiwKCWFnZ3JlZ2F0ZRgBIAEoCzIZLmV2ZXJzaGFyZC52MS5BZ2dyZWdhdGVJZBIZCgxhdF9vcl9iZWZvcmUYAiABKARIAIgBARISCgV1cF90bxgDIAEoBEgBiAEBEicKCGF0X2xlYXN0GAQgASgLMhUuZXZlcnNoYXJkLnYxLkF0TGVhc3RCDwoNX2F0X29yX2JlZm9yZUIICgZfdXBfdG8iRwoTR2V0U25hcHNob3RSZXNwb25zZRIwCghzbmFwc2hvdBgBIAEoCzIeLmV2ZXJzaGFyZC52MS5SZWNvcmRlZFNuYXBzaG90Im0KFExpc3RTbmFwc2hvdHNSZXF1ZXN0EiwKCWFnZ3JlZ2F0ZRgBIAEoCzIZLmV2ZXJzaGFyZC52MS5BZ2dyZWdhdGVJZBInCghhdF9sZWFzdBgCIAEoCzIVLmV2ZXJzaGFyZC52MS5BdExlYXN0IkoKFUxpc3RTbmFwc2hvdHNSZXNwb25zZRIxCglzbmFwc2hvdHMYASADKAsyHi5ldmVyc2hhcmQudjEuUmVjb3JkZWRTbmFwc2hvdCIRCg9HZXRUeXBlc1JlcXVlc3QiIQoQR2V0VHlwZXNSZXNwb25zZRINCgV0eXBlcxgBIAEoDCIQCg5NZW1iZXJzUmVxdWVzdCLcAQoPTWVtYmVyc1Jlc3BvbnNlEhAKCHN0b3JlX2lkGAEgASgJEg8KB2ZvcmtfaWQYAiABKAkSDgoGc2hhcmRzGAMgASgNEgwKBGhhc2gYBCABKA0SDAoEaGVyZRgFIAEoDRIzCgdtZW1iZXJzGAYgAygLMiIuZXZlcnNoYXJkLnYxLk1lbWJlcnNSZXNwb25zZS5Ob2RlEg4KBm93bmVycxgHIAMoDRIOCgZlcG9jaHMYCCADKAQaJQoETm9kZRIMCgRub2RlGAEgASgNEg8KB2FkZHJlc3MYAiABKAkiDgoMU3RhdHNSZXF1ZXN0Ip0DCg1TdGF0c1Jlc3BvbnNlEhAKCHN0b3JlX2lkGAEgASgJEg4KBnNoYXJkcxgCIAEoDRIOCgZmb3JtYXQYAyABKA0SDAoEaGFzaBgEIAEoDRIVCg1jcmVhdGVkX2F0X3VzGAUgASgDEhEKCXdhdGVybWFyaxgGIAEoBBIOCgZzZWFsZWQYByABKAQSEwoLdGFpbF9ldmVudHMYCCABKAQSDwoHY29tbWl0cxgJIAEoBBIPCgdhcHBlbmRzGAogASgEEg8KB3JlZnVzZWQYCyABKAQSEgoKZGlza19ieXRlcxgMIAEoBBIXCg9kaXNrX2ZyZWVfYnl0ZXMYDSABKAQSFAoMbWVtb3J5X2J5dGVzGA4gASgEEhoKEmJhY2tlbmRfYXNzZXJ0aW9ucxgPIAEoCBIzCgdkZXRhaWxzGBAgAygLMiIuZXZlcnNoYXJkLnYxLlN0YXRzUmVzcG9uc2UuRGV0YWlsEg8KB2ZvcmtfaWQYESABKAkaJQoGRGV0YWlsEgwKBG5hbWUYASABKAkSDQoFdmFsdWUYAiABKAQiDgoMRmx1c2hSZXF1ZXN0Ig8KDUZsdXNoUmVzcG9uc2UiKwoMV29ya1Byb2dyZXNzEgwKBGRvbmUYASABKAQSDQoFdG90YWwYAiABKAQiDwoNVmVyaWZ5UmVxdWVzdCJqCg5WZXJpZnlSZXNwb25zZRIsCghwcm9ncmVzcxgBIAEoCzIaLmV2ZXJzaGFyZC52MS5Xb3JrUHJvZ3Jlc3MSKgoGcmVwb3J0GAIgASgLMhouZXZlcnNoYXJkLnYxLlZlcmlmeVJlcG9ydCJ4CgxWZXJpZnlSZXBvcnQSDgoGZXZlbnRzGAEgASgEEg8KB3JlY29yZHMYAiABKAQSEgoKaW5kZXhfcm93cxgDIAEoBBIRCglzbmFwc2hvdHMYBCABKAQSDgoGZXJyb3JzGAUgASgEEhAKCGZpbmRpbmdzGAYgAygJIg8KDVZhY3V1bVJlcXVlc3QiPgoOVmFjdXVtUmVzcG9uc2USLAoIcHJvZ3Jlc3MYASABKAsyGi5ldmVyc2hhcmQudjEuV29ya1Byb2dyZXNzIlEKDUJhY2t1cFJlcXVlc3QSDgoGdGFyZ2V0GAEgASgJEhIKCnRydXRoX29ubHkYAiABKAgSEgoFdXBfdG8YAyABKARIAIgBAUIICgZfdXBfdG8iTQoOQmFja3VwUmVzcG9uc2USLAoIcHJvZ3Jlc3MYASABKAsyGi5ldmVyc2hhcmQudjEuV29ya1Byb2dyZXNzEg0KBXVwX3RvGAIgASgEIhYKFENsdXN0ZXJTdGF0dXNSZXF1ZXN0IrMEChVDbHVzdGVyU3RhdHVzUmVzcG9uc2USDAoEc2VsZhgBIAEoDRIPCgdhcHBsaWVkGAIgASgEEg8KB3Ryb3VibGUYAyABKAkSEwoLY29vcmRpbmF0b3IYBCABKAQSEAoIbGFzdF9jdXQYBSABKAQSEQoJd2F0ZXJtYXJrGAYgASgEEhcKD2N1dHNfcGVyX3NlY29uZBgHIAEoBBI3CgVub2RlcxgIIAMoCzIoLmV2ZXJzaGFyZC52MS5DbHVzdGVyU3RhdHVzUmVzcG9uc2UuTm9kZRI5CgZzaGFyZHMYCSADKAsyKS5ldmVyc2hhcmQudjEuQ2x1c3RlclN0YXR1c1Jlc3BvbnNlLlNoYXJkGqQBCgROb2RlEgwKBG5vZGUYASABKA0SDwoHYWRkcmVzcxgCIAEoCRIMCgRkb29yGAMgASgJEgoKAnVwGAQgASgIEhAKCHNpbmNlX3VzGAUgASgSEg8KB3ZlcnNpb24YBiABKAkSDgoGc2hhcmRzGAcgASgNEg8KB2FwcGxpZWQYCCABKAQSDgoGYmVoaW5kGAkgASgEEg8KB3JlZnVzZWQYCiABKA0afAoFU2hhcmQSDAoEbm9kZRgBIAEoDRINCgVlcG9jaBgCIAEoBBIMCgRvcGVuGAMgASgIEg8KB2R1cmFibGUYBCABKAQSDwoHb3JkZXJlZBgFIAEoBBIVCg1sYXN0X3Bvc2l0aW9uGAYgASgEEg8KB3Ryb3VibGUYByABKAkiSgoJU2hhcmRMb3NzEg0KBXNoYXJkGAEgASgNEgwKBGZyb20YAiABKAQSDQoFdW50aWwYAyABKAQSEQoJdW5vcmRlcmVkGAQgASgEIl8KFENsdXN0ZXJBc3NpZ25SZXF1ZXN0EgwKBG5vZGUYASABKA0SDgoGc2hhcmRzGAIgAygNEikKCGFjY2VwdGVkGAMgAygLMhcuZXZlcnNoYXJkLnYxLlNoYXJkTG9zcyJOChVDbHVzdGVyQXNzaWduUmVzcG9uc2USDAoEZG9uZRgBIAEoCBInCgZsb3NzZXMYAiADKAsyFy5ldmVyc2hhcmQudjEuU2hhcmRMb3NzMrAICgpFdmVudFN0b3JlEkMKBkFwcGVuZBIbLmV2ZXJzaGFyZC52MS5BcHBlbmRSZXF1ZXN0GhwuZXZlcnNoYXJkLnYxLkFwcGVuZFJlc3BvbnNlEkoKCkFwcGVuZE1hbnkSGy5ldmVyc2hhcmQudjEuQXBwZW5kUmVxdWVzdBobLmV2ZXJzaGFyZC52MS5BcHBlbmRPdXRjb21lKAEwARI3CgRSZWFkEhkuZXZlcnNoYXJkLnYxLlJlYWRSZXF1ZXN0GhIuZXZlcnNoYXJkLnYxLlBhZ2UwARJOCglTdWJzY3JpYmUSHi5ldmVyc2hhcmQudjEuU3Vic2NyaWJlUmVxdWVzdBofLmV2ZXJzaGFyZC52MS5TdWJzY3JpYmVSZXNwb25zZTABEj0KBEhlYWQSGS5ldmVyc2hhcmQudjEuSGVhZFJlcXVlc3QaGi5ldmVyc2hhcmQudjEuSGVhZFJlc3BvbnNlEkYKCEdldEV2ZW50Eh0uZXZlcnNoYXJkLnYxLkdldEV2ZW50UmVxdWVzdBobLmV2ZXJzaGFyZC52MS5SZWNvcmRlZEV2ZW50Ek4KDEdldEFnZ3JlZ2F0ZRIhLmV2ZXJzaGFyZC52MS5HZXRBZ2dyZWdhdGVSZXF1ZXN0GhsuZXZlcnNoYXJkLnYxLkFnZ3JlZ2F0ZUluZm8SWwoOTGlzdEFnZ3JlZ2F0ZXMSIy5ldmVyc2hhcmQudjEuTGlzdEFnZ3JlZ2F0ZXNSZXF1ZXN0GiQuZXZlcnNoYXJkLnYxLkxpc3RBZ2dyZWdhdGVzUmVzcG9uc2USSQoIR2V0U3RhdGUSHS5ldmVyc2hhcmQudjEuR2V0U3RhdGVSZXF1ZXN0Gh4uZXZlcnNoYXJkLnYxLkdldFN0YXRlUmVzcG9uc2USSAoLUHV0U25hcHNob3QSFi5ldmVyc2hhcmQudjEuU25hcHNob3QaIS5ldmVyc2hhcmQudjEuUHV0U25hcHNob3RSZXNwb25zZRJSCgtHZXRTbmFwc2hvdBIgLmV2ZXJzaGFyZC52MS5HZXRTbmFwc2hvdFJlcXVlc3QaIS5ldmVyc2hhcmQudjEuR2V0U25hcHNob3RSZXNwb25zZRJYCg1MaXN0U25hcHNob3RzEiIuZXZlcnNoYXJkLnYxLkxpc3RTbmFwc2hvdHNSZXF1ZXN0GiMuZXZlcnNoYXJkLnYxLkxpc3RTbmFwc2hvdHNSZXNwb25zZRJJCghHZXRUeXBlcxIdLmV2ZXJzaGFyZC52MS5HZXRUeXBlc1JlcXVlc3QaHi5ldmVyc2hhcmQudjEuR2V0VHlwZXNSZXNwb25zZRJGCgdNZW1iZXJzEhwuZXZlcnNoYXJkLnYxLk1lbWJlcnNSZXF1ZXN0Gh0uZXZlcnNoYXJkLnYxLk1lbWJlcnNSZXNwb25zZTKdBAoOQWRtaW5pc3RyYXRpb24SQAoFU3RhdHMSGi5ldmVyc2hhcmQudjEuU3RhdHNSZXF1ZXN0GhsuZXZlcnNoYXJkLnYxLlN0YXRzUmVzcG9uc2USQAoFRmx1c2gSGi5ldmVyc2hhcmQudjEuRmx1c2hSZXF1ZXN0GhsuZXZlcnNoYXJkLnYxLkZsdXNoUmVzcG9uc2USRQoGVmVyaWZ5EhsuZXZlcnNoYXJkLnYxLlZlcmlmeVJlcXVlc3QaHC5ldmVyc2hhcmQudjEuVmVyaWZ5UmVzcG9uc2UwARJFCgZWYWN1dW0SGy5ldmVyc2hhcmQudjEuVmFjdXVtUmVxdWVzdBocLmV2ZXJzaGFyZC52MS5WYWN1dW1SZXNwb25zZTABEkUKBkJhY2t1cBIbLmV2ZXJzaGFyZC52MS5CYWNrdXBSZXF1ZXN0GhwuZXZlcnNoYXJkLnYxLkJhY2t1cFJlc3BvbnNlMAESWAoNQ2x1c3RlclN0YXR1cxIiLmV2ZXJzaGFyZC52MS5DbHVzdGVyU3RhdHVzUmVxdWVzdBojLmV2ZXJzaGFyZC52MS5DbHVzdGVyU3RhdHVzUmVzcG9uc2USWAoNQ2x1c3RlckFzc2lnbhIiLmV2ZXJzaGFyZC52MS5DbHVzdGVyQXNzaWduUmVxdWVzdBojLmV2ZXJzaGFyZC52MS5DbHVzdGVyQXNzaWduUmVzcG9uc2ViBnByb3RvMw", [file_evershard_v1_event, file_evershard_v1_store]);
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
