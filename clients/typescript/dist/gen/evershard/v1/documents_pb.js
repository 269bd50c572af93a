// Documents: the current state of aggregates as JSON, by id. Field numbers are frozen, see event.proto; failures as in service.proto.
import { fileDesc, messageDesc, serviceDesc } from "@bufbuild/protobuf/codegenv2";
import { file_evershard_v1_event } from "./event_pb.js";
import { file_evershard_v1_service } from "./service_pb.js";
/**
 * Describes the file evershard/v1/documents.proto.
 */
export const file_evershard_v1_documents = /*@__PURE__*/ fileDesc("ChxldmVyc2hhcmQvdjEvZG9jdW1lbnRzLnByb3RvEgxldmVyc2hhcmQudjEiUAoSRG9jdW1lbnREZWZpbml0aW9uEgwKBHR5cGUYASABKAkSDAoEc3BlYxgCIAEoDBIPCgd2ZXJzaW9uGAMgASgEEg0KBXNpbmNlGAQgASgEIpEBCghEb2N1bWVudBIsCglhZ2dyZWdhdGUYASABKAsyGS5ldmVyc2hhcmQudjEuQWdncmVnYXRlSWQSDAoEanNvbhgCIAEoDBIPCgd2ZXJzaW9uGAMgASgEEhAKCHBvc2l0aW9uGAQgASgEEhAKCHByb2JsZW1zGAUgASgEEhQKDGxhc3RfcHJvYmxlbRgGIAEoCSJYChZEZWZpbmVEb2N1bWVudHNSZXF1ZXN0EgwKBHR5cGUYASABKAkSDAoEc3BlYxgCIAEoDBIVCghleHBlY3RlZBgDIAEoBEgAiAEBQgsKCV9leHBlY3RlZCIkChREcm9wRG9jdW1lbnRzUmVxdWVzdBIMCgR0eXBlGAEgASgJIhcKFURyb3BEb2N1bWVudHNSZXNwb25zZSJFChpEb2N1bWVudERlZmluaXRpb25zUmVxdWVzdBInCghhdF9sZWFzdBgBIAEoCzIVLmV2ZXJzaGFyZC52MS5BdExlYXN0IlQKG0RvY3VtZW50RGVmaW5pdGlvbnNSZXNwb25zZRI1CgtkZWZpbml0aW9ucxgBIAMoCzIgLmV2ZXJzaGFyZC52MS5Eb2N1bWVudERlZmluaXRpb24ifQoSR2V0RG9jdW1lbnRSZXF1ZXN0EiwKCWFnZ3JlZ2F0ZRgBIAEoCzIZLmV2ZXJzaGFyZC52MS5BZ2dyZWdhdGVJZBIQCghldmVudHVhbBgCIAEoCBInCghhdF9sZWFzdBgDIAEoCzIVLmV2ZXJzaGFyZC52MS5BdExlYXN0IpoBChRMaXN0RG9jdW1lbnRzUmVxdWVzdBIMCgR0eXBlGAEgASgJEhIKBWFmdGVyGAIgASgMSACIAQESDQoFbGltaXQYAyABKA0SEwoGZmlsdGVyGAQgASgJSAGIAQESJwoIYXRfbGVhc3QYBSABKAsyFS5ldmVyc2hhcmQudjEuQXRMZWFzdEIICgZfYWZ0ZXJCCQoHX2ZpbHRlciJwChVMaXN0RG9jdW1lbnRzUmVzcG9uc2USKQoJZG9jdW1lbnRzGAEgAygLMhYuZXZlcnNoYXJkLnYxLkRvY3VtZW50EhEKBG5leHQYAiABKAxIAIgBARIQCghwb3NpdGlvbhgDIAEoBEIHCgVfbmV4dCJuChVSZW1vdmVEb2N1bWVudFJlcXVlc3QSLAoJYWdncmVnYXRlGAEgASgLMhkuZXZlcnNoYXJkLnYxLkFnZ3JlZ2F0ZUlkEicKCGF0X2xlYXN0GAIgASgLMhUuZXZlcnNoYXJkLnYxLkF0TGVhc3QiGAoWUmVtb3ZlRG9jdW1lbnRSZXNwb25zZTL5AwoJRG9jdW1lbnRzElAKBkRlZmluZRIkLmV2ZXJzaGFyZC52MS5EZWZpbmVEb2N1bWVudHNSZXF1ZXN0GiAuZXZlcnNoYXJkLnYxLkRvY3VtZW50RGVmaW5pdGlvbhJPCgREcm9wEiIuZXZlcnNoYXJkLnYxLkRyb3BEb2N1bWVudHNSZXF1ZXN0GiMuZXZlcnNoYXJkLnYxLkRyb3BEb2N1bWVudHNSZXNwb25zZRJiCgtEZWZpbml0aW9ucxIoLmV2ZXJzaGFyZC52MS5Eb2N1bWVudERlZmluaXRpb25zUmVxdWVzdBopLmV2ZXJzaGFyZC52MS5Eb2N1bWVudERlZmluaXRpb25zUmVzcG9uc2USPwoDR2V0EiAuZXZlcnNoYXJkLnYxLkdldERvY3VtZW50UmVxdWVzdBoWLmV2ZXJzaGFyZC52MS5Eb2N1bWVudBJPCgRMaXN0EiIuZXZlcnNoYXJkLnYxLkxpc3REb2N1bWVudHNSZXF1ZXN0GiMuZXZlcnNoYXJkLnYxLkxpc3REb2N1bWVudHNSZXNwb25zZRJTCgZSZW1vdmUSIy5ldmVyc2hhcmQudjEuUmVtb3ZlRG9jdW1lbnRSZXF1ZXN0GiQuZXZlcnNoYXJkLnYxLlJlbW92ZURvY3VtZW50UmVzcG9uc2ViBnByb3RvMw", [file_evershard_v1_event, file_evershard_v1_service]);
/**
 * Describes the message evershard.v1.DocumentDefinition.
 * Use `create(DocumentDefinitionSchema)` to create a new message.
 */
