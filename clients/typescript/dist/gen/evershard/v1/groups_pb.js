// Consumer groups: named subscriptions that keep how far they came, shared by workers. Field numbers are frozen, see event.proto;
// failures as in service.proto. What is promised: docs/groups.md.
import { enumDesc, fileDesc, messageDesc, serviceDesc } from "@bufbuild/protobuf/codegenv2";
import { file_evershard_v1_event } from "./event_pb.js";
import { file_evershard_v1_store } from "./store_pb.js";
/**
 * Describes the file evershard/v1/groups.proto.
 */
export const file_evershard_v1_groups = /*@__PURE__*/ fileDesc("ChlldmVyc2hhcmQvdjEvZ3JvdXBzLnByb3RvEgxldmVyc2hhcmQudjEi7AMKDUdyb3VwU2V0dGluZ3MSLAoFb3JkZXIYASABKA4yGC5ldmVyc2hhcmQudjEuR3JvdXBPcmRlckgAiAEBEjQKDGFmdGVyX3BhcmtlZBgCIAEoDjIZLmV2ZXJzaGFyZC52MS5BZnRlclBhcmtlZEgBiAEBEhkKDGF0dGVtcHRzX21heBgDIAEoDUgCiAEBEhsKDnJldHJ5X2ZpcnN0X21zGAQgASgESAOIAQESGQoMcmV0cnlfZmFjdG9yGAUgASgNSASIAQESGgoNcmV0cnlfbW9zdF9tcxgGIAEoBEgFiAEBEiEKFHJldHJ5X2ppdHRlcl9wZXJjZW50GAcgASgNSAaIAQESFQoIbGVhc2VfbXMYCCABKARIB4gBARITCgZ3aW5kb3cYCSABKA1ICIgBARIXCgpwYXJrZWRfbWF4GAogASgNSAmIAQFCCAoGX29yZGVyQg8KDV9hZnRlcl9wYXJrZWRCDwoNX2F0dGVtcHRzX21heEIRCg9fcmV0cnlfZmlyc3RfbXNCDwoNX3JldHJ5X2ZhY3RvckIQCg5fcmV0cnlfbW9zdF9tc0IXChVfcmV0cnlfaml0dGVyX3BlcmNlbnRCCwoJX2xlYXNlX21zQgkKB193aW5kb3dCDQoLX3BhcmtlZF9tYXgigwEKC0dyb3VwTWVtYmVyEgwKBG5hbWUYASABKAkSDgoGd29ya2VyGAIgASgEEg4KBmNyZWRpdBgDIAEoDRIRCglpbl9mbGlnaHQYBCABKAQSDQoFc2hhcmUYBSABKAQSDgoGb2xkZXN0GAYgASgEEhQKDGFja25vd2xlZGdlZBgHIAEoBCK4AwoJR3JvdXBJbmZvEgwKBG5hbWUYASABKAkSIgoFcXVlcnkYAiABKAsyEy5ldmVyc2hhcmQudjEuUXVlcnkSDQoFYWZ0ZXIYAyABKAQSLQoIc2V0dGluZ3MYBCABKAsyGy5ldmVyc2hhcmQudjEuR3JvdXBTZXR0aW5ncxIQCghwb3NpdGlvbhgFIAEoBBIPCgdyZWFkX3RvGAYgASgEEgwKBGhlYWQYByABKAQSEQoJdW5zZXR0bGVkGAggASgEEhEKCWluX2ZsaWdodBgJIAEoBBIPCgd3YWl0aW5nGAogASgEEg4KBnBhcmtlZBgLIAEoBBITCgtwYXJrZWRfZnVsbBgMIAEoCBIUCgxhY2tub3dsZWRnZWQYDSABKAQSEAoIcmVqZWN0ZWQYDiABKAQSDwoHZXhwaXJlZBgPIAEoBBITCgtwYXJrZWRfZXZlchgQIAEoBBIQCghyZXBsYXllZBgRIAEoBBIRCglkaXNjYXJkZWQYEiABKAQSKgoHd29ya2VycxgTIAMoCzIZLmV2ZXJzaGFyZC52MS5Hcm91cE1lbWJlchIPCgd0cm91YmxlGBQgASgJIqUBChJDcmVhdGVHcm91cFJlcXVlc3QSDAoEbmFtZRgBIAEoCRIiCgVxdWVyeRgCIAEoCzITLmV2ZXJzaGFyZC52MS5RdWVyeRISCgVhZnRlchgDIAEoBEgAiAEBEhAKCGZyb21fbm93GAQgASgIEi0KCHNldHRpbmdzGAUgASgLMhsuZXZlcnNoYXJkLnYxLkdyb3VwU2V0dGluZ3NCCAoGX2FmdGVyIlEKEkNoYW5nZUdyb3VwUmVxdWVzdBIMCgRuYW1lGAEgASgJEi0KCHNldHRpbmdzGAIgASgLMhsuZXZlcnNoYXJkLnYxLkdyb3VwU2V0dGluZ3MiUQoRUmVzZXRHcm91cFJlcXVlc3QSDAoEbmFtZRgBIAEoCRISCgVhZnRlchgCIAEoBEgAiAEBEhAKCGZyb21fbm93GAMgASgIQggKBl9hZnRlciIgChBEcm9wR3JvdXBSZXF1ZXN0EgwKBG5hbWUYASABKAkiEwoRRHJvcEdyb3VwUmVzcG9uc2UiEwoRTGlzdEdyb3Vwc1JlcXVlc3QiPQoSTGlzdEdyb3Vwc1Jlc3BvbnNlEicKBmdyb3VwcxgBIAMoCzIXLmV2ZXJzaGFyZC52MS5Hcm91cEluZm8iJAoURGVzY3JpYmVHcm91cFJlcXVlc3QSDAoEbmFtZRgBIAEoCSKgAQoLUGFya2VkRXZlbnQSEAoIcG9zaXRpb24YASABKAQSEAoIYXR0ZW1wdHMYAiABKA0SDgoGYmVoaW5kGAMgASgIEg4KBnJlYXNvbhgEIAEoCRIRCglwYXJrZWRfYXQYBSABKAMSLAoJYWdncmVnYXRlGAYgASgLMhkuZXZlcnNoYXJkLnYxLkFnZ3JlZ2F0ZUlkEgwKBHR5cGUYByABKAkiTgoRTGlzdFBhcmtlZFJlcXVlc3QSDAoEbmFtZRgBIAEoCRINCgVhZnRlchgCIAEoBBISCgVsaW1pdBgDIAEoDUgAiAEBQggKBl9saW1pdCJbChJMaXN0UGFya2VkUmVzcG9uc2USKQoGcGFya2VkGAEgAygLMhkuZXZlcnNoYXJkLnYxLlBhcmtlZEV2ZW50EhEKBG5leHQYAiABKARIAIgBAUIHCgVfbmV4dCJHChNSZXBsYXlQYXJrZWRSZXF1ZXN0EgwKBG5hbWUYASABKAkSFQoIcG9zaXRpb24YAiABKARIAIgBAUILCglfcG9zaXRpb24iJgoUUmVwbGF5UGFya2VkUmVzcG9uc2USDgoGZXZlbnRzGAEgASgEIkgKFERpc2NhcmRQYXJrZWRSZXF1ZXN0EgwKBG5hbWUYASABKAkSFQoIcG9zaXRpb24YAiABKARIAIgBAUILCglfcG9zaXRpb24iJwoVRGlzY2FyZFBhcmtlZFJlc3BvbnNlEg4KBmV2ZW50cxgBIAEoBCLYAwoLV29ya1JlcXVlc3QSLAoEam9pbhgBIAEoCzIeLmV2ZXJzaGFyZC52MS5Xb3JrUmVxdWVzdC5Kb2luEjkKC3NldHRsZW1lbnRzGAIgAygLMiQuZXZlcnNoYXJkLnYxLldvcmtSZXF1ZXN0LlNldHRsZW1lbnQSDQoFYmF0Y2gYAyABKAQSDQoFcmVuZXcYBCADKAQSDQoFbGVhdmUYBSABKAgaRQoESm9pbhINCgVncm91cBgBIAEoCRIOCgZ3b3JrZXIYAiABKAkSEwoGY3JlZGl0GAMgASgNSACIAQFCCQoHX2NyZWRpdBrrAQoKU2V0dGxlbWVudBI3CgRraW5kGAEgASgOMikuZXZlcnNoYXJkLnYxLldvcmtSZXF1ZXN0LlNldHRsZW1lbnQuS2luZBIQCghwb3NpdGlvbhgCIAEoBBIQCghkZWxpdmVyeRgDIAEoBBIOCgZyZWFzb24YBCABKAkSFQoIYWZ0ZXJfbXMYBSABKARIAIgBASJMCgRLaW5kEhQKEEtJTkRfQUNLTk9XTEVER0UQABIPCgtLSU5EX1JFSkVDVBABEg0KCUtJTkRfUEFSSxACEg4KCktJTkRfQkVHSU4QA0ILCglfYWZ0ZXJfbXMimgMKDFdvcmtSZXNwb25zZRIxCgZqb2luZWQYASABKAsyIS5ldmVyc2hhcmQudjEuV29ya1Jlc3BvbnNlLkpvaW5lZBI3CgpkZWxpdmVyaWVzGAIgAygLMiMuZXZlcnNoYXJkLnYxLldvcmtSZXNwb25zZS5EZWxpdmVyeRINCgViYXRjaBgDIAEoBBI0CghvdXRjb21lcxgEIAMoCzIiLmV2ZXJzaGFyZC52MS5Xb3JrUmVzcG9uc2UuT3V0Y29tZRIMCgRsb3N0GAUgAygEGj8KBkpvaW5lZBIOCgZ3b3JrZXIYASABKAQSEAoIbGVhc2VfbXMYAiABKAQSEwoLdGFrZXNfYmVndW4YAyABKAgaWQoIRGVsaXZlcnkSKgoFZXZlbnQYASABKAsyGy5ldmVyc2hhcmQudjEuUmVjb3JkZWRFdmVudBIQCghkZWxpdmVyeRgCIAEoBBIPCgdhdHRlbXB0GAMgASgNGi8KB091dGNvbWUSJAoHcmVmdXNlZBgBIAEoCzITLmV2ZXJzaGFyZC52MS5FcnJvcio/CgpHcm91cE9yZGVyEhkKFUdST1VQX09SREVSX0FHR1JFR0FURRAAEhYKEkdST1VQX09SREVSX0dMT0JBTBABKj0KC0FmdGVyUGFya2VkEhYKEkFGVEVSX1BBUktFRF9HT19PThAAEhYKEkFGVEVSX1BBUktFRF9CTE9DSxABMpYGCgZHcm91cHMSSAoLQ3JlYXRlR3JvdXASIC5ldmVyc2hhcmQudjEuQ3JlYXRlR3JvdXBSZXF1ZXN0GhcuZXZlcnNoYXJkLnYxLkdyb3VwSW5mbxJICgtDaGFuZ2VHcm91cBIgLmV2ZXJzaGFyZC52MS5DaGFuZ2VHcm91cFJlcXVlc3QaFy5ldmVyc2hhcmQudjEuR3JvdXBJbmZvEkYKClJlc2V0R3JvdXASHy5ldmVyc2hhcmQudjEuUmVzZXRHcm91cFJlcXVlc3QaFy5ldmVyc2hhcmQudjEuR3JvdXBJbmZvEkwKCURyb3BHcm91cBIeLmV2ZXJzaGFyZC52MS5Ecm9wR3JvdXBSZXF1ZXN0Gh8uZXZlcnNoYXJkLnYxLkRyb3BHcm91cFJlc3BvbnNlEk8KCkxpc3RHcm91cHMSHy5ldmVyc2hhcmQudjEuTGlzdEdyb3Vwc1JlcXVlc3QaIC5ldmVyc2hhcmQudjEuTGlzdEdyb3Vwc1Jlc3BvbnNlEkwKDURlc2NyaWJlR3JvdXASIi5ldmVyc2hhcmQudjEuRGVzY3JpYmVHcm91cFJlcXVlc3QaFy5ldmVyc2hhcmQudjEuR3JvdXBJbmZvEk8KCkxpc3RQYXJrZWQSHy5ldmVyc2hhcmQudjEuTGlzdFBhcmtlZFJlcXVlc3QaIC5ldmVyc2hhcmQudjEuTGlzdFBhcmtlZFJlc3BvbnNlElUKDFJlcGxheVBhcmtlZBIhLmV2ZXJzaGFyZC52MS5SZXBsYXlQYXJrZWRSZXF1ZXN0GiIuZXZlcnNoYXJkLnYxLlJlcGxheVBhcmtlZFJlc3BvbnNlElgKDURpc2NhcmRQYXJrZWQSIi5ldmVyc2hhcmQudjEuRGlzY2FyZFBhcmtlZFJlcXVlc3QaIy5ldmVyc2hhcmQudjEuRGlzY2FyZFBhcmtlZFJlc3BvbnNlEkEKBFdvcmsSGS5ldmVyc2hhcmQudjEuV29ya1JlcXVlc3QaGi5ldmVyc2hhcmQudjEuV29ya1Jlc3BvbnNlKAEwAWIGcHJvdG8z", [file_evershard_v1_event, file_evershard_v1_store]);
/**
 * Describes the message evershard.v1.GroupSettings.
 * Use `create(GroupSettingsSchema)` to create a new message.
 */
