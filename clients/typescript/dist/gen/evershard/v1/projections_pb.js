// Projections at the door: indexes and what else is derived from events; definitions, how they are, what they hold. Errors as in service.proto.
import { enumDesc, fileDesc, messageDesc, serviceDesc } from "@bufbuild/protobuf/codegenv2";
import { file_evershard_v1_event } from "./event_pb.js";
import { file_evershard_v1_store } from "./store_pb.js";
import { file_evershard_v1_service } from "./service_pb.js";
/**
 * Describes the file evershard/v1/projections.proto.
 */
export const file_evershard_v1_projections = /*@__PURE__*/ fileDesc("Ch5ldmVyc2hhcmQvdjEvcHJvamVjdGlvbnMucHJvdG8SDGV2ZXJzaGFyZC52MSI4ChJDcmVhdGVJbmRleFJlcXVlc3QSIgoFcXVlcnkYASABKAsyEy5ldmVyc2hhcmQudjEuUXVlcnkiYwoXQ3JlYXRlVmFsdWVJbmRleFJlcXVlc3QSDAoEbmFtZRgBIAEoCRINCgV0eXBlcxgCIAMoCRIOCgZzb3VyY2UYAyABKAkSDAoEcGF0aBgEIAEoCRINCgV2YWx1ZRgFIAEoCSJDChdDcmVhdGVQcm9qZWN0aW9uUmVxdWVzdBIMCgRuYW1lGAEgASgJEgwKBGtpbmQYAiABKAkSDAoEc3BlYxgDIAEoCSJZChdDaGFuZ2VQcm9qZWN0aW9uUmVxdWVzdBIMCgRuYW1lGAEgASgJEgwKBHNwZWMYAiABKAkSFQoIZXhwZWN0ZWQYAyABKARIAIgBAUILCglfZXhwZWN0ZWQiwgEKFEFza1Byb2plY3Rpb25SZXF1ZXN0EgwKBG5hbWUYASABKAkSMwoDYXNrGAIgASgOMiYuZXZlcnNoYXJkLnYxLkFza1Byb2plY3Rpb25SZXF1ZXN0LkFzayJnCgNBc2sSEwoPQVNLX1VOU1BFQ0lGSUVEEAASDQoJQVNLX1BBVVNFEAESDgoKQVNLX1JFU1VNRRACEg0KCUFTS19SRVNFVBADEg8KC0FTS19SRUJVSUxEEAQSDAoIQVNLX0RST1AQBSIXChVBc2tQcm9qZWN0aW9uUmVzcG9uc2UiGAoWTGlzdFByb2plY3Rpb25zUmVxdWVzdCJMChdMaXN0UHJvamVjdGlvbnNSZXNwb25zZRIxCgtwcm9qZWN0aW9ucxgBIAMoCzIcLmV2ZXJzaGFyZC52MS5Qcm9qZWN0aW9uSW5mbyIpChlEZXNjcmliZVByb2plY3Rpb25SZXF1ZXN0EgwKBG5hbWUYASABKAkisgQKDlByb2plY3Rpb25JbmZvEgwKBG5hbWUYASABKAkSDAoEa2luZBgCIAEoCRIMCgRzcGVjGAMgASgJEgwKBGxhc3QYBCABKAQSDgoGcGF1c2VkGAUgASgIEhEKCXdhdGVybWFyaxgGIAEoBBI2Cgh2ZXJzaW9ucxgHIAMoCzIkLmV2ZXJzaGFyZC52MS5Qcm9qZWN0aW9uSW5mby5WZXJzaW9uGiUKBkZpZ3VyZRIMCgRuYW1lGAEgASgJEg0KBXZhbHVlGAIgASgEGuUCCgdWZXJzaW9uEg8KB3ZlcnNpb24YASABKAQSDAoEcm93cxgCIAEoBBINCgVzdGF0ZRgDIAEoCRIQCghjb21wbGV0ZRgEIAEoCBIPCgdzZXJ2aW5nGAUgASgIEhAKCHBvc2l0aW9uGAYgASgEEgsKA2xhZxgHIAEoBBIOCgZldmVudHMYCCABKAQSDgoGZXJyb3JzGAkgASgEEiIKBWVycm9yGAogASgLMhMuZXZlcnNoYXJkLnYxLkVycm9yEhYKCWZhaWxlZF9hdBgLIAEoBEgAiAEBEhQKB2J1c3lfbXMYDCABKARIAYgBARI0CgdmaWd1cmVzGA0gAygLMiMuZXZlcnNoYXJkLnYxLlByb2plY3Rpb25JbmZvLkZpZ3VyZRIRCgRwYXJ0GA4gASgNSAKIAQESDAoEaG9tZRgPIAEoDUIMCgpfZmFpbGVkX2F0QgoKCF9idXN5X21zQgcKBV9wYXJ0IsoBChBSZWFkSW5kZXhSZXF1ZXN0EgwKBG5hbWUYASABKAkSEgoFc3RhcnQYAiABKARIAIgBARISCgVsaW1pdBgDIAEoDUgBiAEBEhEKCWJhY2t3YXJkcxgEIAEoCBInCghhdF9sZWFzdBgFIAEoCzIVLmV2ZXJzaGFyZC52MS5BdExlYXN0EhQKB3ZlcnNpb24YBiABKARIAogBARIOCgZldmVudHMYByABKAhCCAoGX3N0YXJ0QggKBl9saW1pdEIKCghfdmVyc2lvbiJaCgpJbmRleEVudHJ5Eg4KBm51bWJlchgBIAEoBBIQCghwb3NpdGlvbhgCIAEoBBIqCgVldmVudBgDIAEoCzIbLmV2ZXJzaGFyZC52MS5SZWNvcmRlZEV2ZW50IlgKCUluZGV4UGFnZRIpCgdlbnRyaWVzGAEgAygLMhguZXZlcnNoYXJkLnYxLkluZGV4RW50cnkSDQoFY291bnQYAiABKAQSEQoJd2F0ZXJtYXJrGAMgASgEIqwCChFSZWFkVmFsdWVzUmVxdWVzdBIMCgRuYW1lGAEgASgJEhIKBWVxdWFsGAIgASgJSACIAQESEQoEZnJvbRgDIAEoCUgBiAEBEg8KAnRvGAQgASgJSAKIAQESEgoFdW50aWwYBSABKAlIA4gBARINCgVhZnRlchgGIAEoCRISCgVsaW1pdBgHIAEoDUgEiAEBEhEKCWJhY2t3YXJkcxgIIAEoCBInCghhdF9sZWFzdBgJIAEoCzIVLmV2ZXJzaGFyZC52MS5BdExlYXN0EhQKB3ZlcnNpb24YCiABKARIBYgBARIOCgZldmVudHMYCyABKAhCCAoGX2VxdWFsQgcKBV9mcm9tQgUKA190b0IICgZfdW50aWxCCAoGX2xpbWl0QgoKCF92ZXJzaW9uIlkKClZhbHVlRW50cnkSDQoFdmFsdWUYASABKAkSEAoIcG9zaXRpb24YAiABKAQSKgoFZXZlbnQYAyABKAsyGy5ldmVyc2hhcmQudjEuUmVjb3JkZWRFdmVudCJXCglWYWx1ZVBhZ2USKQoHZW50cmllcxgBIAMoCzIYLmV2ZXJzaGFyZC52MS5WYWx1ZUVudHJ5EgwKBG5leHQYAiABKAkSEQoJd2F0ZXJtYXJrGAMgASgEIlEKGFdhaXRGb3JQcm9qZWN0aW9uUmVxdWVzdBIMCgRuYW1lGAEgASgJEicKCGF0X2xlYXN0GAIgASgLMhUuZXZlcnNoYXJkLnYxLkF0TGVhc3QiLQoZV2FpdEZvclByb2plY3Rpb25SZXNwb25zZRIQCghwb3NpdGlvbhgBIAEoBDLyBgoLUHJvamVjdGlvbnMSTQoLQ3JlYXRlSW5kZXgSIC5ldmVyc2hhcmQudjEuQ3JlYXRlSW5kZXhSZXF1ZXN0GhwuZXZlcnNoYXJkLnYxLlByb2plY3Rpb25JbmZvElcKEENyZWF0ZVZhbHVlSW5kZXgSJS5ldmVyc2hhcmQudjEuQ3JlYXRlVmFsdWVJbmRleFJlcXVlc3QaHC5ldmVyc2hhcmQudjEuUHJvamVjdGlvbkluZm8SVwoQQ3JlYXRlUHJvamVjdGlvbhIlLmV2ZXJzaGFyZC52MS5DcmVhdGVQcm9qZWN0aW9uUmVxdWVzdBocLmV2ZXJzaGFyZC52MS5Qcm9qZWN0aW9uSW5mbxJXChBDaGFuZ2VQcm9qZWN0aW9uEiUuZXZlcnNoYXJkLnYxLkNoYW5nZVByb2plY3Rpb25SZXF1ZXN0GhwuZXZlcnNoYXJkLnYxLlByb2plY3Rpb25JbmZvElgKDUFza1Byb2plY3Rpb24SIi5ldmVyc2hhcmQudjEuQXNrUHJvamVjdGlvblJlcXVlc3QaIy5ldmVyc2hhcmQudjEuQXNrUHJvamVjdGlvblJlc3BvbnNlEl4KD0xpc3RQcm9qZWN0aW9ucxIkLmV2ZXJzaGFyZC52MS5MaXN0UHJvamVjdGlvbnNSZXF1ZXN0GiUuZXZlcnNoYXJkLnYxLkxpc3RQcm9qZWN0aW9uc1Jlc3BvbnNlElsKEkRlc2NyaWJlUHJvamVjdGlvbhInLmV2ZXJzaGFyZC52MS5EZXNjcmliZVByb2plY3Rpb25SZXF1ZXN0GhwuZXZlcnNoYXJkLnYxLlByb2plY3Rpb25JbmZvEkQKCVJlYWRJbmRleBIeLmV2ZXJzaGFyZC52MS5SZWFkSW5kZXhSZXF1ZXN0GhcuZXZlcnNoYXJkLnYxLkluZGV4UGFnZRJGCgpSZWFkVmFsdWVzEh8uZXZlcnNoYXJkLnYxLlJlYWRWYWx1ZXNSZXF1ZXN0GhcuZXZlcnNoYXJkLnYxLlZhbHVlUGFnZRJkChFXYWl0Rm9yUHJvamVjdGlvbhImLmV2ZXJzaGFyZC52MS5XYWl0Rm9yUHJvamVjdGlvblJlcXVlc3QaJy5ldmVyc2hhcmQudjEuV2FpdEZvclByb2plY3Rpb25SZXNwb25zZWIGcHJvdG8z", [file_evershard_v1_event, file_evershard_v1_store, file_evershard_v1_service]);
/**
 * Describes the message evershard.v1.CreateIndexRequest.
 * Use `create(CreateIndexRequestSchema)` to create a new message.
 */
