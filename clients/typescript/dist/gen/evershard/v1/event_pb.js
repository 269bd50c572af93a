// Events, as callers give them and as the store gives them back. Field numbers are frozen: a field is never renumbered,
// never given another meaning; one that goes leaves `reserved` behind. A reader skips the fields it does not know.
import { enumDesc, fileDesc, messageDesc } from "@bufbuild/protobuf/codegenv2";
/**
 * Describes the file evershard/v1/event.proto.
 */
export const file_evershard_v1_event = /*@__PURE__*/ fileDesc("ChhldmVyc2hhcmQvdjEvZXZlbnQucHJvdG8SDGV2ZXJzaGFyZC52MSIqCgtBZ2dyZWdhdGVJZBIMCgR0eXBlGAEgASgJEg0KBXZhbHVlGAIgASgJIoICCgVFdmVudBIKCgJpZBgBIAEoDBIsCglhZ2dyZWdhdGUYAiABKAsyGS5ldmVyc2hhcmQudjEuQWdncmVnYXRlSWQSDAoEdHlwZRgDIAEoCRIMCgR0YWdzGAQgAygJEicKBGFsc28YBSADKAsyGS5ldmVyc2hhcmQudjEuQWdncmVnYXRlSWQSDwoHcGF5bG9hZBgGIAEoDBIWCg5wYXlsb2FkX2Zvcm1hdBgHIAEoDRIQCghtZXRhZGF0YRgIIAEoDBIbCg5vY2N1cnJlZF9hdF91cxgJIAEoA0gAiAEBEg8KB3N1YmplY3QYCiABKAlCEQoPX29jY3VycmVkX2F0X3VzIokDCg1SZWNvcmRlZEV2ZW50EhAKCHBvc2l0aW9uGAEgASgEEg0KBXNoYXJkGAIgASgNEg4KBm9mZnNldBgDIAEoBBIKCgJpZBgEIAEoDBIsCglhZ2dyZWdhdGUYBSABKAsyGS5ldmVyc2hhcmQudjEuQWdncmVnYXRlSWQSDgoGc2VxX25yGAYgASgEEgwKBHR5cGUYByABKAkSDAoEdGFncxgIIAMoCRInCgRhbHNvGAkgAygLMhkuZXZlcnNoYXJkLnYxLkFnZ3JlZ2F0ZUlkEg8KB3BheWxvYWQYCiABKAwSFgoOcGF5bG9hZF9mb3JtYXQYCyABKA0SEAoIbWV0YWRhdGEYDCABKAwSFgoOb2NjdXJyZWRfYXRfdXMYDSABKAMSJwoFc3RhdGUYDiABKA4yGC5ldmVyc2hhcmQudjEuRXZlbnRTdGF0ZRIUCgxhcHBlbmRfaW5kZXgYDyABKA0SFQoNYXBwZW5kX2V2ZW50cxgQIAEoDRIPCgdzdWJqZWN0GBEgASgJKlMKCkV2ZW50U3RhdGUSFAoQRVZFTlRfU1RBVEVfTElWRRAAEhcKE0VWRU5UX1NUQVRFX1JFTU9WRUQQARIWChJFVkVOVF9TVEFURV9FUkFTRUQQAmIGcHJvdG8z");
/**
 * Describes the message evershard.v1.AggregateId.
 * Use `create(AggregateIdSchema)` to create a new message.
 */
export const AggregateIdSchema = /*@__PURE__*/ messageDesc(file_evershard_v1_event, 0);
/**
 * Describes the message evershard.v1.Event.
 * Use `create(EventSchema)` to create a new message.
 */
export const EventSchema = /*@__PURE__*/ messageDesc(file_evershard_v1_event, 1);
/**
 * Describes the message evershard.v1.RecordedEvent.
 * Use `create(RecordedEventSchema)` to create a new message.
 */
export const RecordedEventSchema = /*@__PURE__*/ messageDesc(file_evershard_v1_event, 2);
/**
 * Whether an event's content can still be read.
 *
 * @generated from enum evershard.v1.EventState
 */
export var EventState;
(function (EventState) {
    /**
     * @generated from enum value: EVENT_STATE_LIVE = 0;
     */
    EventState[EventState["LIVE"] = 0] = "LIVE";
    /**
     * truncated or removed with its aggregate: id, aggregate, seq_nr and place are kept
     *
     * @generated from enum value: EVENT_STATE_REMOVED = 1;
     */
    EventState[EventState["REMOVED"] = 1] = "REMOVED";
    /**
     * its payload's key is gone: everything but the payload is kept
     *
     * @generated from enum value: EVENT_STATE_ERASED = 2;
     */
    EventState[EventState["ERASED"] = 2] = "ERASED";
})(EventState || (EventState = {}));
/**
 * Describes the enum evershard.v1.EventState.
 */
export const EventStateSchema = /*@__PURE__*/ enumDesc(file_evershard_v1_event, 0);