export const GroupSettingsSchema = /*@__PURE__*/ messageDesc(file_evershard_v1_groups, 0);
/**
 * Describes the message evershard.v1.GroupMember.
 * Use `create(GroupMemberSchema)` to create a new message.
 */
export const GroupMemberSchema = /*@__PURE__*/ messageDesc(file_evershard_v1_groups, 1);
/**
 * Describes the message evershard.v1.GroupInfo.
 * Use `create(GroupInfoSchema)` to create a new message.
 */
export const GroupInfoSchema = /*@__PURE__*/ messageDesc(file_evershard_v1_groups, 2);
/**
 * Describes the message evershard.v1.CreateGroupRequest.
 * Use `create(CreateGroupRequestSchema)` to create a new message.
 */
export const CreateGroupRequestSchema = /*@__PURE__*/ messageDesc(file_evershard_v1_groups, 3);
/**
 * Describes the message evershard.v1.ChangeGroupRequest.
 * Use `create(ChangeGroupRequestSchema)` to create a new message.
 */
export const ChangeGroupRequestSchema = /*@__PURE__*/ messageDesc(file_evershard_v1_groups, 4);
/**
 * Describes the message evershard.v1.ResetGroupRequest.
 * Use `create(ResetGroupRequestSchema)` to create a new message.
 */