export const CreateIndexRequestSchema = /*@__PURE__*/ messageDesc(file_evershard_v1_projections, 0);
/**
 * Describes the message evershard.v1.CreateValueIndexRequest.
 * Use `create(CreateValueIndexRequestSchema)` to create a new message.
 */
export const CreateValueIndexRequestSchema = /*@__PURE__*/ messageDesc(file_evershard_v1_projections, 1);
/**
 * Describes the message evershard.v1.CreateProjectionRequest.
 * Use `create(CreateProjectionRequestSchema)` to create a new message.
 */
export const CreateProjectionRequestSchema = /*@__PURE__*/ messageDesc(file_evershard_v1_projections, 2);
/**
 * Describes the message evershard.v1.ChangeProjectionRequest.
 * Use `create(ChangeProjectionRequestSchema)` to create a new message.
 */
export const ChangeProjectionRequestSchema = /*@__PURE__*/ messageDesc(file_evershard_v1_projections, 3);
/**
 * Describes the message evershard.v1.AskProjectionRequest.
 * Use `create(AskProjectionRequestSchema)` to create a new message.
 */
export const AskProjectionRequestSchema = /*@__PURE__*/ messageDesc(file_evershard_v1_projections, 4);
/**
 * @generated from enum evershard.v1.AskProjectionRequest.Ask
 */
