// Events, as callers give them and as the store gives them back. Field numbers are frozen: a field is never renumbered,
// never given another meaning; one that goes leaves `reserved` behind. A reader skips the fields it does not know.
import { enumDesc, fileDesc, messageDesc } from "@bufbuild/protobuf/codegenv2";
/**
 * Describes the file evershard/v1/event.proto.
 */
export const file_evershard_v1_event = /*@__PURE__*/ fileDesc("ChhldmVyc2hhcmQvdjEvZXZlbnQucHJvdG8SDGV2ZXJzaGFyZC52MSIqCgtBZ2dyZWdhdGVJZBIMCgR0eXBlGAEgASgJEg0KBXZhbHVlGAIgASgJIsACCgVFdmVudBIKCgJpZBgBIAEoDBIsCglhZ2dyZWdhdGUYAiABKAsyGS5ldmVyc2hhcmQudjEuQWdncmVnYXRlSWQSDAoEdHlwZRgDIAEoCRIMCgR0YWdzGAQgAygJEicKBGFsc28YBSADKAsyGS5ldmVyc2hhcmQudjEuQWdncmVnYXRlSWQSDwoHcGF5bG9hZBgGIAEoDBIWCg5wYXlsb2FkX2Zvcm1hdBgHIAEoDRIQCghtZXRhZGF0YRgIIAEoDBIbCg5vY2N1cnJlZF9hdF91cxgJIAEoA0gAiAEBEg8KB3N1YmplY3QYCiABKAkSJwoFc3RhdGUYCyABKA4yGC5ldmVyc2hhcmQudjEuRXZlbnRTdGF0ZRITCgtlcmFzZWRfdHlwZRgMIAEoCUIRCg9fb2NjdXJyZWRfYXRfdXMiiQMKDVJlY29yZGVkRXZlbnQSEAoIcG9zaXRpb24YASABKAQSDQoFc2hhcmQYAiABKA0SDgoGb2Zmc2V0GAMgASgEEgoKAmlkGAQgASgMEiwKCWFnZ3JlZ2F0ZRgFIAEoCzIZLmV2ZXJzaGFyZC52MS5BZ2dyZWdhdGVJZBIOCgZzZXFfbnIYBiABKAQSDAoEdHlwZRgHIAEoCRIMCgR0YWdzGAggAygJEicKBGFsc28YCSADKAsyGS5ldmVyc2hhcmQudjEuQWdncmVnYXRlSWQSDwoHcGF5bG9hZBgKIAEoDBIWCg5wYXlsb2FkX2Zvcm1hdBgLIAEoDRIQCghtZXRhZGF0YRgMIAEoDBIWCg5vY2N1cnJlZF9hdF91cxgNIAEoAxInCgVzdGF0ZRgOIAEoDjIYLmV2ZXJzaGFyZC52MS5FdmVudFN0YXRlEhQKDGFwcGVuZF9pbmRleBgPIAEoDRIVCg1hcHBlbmRfZXZlbnRzGBAgASgNEg8KB3N1YmplY3QYESABKAkqUwoKRXZlbnRTdGF0ZRIUChBFVkVOVF9TVEFURV9MSVZFEAASFwoTRVZFTlRfU1RBVEVfUkVNT1ZFRBABEhYKEkVWRU5UX1NUQVRFX0VSQVNFRBACYgZwcm90bzM");
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