export const ResetGroupRequestSchema = /*@__PURE__*/ messageDesc(file_evershard_v1_groups, 5);
/**
 * Describes the message evershard.v1.DropGroupRequest.
 * Use `create(DropGroupRequestSchema)` to create a new message.
 */
export const DropGroupRequestSchema = /*@__PURE__*/ messageDesc(file_evershard_v1_groups, 6);
/**
 * Describes the message evershard.v1.DropGroupResponse.
 * Use `create(DropGroupResponseSchema)` to create a new message.
 */
export const DropGroupResponseSchema = /*@__PURE__*/ messageDesc(file_evershard_v1_groups, 7);
/**
 * Describes the message evershard.v1.ListGroupsRequest.
 * Use `create(ListGroupsRequestSchema)` to create a new message.
 */
export const ListGroupsRequestSchema = /*@__PURE__*/ messageDesc(file_evershard_v1_groups, 8);
/**
 * Describes the message evershard.v1.ListGroupsResponse.
 * Use `create(ListGroupsResponseSchema)` to create a new message.
 */
export const ListGroupsResponseSchema = /*@__PURE__*/ messageDesc(file_evershard_v1_groups, 9);
/**
 * Describes the message evershard.v1.DescribeGroupRequest.
 * Use `create(DescribeGroupRequestSchema)` to create a new message.
 */
