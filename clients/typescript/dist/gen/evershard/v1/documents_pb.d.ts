import type { GenFile, GenMessage, GenService } from "@bufbuild/protobuf/codegenv2";
import type { AggregateId } from "./event_pb.js";
import type { ProjectionInfoSchema } from "./projections_pb.js";
import type { AtLeast } from "./service_pb.js";
import type { Message } from "@bufbuild/protobuf";
/**
 * Describes the file evershard/v1/documents.proto.
 */
export declare const file_evershard_v1_documents: GenFile;
/**
 * @generated from message evershard.v1.DocumentDefinition
 */
export type DocumentDefinition = Message<"evershard.v1.DocumentDefinition"> & {
    /**
     * of aggregates
     *
     * @generated from field: string type = 1;
     */
    type: string;
    /**
     * JSON
     *
     * @generated from field: bytes spec = 2;
     */
    spec: Uint8Array;
    /**
     * @generated from field: uint64 version = 3;
     */
    version: bigint;
    /**
     * @generated from field: uint64 since = 4;
     */
    since: bigint;
};
/**
 * Describes the message evershard.v1.DocumentDefinition.
 * Use `create(DocumentDefinitionSchema)` to create a new message.
 */
export declare const DocumentDefinitionSchema: GenMessage<DocumentDefinition>;
/**
 * @generated from message evershard.v1.Document
 */
export type Document = Message<"evershard.v1.Document"> & {
    /**
     * @generated from field: evershard.v1.AggregateId aggregate = 1;
     */
    aggregate?: AggregateId | undefined;
    /**
     * @generated from field: bytes json = 2;
     */
    json: Uint8Array;
    /**
     * @generated from field: uint64 version = 3;
     */
    version: bigint;
    /**
     * @generated from field: uint64 position = 4;
     */
    position: bigint;
    /**
     * @generated from field: uint64 problems = 5;
     */
    problems: bigint;
    /**
     * @generated from field: string last_problem = 6;
     */
    lastProblem: string;
    /**
     * the version of the definition that it is made by
     *
     * @generated from field: uint64 definition = 7;
     */
    definition: bigint;
};
/**
 * Describes the message evershard.v1.Document.
 * Use `create(DocumentSchema)` to create a new message.
 */
export declare const DocumentSchema: GenMessage<Document>;
/**
 * @generated from message evershard.v1.DefineDocumentsRequest
 */
export type DefineDocumentsRequest = Message<"evershard.v1.DefineDocumentsRequest"> & {
    /**
     * @generated from field: string type = 1;
     */
    type: string;
    /**
     * @generated from field: bytes spec = 2;
     */
    spec: Uint8Array;
    /**
     * 0: there must be none; absent: whatever there is
     *
     * @generated from field: optional uint64 expected = 3;
     */
    expected?: bigint | undefined;
    /**
     * the same definition again makes its documents again too
     *
     * @generated from field: bool rebuild = 4;
     */
    rebuild: boolean;
};
/**
 * Describes the message evershard.v1.DefineDocumentsRequest.
 * Use `create(DefineDocumentsRequestSchema)` to create a new message.
 */
export declare const DefineDocumentsRequestSchema: GenMessage<DefineDocumentsRequest>;
/**
 * @generated from message evershard.v1.DropDocumentsRequest
 */
export type DropDocumentsRequest = Message<"evershard.v1.DropDocumentsRequest"> & {
    /**
     * @generated from field: string type = 1;
     */
    type: string;
};
/**
 * Describes the message evershard.v1.DropDocumentsRequest.
 * Use `create(DropDocumentsRequestSchema)` to create a new message.
 */
export declare const DropDocumentsRequestSchema: GenMessage<DropDocumentsRequest>;
/**
 * @generated from message evershard.v1.DropDocumentsResponse
 */
export type DropDocumentsResponse = Message<"evershard.v1.DropDocumentsResponse"> & {};
/**
 * Describes the message evershard.v1.DropDocumentsResponse.
 * Use `create(DropDocumentsResponseSchema)` to create a new message.
 */
