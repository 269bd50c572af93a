// Tables that projections made: their rows, by filter; their parked events. Field numbers are frozen, see event.proto.
// How they are created and dropped: projections.
import { fileDesc, messageDesc, serviceDesc } from "@bufbuild/protobuf/codegenv2";
import { file_evershard_v1_service } from "./service_pb.js";
/**
 * Describes the file evershard/v1/tables.proto.
 */
export const file_evershard_v1_tables = /*@__PURE__*/ fileDesc("ChlldmVyc2hhcmQvdjEvdGFibGVzLnByb3RvEgxldmVyc2hhcmQudjEicgoKVGFibGVWYWx1ZRIRCgdib29sZWFuGAEgASgISAASEQoHaW50ZWdlchgCIAEoEkgAEhAKBm51bWJlchgDIAEoAUgAEhEKB3RpbWVfdXMYBCABKBJIABIQCgZzdHJpbmcYBSABKAxIAEIHCgV2YWx1ZSIvCgpUYWJsZU9yZGVyEg0KBWZpZWxkGAEgASgJEhIKCmRlc2NlbmRpbmcYAiABKAgimQIKC1RhYmxlU2VsZWN0Eg0KBXdoZXJlGAEgASgJEj0KCnBhcmFtZXRlcnMYAiADKAsyKS5ldmVyc2hhcmQudjEuVGFibGVTZWxlY3QuUGFyYW1ldGVyc0VudHJ5Eg4KBmZpZWxkcxgDIAMoCRIqCghvcmRlcl9ieRgEIAMoCzIYLmV2ZXJzaGFyZC52MS5UYWJsZU9yZGVyEhIKBWxpbWl0GAUgASgESACIAQESFQoNY29udGludWVfZnJvbRgGIAEoCRpLCg9QYXJhbWV0ZXJzRW50cnkSCwoDa2V5GAEgASgJEicKBXZhbHVlGAIgASgLMhguZXZlcnNoYXJkLnYxLlRhYmxlVmFsdWU6AjgBQggKBl9saW1pdCKUAQoNU2VsZWN0UmVxdWVzdBINCgV0YWJsZRgBIAEoCRIpCgZzZWxlY3QYAiABKAsyGS5ldmVyc2hhcmQudjEuVGFibGVTZWxlY3QSFAoHdmVyc2lvbhgDIAEoBEgAiAEBEicKCGF0X2xlYXN0GAQgASgLMhUuZXZlcnNoYXJkLnYxLkF0TGVhc3RCCgoIX3ZlcnNpb24iNAoIVGFibGVSb3cSKAoGdmFsdWVzGAEgAygLMhguZXZlcnNoYXJkLnYxLlRhYmxlVmFsdWUiiAEKDlNlbGVjdFJlc3BvbnNlEg4KBmZpZWxkcxgBIAMoCRIkCgRyb3dzGAIgAygLMhYuZXZlcnNoYXJkLnYxLlRhYmxlUm93EgwKBG5leHQYAyABKAkSEAoIcG9zaXRpb24YBCABKAQSEQoJbG9va2VkX2F0GAUgASgEEg0KBXR5cGVzGAYgAygNImwKDkV4cGxhaW5SZXF1ZXN0Eg0KBXRhYmxlGAEgASgJEikKBnNlbGVjdBgCIAEoCzIZLmV2ZXJzaGFyZC52MS5UYWJsZVNlbGVjdBIUCgd2ZXJzaW9uGAMgASgESACIAQFCCgoIX3ZlcnNpb24iZQoPRXhwbGFpblJlc3BvbnNlEgwKBHBhdGgYASABKA0SDQoFZmllbGQYAiABKAkSDgoGc29ydGVkGAMgASgIEhEKCWJhY2t3YXJkcxgEIAEoCBISCgp1bmZpbHRlcmVkGAUgASgIIkcKFERlc2NyaWJlVGFibGVSZXF1ZXN0Eg0KBXRhYmxlGAEgASgJEhQKB3ZlcnNpb24YAiABKARIAIgBAUIKCghfdmVyc2lvbiJICgpUYWJsZUZpZWxkEgwKBG5hbWUYASABKAkSDAoEdHlwZRgCIAEoDRIMCgRyb2xlGAMgASgNEhAKCG51bGxhYmxlGAQgASgIIpcCCglUYWJsZUluZm8SEgoKcHJvamVjdGlvbhgBIAEoCRIPCgd2ZXJzaW9uGAIgASgEEg0KBXRhYmxlGAMgASgJEigKBmZpZWxkcxgEIAMoCzIYLmV2ZXJzaGFyZC52MS5UYWJsZUZpZWxkEhIKCmRlZmluaXRpb24YBSABKAkSEAoIcG9zaXRpb24YBiABKAQSEAoIY29tcGxldGUYByABKAgSDQoFc3RhdGUYCCABKAkSDQoFZXJyb3IYCSABKAkSLwoHZmlndXJlcxgKIAMoCzIeLmV2ZXJzaGFyZC52MS5UYWJsZUluZm8uRmlndXJlGiUKBkZpZ3VyZRIMCgRuYW1lGAEgASgJEg0KBXZhbHVlGAIgASgEIhMKEUxpc3RUYWJsZXNSZXF1ZXN0Ij0KEkxpc3RUYWJsZXNSZXNwb25zZRInCgZ0YWJsZXMYASADKAsyFy5ldmVyc2hhcmQudjEuVGFibGVJbmZvIkQKFUxpc3RQYXJrZWRSb3dzUmVxdWVzdBINCgV0YWJsZRgBIAEoCRINCgVhZnRlchgCIAEoBBINCgVsaW1pdBgDIAEoDSKKAQoJUGFya2VkUm93EhAKCHBvc2l0aW9uGAEgASgEEgwKBGtpbmQYAiABKAkSDAoEdHlwZRgDIAEoCRIRCglhZ2dyZWdhdGUYBCABKAkSDgoGcmVhc29uGAUgASgJEhAKCGF0dGVtcHRzGAYgASgEEhEKBHBhcnQYByABKA1IAIgBAUIHCgVfcGFydCJBChZMaXN0UGFya2VkUm93c1Jlc3BvbnNlEicKBnBhcmtlZBgBIAMoCzIXLmV2ZXJzaGFyZC52MS5QYXJrZWRSb3ciTAoXU2V0dGxlUGFya2VkUm93c1JlcXVlc3QSDQoFdGFibGUYASABKAkSEQoJcG9zaXRpb25zGAIgAygEEg8KB2Rpc2NhcmQYAyABKAgiLAoYU2V0dGxlUGFya2VkUm93c1Jlc3BvbnNlEhAKCHBvc2l0aW9uGAEgASgEMvQDCgZUYWJsZXMSQwoGU2VsZWN0EhsuZXZlcnNoYXJkLnYxLlNlbGVjdFJlcXVlc3QaHC5ldmVyc2hhcmQudjEuU2VsZWN0UmVzcG9uc2USRgoHRXhwbGFpbhIcLmV2ZXJzaGFyZC52MS5FeHBsYWluUmVxdWVzdBodLmV2ZXJzaGFyZC52MS5FeHBsYWluUmVzcG9uc2USTAoNRGVzY3JpYmVUYWJsZRIiLmV2ZXJzaGFyZC52MS5EZXNjcmliZVRhYmxlUmVxdWVzdBoXLmV2ZXJzaGFyZC52MS5UYWJsZUluZm8STwoKTGlzdFRhYmxlcxIfLmV2ZXJzaGFyZC52MS5MaXN0VGFibGVzUmVxdWVzdBogLmV2ZXJzaGFyZC52MS5MaXN0VGFibGVzUmVzcG9uc2USWwoOTGlzdFBhcmtlZFJvd3MSIy5ldmVyc2hhcmQudjEuTGlzdFBhcmtlZFJvd3NSZXF1ZXN0GiQuZXZlcnNoYXJkLnYxLkxpc3RQYXJrZWRSb3dzUmVzcG9uc2USYQoQU2V0dGxlUGFya2VkUm93cxIlLmV2ZXJzaGFyZC52MS5TZXR0bGVQYXJrZWRSb3dzUmVxdWVzdBomLmV2ZXJzaGFyZC52MS5TZXR0bGVQYXJrZWRSb3dzUmVzcG9uc2ViBnByb3RvMw", [file_evershard_v1_service]);
/**
 * Describes the message evershard.v1.TableValue.
 * Use `create(TableValueSchema)` to create a new message.
 */