export const DescribeGroupRequestSchema = /*@__PURE__*/ messageDesc(file_evershard_v1_groups, 10);
/**
 * Describes the message evershard.v1.ParkedEvent.
 * Use `create(ParkedEventSchema)` to create a new message.
 */
export const ParkedEventSchema = /*@__PURE__*/ messageDesc(file_evershard_v1_groups, 11);
/**
 * Describes the message evershard.v1.ListParkedRequest.
 * Use `create(ListParkedRequestSchema)` to create a new message.
 */
export const ListParkedRequestSchema = /*@__PURE__*/ messageDesc(file_evershard_v1_groups, 12);
/**
 * Describes the message evershard.v1.ListParkedResponse.
 * Use `create(ListParkedResponseSchema)` to create a new message.
 */
export const ListParkedResponseSchema = /*@__PURE__*/ messageDesc(file_evershard_v1_groups, 13);
/**
 * Describes the message evershard.v1.ReplayParkedRequest.
 * Use `create(ReplayParkedRequestSchema)` to create a new message.
 */
export const ReplayParkedRequestSchema = /*@__PURE__*/ messageDesc(file_evershard_v1_groups, 14);
/**
 * Describes the message evershard.v1.ReplayParkedResponse.
 * Use `create(ReplayParkedResponseSchema)` to create a new message.
 */