export declare const DropDocumentsResponseSchema: GenMessage<DropDocumentsResponse>;
/**
 * @generated from message evershard.v1.DocumentDefinitionsRequest
 */
export type DocumentDefinitionsRequest = Message<"evershard.v1.DocumentDefinitionsRequest"> & {
    /**
     * @generated from field: evershard.v1.AtLeast at_least = 1;
     */
    atLeast?: AtLeast | undefined;
};
/**
 * Describes the message evershard.v1.DocumentDefinitionsRequest.
 * Use `create(DocumentDefinitionsRequestSchema)` to create a new message.
 */
export declare const DocumentDefinitionsRequestSchema: GenMessage<DocumentDefinitionsRequest>;
/**
 * @generated from message evershard.v1.DocumentDefinitionsResponse
 */
export type DocumentDefinitionsResponse = Message<"evershard.v1.DocumentDefinitionsResponse"> & {
    /**
     * @generated from field: repeated evershard.v1.DocumentDefinition definitions = 1;
     */
    definitions: DocumentDefinition[];
};
/**
 * Describes the message evershard.v1.DocumentDefinitionsResponse.
 * Use `create(DocumentDefinitionsResponseSchema)` to create a new message.
 */
export declare const DocumentDefinitionsResponseSchema: GenMessage<DocumentDefinitionsResponse>;
/**
 * @generated from message evershard.v1.DescribeDocumentsRequest
 */
export type DescribeDocumentsRequest = Message<"evershard.v1.DescribeDocumentsRequest"> & {
    /**
     * @generated from field: string type = 1;
     */
    type: string;
    /**
     * @generated from field: evershard.v1.AtLeast at_least = 2;
     */
    atLeast?: AtLeast | undefined;
};
/**
 * Describes the message evershard.v1.DescribeDocumentsRequest.
 * Use `create(DescribeDocumentsRequestSchema)` to create a new message.
 */
export declare const DescribeDocumentsRequestSchema: GenMessage<DescribeDocumentsRequest>;
/**
 * @generated from message evershard.v1.GetDocumentRequest
 */
export type GetDocumentRequest = Message<"evershard.v1.GetDocumentRequest"> & {
    /**
     * @generated from field: evershard.v1.AggregateId aggregate = 1;
     */
    aggregate?: AggregateId | undefined;
    /**
     * @generated from field: bool eventual = 2;
     */
    eventual: boolean;
    /**
     * where eventual: the rows must have passed it
     *
     * @generated from field: evershard.v1.AtLeast at_least = 3;
     */
    atLeast?: AtLeast | undefined;
};
/**
 * Describes the message evershard.v1.GetDocumentRequest.
 * Use `create(GetDocumentRequestSchema)` to create a new message.
 */
export declare const GetDocumentRequestSchema: GenMessage<GetDocumentRequest>;
/**
 * @generated from message evershard.v1.ListDocumentsRequest
 */
export type ListDocumentsRequest = Message<"evershard.v1.ListDocumentsRequest"> & {
    /**
     * @generated from field: string type = 1;
     */
    type: string;
    /**
     * a value; exclusive
     *
     * @generated from field: optional bytes after = 2;
     */
    after?: Uint8Array | undefined;
    /**
     * 0: 100
     *
     * @generated from field: uint32 limit = 3;
     */
    limit: number;
    /**
     * @generated from field: optional string filter = 4;
     */
    filter?: string | undefined;
    /**
     * the rows must have passed it
     *
     * @generated from field: evershard.v1.AtLeast at_least = 5;
     */
    atLeast?: AtLeast | undefined;
    /**
     * Rows of that version alone: of a further page what the first one named. One that is still being made is waited for; 0: the newest.
     * Absent: the newest that has caught up.
     *
     * @generated from field: optional uint64 definition = 6;
     */
    definition?: bigint | undefined;
};
/**
 * Describes the message evershard.v1.ListDocumentsRequest.
 * Use `create(ListDocumentsRequestSchema)` to create a new message.
 */
export declare const ListDocumentsRequestSchema: GenMessage<ListDocumentsRequest>;
/**
 * @generated from message evershard.v1.ListDocumentsResponse
 */
