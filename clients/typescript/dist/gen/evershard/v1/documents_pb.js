// Documents: the current state of aggregates as JSON, by id. Field numbers are frozen, see event.proto; failures as in service.proto.
import { fileDesc, messageDesc, serviceDesc } from "@bufbuild/protobuf/codegenv2";
import { file_evershard_v1_event } from "./event_pb.js";
import { file_evershard_v1_projections } from "./projections_pb.js";
import { file_evershard_v1_service } from "./service_pb.js";
/**
 * Describes the file evershard/v1/documents.proto.
 */
export const file_evershard_v1_documents = /*@__PURE__*/ fileDesc("ChxldmVyc2hhcmQvdjEvZG9jdW1lbnRzLnByb3RvEgxldmVyc2hhcmQudjEiUAoSRG9jdW1lbnREZWZpbml0aW9uEgwKBHR5cGUYASABKAkSDAoEc3BlYxgCIAEoDBIPCgd2ZXJzaW9uGAMgASgEEg0KBXNpbmNlGAQgASgEIqUBCghEb2N1bWVudBIsCglhZ2dyZWdhdGUYASABKAsyGS5ldmVyc2hhcmQudjEuQWdncmVnYXRlSWQSDAoEanNvbhgCIAEoDBIPCgd2ZXJzaW9uGAMgASgEEhAKCHBvc2l0aW9uGAQgASgEEhAKCHByb2JsZW1zGAUgASgEEhQKDGxhc3RfcHJvYmxlbRgGIAEoCRISCgpkZWZpbml0aW9uGAcgASgEImkKFkRlZmluZURvY3VtZW50c1JlcXVlc3QSDAoEdHlwZRgBIAEoCRIMCgRzcGVjGAIgASgMEhUKCGV4cGVjdGVkGAMgASgESACIAQESDwoHcmVidWlsZBgEIAEoCEILCglfZXhwZWN0ZWQiJAoURHJvcERvY3VtZW50c1JlcXVlc3QSDAoEdHlwZRgBIAEoCSIXChVEcm9wRG9jdW1lbnRzUmVzcG9uc2UiRQoaRG9jdW1lbnREZWZpbml0aW9uc1JlcXVlc3QSJwoIYXRfbGVhc3QYASABKAsyFS5ldmVyc2hhcmQudjEuQXRMZWFzdCJUChtEb2N1bWVudERlZmluaXRpb25zUmVzcG9uc2USNQoLZGVmaW5pdGlvbnMYASADKAsyIC5ldmVyc2hhcmQudjEuRG9jdW1lbnREZWZpbml0aW9uIlEKGERlc2NyaWJlRG9jdW1lbnRzUmVxdWVzdBIMCgR0eXBlGAEgASgJEicKCGF0X2xlYXN0GAIgASgLMhUuZXZlcnNoYXJkLnYxLkF0TGVhc3QifQoSR2V0RG9jdW1lbnRSZXF1ZXN0EiwKCWFnZ3JlZ2F0ZRgBIAEoCzIZLmV2ZXJzaGFyZC52MS5BZ2dyZWdhdGVJZBIQCghldmVudHVhbBgCIAEoCBInCghhdF9sZWFzdBgDIAEoCzIVLmV2ZXJzaGFyZC52MS5BdExlYXN0IsIBChRMaXN0RG9jdW1lbnRzUmVxdWVzdBIMCgR0eXBlGAEgASgJEhIKBWFmdGVyGAIgASgMSACIAQESDQoFbGltaXQYAyABKA0SEwoGZmlsdGVyGAQgASgJSAGIAQESJwoIYXRfbGVhc3QYBSABKAsyFS5ldmVyc2hhcmQudjEuQXRMZWFzdBIXCgpkZWZpbml0aW9uGAYgASgESAKIAQFCCAoGX2FmdGVyQgkKB19maWx0ZXJCDQoLX2RlZmluaXRpb24ihAEKFUxpc3REb2N1bWVudHNSZXNwb25zZRIpCglkb2N1bWVudHMYASADKAsyFi5ldmVyc2hhcmQudjEuRG9jdW1lbnQSEQoEbmV4dBgCIAEoDEgAiAEBEhAKCHBvc2l0aW9uGAMgASgEEhIKCmRlZmluaXRpb24YBCABKARCBwoFX25leHQibgoVUmVtb3ZlRG9jdW1lbnRSZXF1ZXN0EiwKCWFnZ3JlZ2F0ZRgBIAEoCzIZLmV2ZXJzaGFyZC52MS5BZ2dyZWdhdGVJZBInCghhdF9sZWFzdBgCIAEoCzIVLmV2ZXJzaGFyZC52MS5BdExlYXN0IhgKFlJlbW92ZURvY3VtZW50UmVzcG9uc2UyywQKCURvY3VtZW50cxJQCgZEZWZpbmUSJC5ldmVyc2hhcmQudjEuRGVmaW5lRG9jdW1lbnRzUmVxdWVzdBogLmV2ZXJzaGFyZC52MS5Eb2N1bWVudERlZmluaXRpb24STwoERHJvcBIiLmV2ZXJzaGFyZC52MS5Ecm9wRG9jdW1lbnRzUmVxdWVzdBojLmV2ZXJzaGFyZC52MS5Ecm9wRG9jdW1lbnRzUmVzcG9uc2USYgoLRGVmaW5pdGlvbnMSKC5ldmVyc2hhcmQudjEuRG9jdW1lbnREZWZpbml0aW9uc1JlcXVlc3QaKS5ldmVyc2hhcmQudjEuRG9jdW1lbnREZWZpbml0aW9uc1Jlc3BvbnNlElAKCERlc2NyaWJlEiYuZXZlcnNoYXJkLnYxLkRlc2NyaWJlRG9jdW1lbnRzUmVxdWVzdBocLmV2ZXJzaGFyZC52MS5Qcm9qZWN0aW9uSW5mbxI/CgNHZXQSIC5ldmVyc2hhcmQudjEuR2V0RG9jdW1lbnRSZXF1ZXN0GhYuZXZlcnNoYXJkLnYxLkRvY3VtZW50Ek8KBExpc3QSIi5ldmVyc2hhcmQudjEuTGlzdERvY3VtZW50c1JlcXVlc3QaIy5ldmVyc2hhcmQudjEuTGlzdERvY3VtZW50c1Jlc3BvbnNlElMKBlJlbW92ZRIjLmV2ZXJzaGFyZC52MS5SZW1vdmVEb2N1bWVudFJlcXVlc3QaJC5ldmVyc2hhcmQudjEuUmVtb3ZlRG9jdW1lbnRSZXNwb25zZWIGcHJvdG8z", [file_evershard_v1_event, file_evershard_v1_projections, file_evershard_v1_service]);
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
 * Describes the message evershard.v1.DescribeDocumentsRequest.
 * Use `create(DescribeDocumentsRequestSchema)` to create a new message.
 */