export const TableValueSchema = /*@__PURE__*/ messageDesc(file_evershard_v1_tables, 0);
/**
 * Describes the message evershard.v1.TableOrder.
 * Use `create(TableOrderSchema)` to create a new message.
 */
export const TableOrderSchema = /*@__PURE__*/ messageDesc(file_evershard_v1_tables, 1);
/**
 * Describes the message evershard.v1.TableSelect.
 * Use `create(TableSelectSchema)` to create a new message.
 */
export const TableSelectSchema = /*@__PURE__*/ messageDesc(file_evershard_v1_tables, 2);
/**
 * Describes the message evershard.v1.SelectRequest.
 * Use `create(SelectRequestSchema)` to create a new message.
 */
export const SelectRequestSchema = /*@__PURE__*/ messageDesc(file_evershard_v1_tables, 3);
/**
 * Describes the message evershard.v1.TableRow.
 * Use `create(TableRowSchema)` to create a new message.
 */
export const TableRowSchema = /*@__PURE__*/ messageDesc(file_evershard_v1_tables, 4);
/**
 * Describes the message evershard.v1.SelectResponse.
 * Use `create(SelectResponseSchema)` to create a new message.
 */
export const SelectResponseSchema = /*@__PURE__*/ messageDesc(file_evershard_v1_tables, 5);
/**
 * Describes the message evershard.v1.ExplainRequest.
 * Use `create(ExplainRequestSchema)` to create a new message.
 */