export type ListDocumentsResponse = Message<"evershard.v1.ListDocumentsResponse"> & {
    /**
     * @generated from field: repeated evershard.v1.Document documents = 1;
     */
    documents: Document[];
    /**
     * the next page's `after`; absent: this is the last one
     *
     * @generated from field: optional bytes next = 2;
     */
    next?: Uint8Array | undefined;
    /**
     * @generated from field: uint64 position = 3;
     */
    position: bigint;
    /**
     * the version of the definition that all of them are made by
     *
     * @generated from field: uint64 definition = 4;
     */
    definition: bigint;
};
/**
 * Describes the message evershard.v1.ListDocumentsResponse.
 * Use `create(ListDocumentsResponseSchema)` to create a new message.
 */
export declare const ListDocumentsResponseSchema: GenMessage<ListDocumentsResponse>;
/**
 * @generated from message evershard.v1.RemoveDocumentRequest
 */
export type RemoveDocumentRequest = Message<"evershard.v1.RemoveDocumentRequest"> & {
    /**
     * @generated from field: evershard.v1.AggregateId aggregate = 1;
     */
    aggregate?: AggregateId | undefined;
    /**
     * @generated from field: evershard.v1.AtLeast at_least = 2;
     */
    atLeast?: AtLeast | undefined;
};
/**
 * Describes the message evershard.v1.RemoveDocumentRequest.
 * Use `create(RemoveDocumentRequestSchema)` to create a new message.
 */
export declare const RemoveDocumentRequestSchema: GenMessage<RemoveDocumentRequest>;
/**
 * @generated from message evershard.v1.RemoveDocumentResponse
 */
export type RemoveDocumentResponse = Message<"evershard.v1.RemoveDocumentResponse"> & {};
/**
 * Describes the message evershard.v1.RemoveDocumentResponse.
 * Use `create(RemoveDocumentResponseSchema)` to create a new message.
 */
export declare const RemoveDocumentResponseSchema: GenMessage<RemoveDocumentResponse>;
/**
 * @generated from service evershard.v1.Documents
 */
export declare const Documents: GenService<{
    /**
     * Creates a definition, or changes it. Needs the scope admin, as Drop does.
     *
     * @generated from rpc evershard.v1.Documents.Define
     */
    define: {
        methodKind: "unary";
        input: typeof DefineDocumentsRequestSchema;
        output: typeof DocumentDefinitionSchema;
    };
    /**
     * @generated from rpc evershard.v1.Documents.Drop
     */
    drop: {
        methodKind: "unary";
        input: typeof DropDocumentsRequestSchema;
        output: typeof DropDocumentsResponseSchema;
    };
    /**
     * @generated from rpc evershard.v1.Documents.Definitions
     */
    definitions: {
        methodKind: "unary";
        input: typeof DocumentDefinitionsRequestSchema;
        output: typeof DocumentDefinitionsResponseSchema;
    };
    /**
     * The versions of a definition whose documents are kept, how far each is, which is read. `name` is the type.
     *
     * @generated from rpc evershard.v1.Documents.Describe
     */
    describe: {
        methodKind: "unary";
        input: typeof DescribeDocumentsRequestSchema;
        output: typeof ProjectionInfoSchema;
    };
    /**
     * @generated from rpc evershard.v1.Documents.Get
     */
    get: {
        methodKind: "unary";
        input: typeof GetDocumentRequestSchema;
        output: typeof DocumentSchema;
    };
    /**
     * A page, in order of value.
     *
     * @generated from rpc evershard.v1.Documents.List
     */
    list: {
        methodKind: "unary";
        input: typeof ListDocumentsRequestSchema;
        output: typeof ListDocumentsResponseSchema;
    };
    /**
     * Hides a document until its next event. Needs the scope append.
     *
     * @generated from rpc evershard.v1.Documents.Remove
     */
    remove: {
        methodKind: "unary";
        input: typeof RemoveDocumentRequestSchema;
        output: typeof RemoveDocumentResponseSchema;
    };
}>;