export const ReplayParkedResponseSchema = /*@__PURE__*/ messageDesc(file_evershard_v1_groups, 15);
/**
 * Describes the message evershard.v1.DiscardParkedRequest.
 * Use `create(DiscardParkedRequestSchema)` to create a new message.
 */
export const DiscardParkedRequestSchema = /*@__PURE__*/ messageDesc(file_evershard_v1_groups, 16);
/**
 * Describes the message evershard.v1.DiscardParkedResponse.
 * Use `create(DiscardParkedResponseSchema)` to create a new message.
 */
export const DiscardParkedResponseSchema = /*@__PURE__*/ messageDesc(file_evershard_v1_groups, 17);
/**
 * Describes the message evershard.v1.WorkRequest.
 * Use `create(WorkRequestSchema)` to create a new message.
 */
export const WorkRequestSchema = /*@__PURE__*/ messageDesc(file_evershard_v1_groups, 18);
/**
 * Describes the message evershard.v1.WorkRequest.Join.
 * Use `create(WorkRequest_JoinSchema)` to create a new message.
 */
export const WorkRequest_JoinSchema = /*@__PURE__*/ messageDesc(file_evershard_v1_groups, 18, 0);
/**
 * Describes the message evershard.v1.WorkRequest.Settlement.
 * Use `create(WorkRequest_SettlementSchema)` to create a new message.
 */
export const WorkRequest_SettlementSchema = /*@__PURE__*/ messageDesc(file_evershard_v1_groups, 18, 1);
/**
 * @generated from enum evershard.v1.WorkRequest.Settlement.Kind
 */