export const ExplainRequestSchema = /*@__PURE__*/ messageDesc(file_evershard_v1_tables, 6);
/**
 * Describes the message evershard.v1.ExplainResponse.
 * Use `create(ExplainResponseSchema)` to create a new message.
 */
export const ExplainResponseSchema = /*@__PURE__*/ messageDesc(file_evershard_v1_tables, 7);
/**
 * Describes the message evershard.v1.DescribeTableRequest.
 * Use `create(DescribeTableRequestSchema)` to create a new message.
 */
export const DescribeTableRequestSchema = /*@__PURE__*/ messageDesc(file_evershard_v1_tables, 8);
/**
 * Describes the message evershard.v1.TableField.
 * Use `create(TableFieldSchema)` to create a new message.
 */
export const TableFieldSchema = /*@__PURE__*/ messageDesc(file_evershard_v1_tables, 9);
/**
 * Describes the message evershard.v1.TableInfo.
 * Use `create(TableInfoSchema)` to create a new message.
 */
export const TableInfoSchema = /*@__PURE__*/ messageDesc(file_evershard_v1_tables, 10);
/**
 * Describes the message evershard.v1.TableInfo.Figure.
 * Use `create(TableInfo_FigureSchema)` to create a new message.
 */
export const TableInfo_FigureSchema = /*@__PURE__*/ messageDesc(file_evershard_v1_tables, 10, 0);
/**
 * Describes the message evershard.v1.ListTablesRequest.
 * Use `create(ListTablesRequestSchema)` to create a new message.
 */
export const ListTablesRequestSchema = /*@__PURE__*/ messageDesc(file_evershard_v1_tables, 11);
/**
 * Describes the message evershard.v1.ListTablesResponse.
 * Use `create(ListTablesResponseSchema)` to create a new message.
 */
export const ListTablesResponseSchema = /*@__PURE__*/ messageDesc(file_evershard_v1_tables, 12);
/**
 * Describes the message evershard.v1.ListParkedRowsRequest.
 * Use `create(ListParkedRowsRequestSchema)` to create a new message.
 */
export const ListParkedRowsRequestSchema = /*@__PURE__*/ messageDesc(file_evershard_v1_tables, 13);
/**
 * Describes the message evershard.v1.ParkedRow.
 * Use `create(ParkedRowSchema)` to create a new message.
 */
export const ParkedRowSchema = /*@__PURE__*/ messageDesc(file_evershard_v1_tables, 14);
/**
 * Describes the message evershard.v1.ListParkedRowsResponse.
 * Use `create(ListParkedRowsResponseSchema)` to create a new message.
 */
export const ListParkedRowsResponseSchema = /*@__PURE__*/ messageDesc(file_evershard_v1_tables, 15);
/**
 * Describes the message evershard.v1.SettleParkedRowsRequest.
 * Use `create(SettleParkedRowsRequestSchema)` to create a new message.
 */
export const SettleParkedRowsRequestSchema = /*@__PURE__*/ messageDesc(file_evershard_v1_tables, 16);
/**
 * Describes the message evershard.v1.SettleParkedRowsResponse.
 * Use `create(SettleParkedRowsResponseSchema)` to create a new message.
 */
export const SettleParkedRowsResponseSchema = /*@__PURE__*/ messageDesc(file_evershard_v1_tables, 17);
/**
 * @generated from service evershard.v1.Tables
 */
export const Tables = /*@__PURE__*/ serviceDesc(file_evershard_v1_tables, 0);