export const DescribeDocumentsRequestSchema = /*@__PURE__*/ messageDesc(file_evershard_v1_documents, 7);
/**
 * Describes the message evershard.v1.GetDocumentRequest.
 * Use `create(GetDocumentRequestSchema)` to create a new message.
 */
export const GetDocumentRequestSchema = /*@__PURE__*/ messageDesc(file_evershard_v1_documents, 8);
/**
 * Describes the message evershard.v1.ListDocumentsRequest.
 * Use `create(ListDocumentsRequestSchema)` to create a new message.
 */
export const ListDocumentsRequestSchema = /*@__PURE__*/ messageDesc(file_evershard_v1_documents, 9);
/**
 * Describes the message evershard.v1.ListDocumentsResponse.
 * Use `create(ListDocumentsResponseSchema)` to create a new message.
 */
export const ListDocumentsResponseSchema = /*@__PURE__*/ messageDesc(file_evershard_v1_documents, 10);
/**
 * Describes the message evershard.v1.RemoveDocumentRequest.
 * Use `create(RemoveDocumentRequestSchema)` to create a new message.
 */
export const RemoveDocumentRequestSchema = /*@__PURE__*/ messageDesc(file_evershard_v1_documents, 11);
/**
 * Describes the message evershard.v1.RemoveDocumentResponse.
 * Use `create(RemoveDocumentResponseSchema)` to create a new message.
 */
export const RemoveDocumentResponseSchema = /*@__PURE__*/ messageDesc(file_evershard_v1_documents, 12);
/**
 * @generated from service evershard.v1.Documents
 */
export const Documents = /*@__PURE__*/ serviceDesc(file_evershard_v1_documents, 0);