export const DocumentDefinitionSchema = /*@__PURE__*/ messageDesc(file_evershard_v1_documents, 0);
/**
 * Describes the message evershard.v1.Document.
 * Use `create(DocumentSchema)` to create a new message.
 */
export const DocumentSchema = /*@__PURE__*/ messageDesc(file_evershard_v1_documents, 1);
/**
 * Describes the message evershard.v1.DefineDocumentsRequest.
 * Use `create(DefineDocumentsRequestSchema)` to create a new message.
 */
export const DefineDocumentsRequestSchema = /*@__PURE__*/ messageDesc(file_evershard_v1_documents, 2);
/**
 * Describes the message evershard.v1.DropDocumentsRequest.
 * Use `create(DropDocumentsRequestSchema)` to create a new message.
 */
export const DropDocumentsRequestSchema = /*@__PURE__*/ messageDesc(file_evershard_v1_documents, 3);
/**
 * Describes the message evershard.v1.DropDocumentsResponse.
 * Use `create(DropDocumentsResponseSchema)` to create a new message.
 */
export const DropDocumentsResponseSchema = /*@__PURE__*/ messageDesc(file_evershard_v1_documents, 4);
/**
 * Describes the message evershard.v1.DocumentDefinitionsRequest.
 * Use `create(DocumentDefinitionsRequestSchema)` to create a new message.
 */
export const DocumentDefinitionsRequestSchema = /*@__PURE__*/ messageDesc(file_evershard_v1_documents, 5);
/**
 * Describes the message evershard.v1.DocumentDefinitionsResponse.
 * Use `create(DocumentDefinitionsResponseSchema)` to create a new message.
 */
export const DocumentDefinitionsResponseSchema = /*@__PURE__*/ messageDesc(file_evershard_v1_documents, 6);
/**
 * Describes the message evershard.v1.GetDocumentRequest.
 * Use `create(GetDocumentRequestSchema)` to create a new message.
 */
export const GetDocumentRequestSchema = /*@__PURE__*/ messageDesc(file_evershard_v1_documents, 7);
/**
 * Describes the message evershard.v1.ListDocumentsRequest.
 * Use `create(ListDocumentsRequestSchema)` to create a new message.
 */
export const ListDocumentsRequestSchema = /*@__PURE__*/ messageDesc(file_evershard_v1_documents, 8);
/**
 * Describes the message evershard.v1.ListDocumentsResponse.
 * Use `create(ListDocumentsResponseSchema)` to create a new message.
 */
export const ListDocumentsResponseSchema = /*@__PURE__*/ messageDesc(file_evershard_v1_documents, 9);
/**
 * Describes the message evershard.v1.RemoveDocumentRequest.
 * Use `create(RemoveDocumentRequestSchema)` to create a new message.
 */
export const RemoveDocumentRequestSchema = /*@__PURE__*/ messageDesc(file_evershard_v1_documents, 10);
/**
 * Describes the message evershard.v1.RemoveDocumentResponse.
 * Use `create(RemoveDocumentResponseSchema)` to create a new message.
 */
export const RemoveDocumentResponseSchema = /*@__PURE__*/ messageDesc(file_evershard_v1_documents, 11);
/**
 * @generated from service evershard.v1.Documents
 */
export const Documents = /*@__PURE__*/ serviceDesc(file_evershard_v1_documents, 0);