export var WorkRequest_Settlement_Kind;
(function (WorkRequest_Settlement_Kind) {
    /**
     * @generated from enum value: KIND_ACKNOWLEDGE = 0;
     */
    WorkRequest_Settlement_Kind[WorkRequest_Settlement_Kind["ACKNOWLEDGE"] = 0] = "ACKNOWLEDGE";
    /**
     * @generated from enum value: KIND_REJECT = 1;
     */
    WorkRequest_Settlement_Kind[WorkRequest_Settlement_Kind["REJECT"] = 1] = "REJECT";
    /**
     * @generated from enum value: KIND_PARK = 2;
     */
    WorkRequest_Settlement_Kind[WorkRequest_Settlement_Kind["PARK"] = 2] = "PARK";
    /**
     * settles nothing: its handler begins. Only where Joined.takes_begun
     *
     * @generated from enum value: KIND_BEGIN = 3;
     */
    WorkRequest_Settlement_Kind[WorkRequest_Settlement_Kind["BEGIN"] = 3] = "BEGIN";
})(WorkRequest_Settlement_Kind || (WorkRequest_Settlement_Kind = {}));
/**
 * Describes the enum evershard.v1.WorkRequest.Settlement.Kind.
 */
export const WorkRequest_Settlement_KindSchema = /*@__PURE__*/ enumDesc(file_evershard_v1_groups, 18, 1, 0);
/**
 * Describes the message evershard.v1.WorkResponse.
 * Use `create(WorkResponseSchema)` to create a new message.
 */
export const WorkResponseSchema = /*@__PURE__*/ messageDesc(file_evershard_v1_groups, 19);
/**
 * Describes the message evershard.v1.WorkResponse.Joined.
 * Use `create(WorkResponse_JoinedSchema)` to create a new message.
 */
export const WorkResponse_JoinedSchema = /*@__PURE__*/ messageDesc(file_evershard_v1_groups, 19, 0);
/**
 * Describes the message evershard.v1.WorkResponse.Delivery.
 * Use `create(WorkResponse_DeliverySchema)` to create a new message.
 */
export const WorkResponse_DeliverySchema = /*@__PURE__*/ messageDesc(file_evershard_v1_groups, 19, 1);
/**
 * Describes the message evershard.v1.WorkResponse.Outcome.
 * Use `create(WorkResponse_OutcomeSchema)` to create a new message.
 */
export const WorkResponse_OutcomeSchema = /*@__PURE__*/ messageDesc(file_evershard_v1_groups, 19, 2);
/**
 * @generated from enum evershard.v1.GroupOrder
 */
export var GroupOrder;
(function (GroupOrder) {
    /**
     * one aggregate's events in order, one at a time
     *
     * @generated from enum value: GROUP_ORDER_AGGREGATE = 0;
     */
    GroupOrder[GroupOrder["AGGREGATE"] = 0] = "AGGREGATE";
    /**
     * all in order, one at a time, to one worker
     *
     * @generated from enum value: GROUP_ORDER_GLOBAL = 1;
     */
    GroupOrder[GroupOrder["GLOBAL"] = 1] = "GLOBAL";
})(GroupOrder || (GroupOrder = {}));
/**
 * Describes the enum evershard.v1.GroupOrder.
 */
export const GroupOrderSchema = /*@__PURE__*/ enumDesc(file_evershard_v1_groups, 0);
/**
 * @generated from enum evershard.v1.AfterParked
 */
export var AfterParked;
(function (AfterParked) {
    /**
     * @generated from enum value: AFTER_PARKED_GO_ON = 0;
     */
    AfterParked[AfterParked["GO_ON"] = 0] = "GO_ON";
    /**
     * later events of the aggregate are parked behind it
     *
     * @generated from enum value: AFTER_PARKED_BLOCK = 1;
     */
    AfterParked[AfterParked["BLOCK"] = 1] = "BLOCK";
})(AfterParked || (AfterParked = {}));
/**
 * Describes the enum evershard.v1.AfterParked.
 */
export const AfterParkedSchema = /*@__PURE__*/ enumDesc(file_evershard_v1_groups, 1);
/**
 * @generated from service evershard.v1.Groups
 */
export const Groups = /*@__PURE__*/ serviceDesc(file_evershard_v1_groups, 0);