export var AskProjectionRequest_Ask;
(function (AskProjectionRequest_Ask) {
    /**
     * @generated from enum value: ASK_UNSPECIFIED = 0;
     */
    AskProjectionRequest_Ask[AskProjectionRequest_Ask["UNSPECIFIED"] = 0] = "UNSPECIFIED";
    /**
     * @generated from enum value: ASK_PAUSE = 1;
     */
    AskProjectionRequest_Ask[AskProjectionRequest_Ask["PAUSE"] = 1] = "PAUSE";
    /**
     * also one that failed: it tries the event again
     *
     * @generated from enum value: ASK_RESUME = 2;
     */
    AskProjectionRequest_Ask[AskProjectionRequest_Ask["RESUME"] = 2] = "RESUME";
    /**
     * its rows are cleared at once and built anew
     *
     * @generated from enum value: ASK_RESET = 3;
     */
    AskProjectionRequest_Ask[AskProjectionRequest_Ask["RESET"] = 3] = "RESET";
    /**
     * built anew beside those that are read, then swapped
     *
     * @generated from enum value: ASK_REBUILD = 4;
     */
    AskProjectionRequest_Ask[AskProjectionRequest_Ask["REBUILD"] = 4] = "REBUILD";
    /**
     * @generated from enum value: ASK_DROP = 5;
     */
    AskProjectionRequest_Ask[AskProjectionRequest_Ask["DROP"] = 5] = "DROP";
})(AskProjectionRequest_Ask || (AskProjectionRequest_Ask = {}));
/**
 * Describes the enum evershard.v1.AskProjectionRequest.Ask.
 */
export const AskProjectionRequest_AskSchema = /*@__PURE__*/ enumDesc(file_evershard_v1_projections, 4, 0);
/**
 * Describes the message evershard.v1.AskProjectionResponse.
 * Use `create(AskProjectionResponseSchema)` to create a new message.
 */
export const AskProjectionResponseSchema = /*@__PURE__*/ messageDesc(file_evershard_v1_projections, 5);
/**
 * Describes the message evershard.v1.ListProjectionsRequest.
 * Use `create(ListProjectionsRequestSchema)` to create a new message.
 */
export const ListProjectionsRequestSchema = /*@__PURE__*/ messageDesc(file_evershard_v1_projections, 6);
/**
 * Describes the message evershard.v1.ListProjectionsResponse.
 * Use `create(ListProjectionsResponseSchema)` to create a new message.
 */
export const ListProjectionsResponseSchema = /*@__PURE__*/ messageDesc(file_evershard_v1_projections, 7);
/**
 * Describes the message evershard.v1.DescribeProjectionRequest.
 * Use `create(DescribeProjectionRequestSchema)` to create a new message.
 */
export const DescribeProjectionRequestSchema = /*@__PURE__*/ messageDesc(file_evershard_v1_projections, 8);
/**
 * Describes the message evershard.v1.ProjectionInfo.
 * Use `create(ProjectionInfoSchema)` to create a new message.
 */
export const ProjectionInfoSchema = /*@__PURE__*/ messageDesc(file_evershard_v1_projections, 9);
/**
 * Describes the message evershard.v1.ProjectionInfo.Figure.
 * Use `create(ProjectionInfo_FigureSchema)` to create a new message.
 */
export const ProjectionInfo_FigureSchema = /*@__PURE__*/ messageDesc(file_evershard_v1_projections, 9, 0);
/**
 * Describes the message evershard.v1.ProjectionInfo.Version.
 * Use `create(ProjectionInfo_VersionSchema)` to create a new message.
 */
export const ProjectionInfo_VersionSchema = /*@__PURE__*/ messageDesc(file_evershard_v1_projections, 9, 1);
/**
 * Describes the message evershard.v1.ReadIndexRequest.
 * Use `create(ReadIndexRequestSchema)` to create a new message.
 */
export const ReadIndexRequestSchema = /*@__PURE__*/ messageDesc(file_evershard_v1_projections, 10);
/**
 * Describes the message evershard.v1.IndexEntry.
 * Use `create(IndexEntrySchema)` to create a new message.
 */
export const IndexEntrySchema = /*@__PURE__*/ messageDesc(file_evershard_v1_projections, 11);
/**
 * Describes the message evershard.v1.IndexPage.
 * Use `create(IndexPageSchema)` to create a new message.
 */
export const IndexPageSchema = /*@__PURE__*/ messageDesc(file_evershard_v1_projections, 12);
/**
 * Describes the message evershard.v1.ReadValuesRequest.
 * Use `create(ReadValuesRequestSchema)` to create a new message.
 */
export const ReadValuesRequestSchema = /*@__PURE__*/ messageDesc(file_evershard_v1_projections, 13);
/**
 * Describes the message evershard.v1.ValueEntry.
 * Use `create(ValueEntrySchema)` to create a new message.
 */
export const ValueEntrySchema = /*@__PURE__*/ messageDesc(file_evershard_v1_projections, 14);
/**
 * Describes the message evershard.v1.ValuePage.
 * Use `create(ValuePageSchema)` to create a new message.
 */
export const ValuePageSchema = /*@__PURE__*/ messageDesc(file_evershard_v1_projections, 15);
/**
 * Describes the message evershard.v1.WaitForProjectionRequest.
 * Use `create(WaitForProjectionRequestSchema)` to create a new message.
 */
export const WaitForProjectionRequestSchema = /*@__PURE__*/ messageDesc(file_evershard_v1_projections, 16);
/**
 * Describes the message evershard.v1.WaitForProjectionResponse.
 * Use `create(WaitForProjectionResponseSchema)` to create a new message.
 */
export const WaitForProjectionResponseSchema = /*@__PURE__*/ messageDesc(file_evershard_v1_projections, 17);
/**
 * @generated from service evershard.v1.Projections
 */
export const Projections = /*@__PURE__*/ serviceDesc(file_evershard_v1_projections, 0);
