// A server that does what a test says: for what a real one does too seldom.

import { fromBinary, toBinary, create, type MessageInitShape } from "@bufbuild/protobuf";
import {
  Metadata,
  Server,
  ServerCredentials,
  status,
  type sendUnaryData,
  type ServerDuplexStream,
  type ServerUnaryCall,
  type ServerWritableStream,
  type ServiceDefinition,
} from "@grpc/grpc-js";

import { AppendOutcomeSchema, MembersResponseSchema } from "../src/gen/evershard/v1/service_pb.js";
import {
  AppendRequestSchema,
  AppendResponseSchema,
  ErrorCode,
  ErrorSchema,
  PageSchema,
  type AppendRequest,
} from "../src/gen/evershard/v1/store_pb.js";

export type Answer =
  | { appended: MessageInitShape<typeof AppendResponseSchema> }
  | { code: status; error?: MessageInitShape<typeof ErrorSchema>; text?: string }
  | "silence";

const bytes = (value: Uint8Array): Buffer => Buffer.from(value);
const method = {
  requestStream: false,
  requestSerialize: bytes,
  requestDeserialize: (b: Buffer) => b,
  responseSerialize: bytes,
  responseDeserialize: (b: Buffer) => b,
};
const service: ServiceDefinition = {
  append: { ...method, path: "/evershard.v1.EventStore/Append", responseStream: false },
  appendMany: { ...method, path: "/evershard.v1.EventStore/AppendMany", requestStream: true, responseStream: true },
  read: { ...method, path: "/evershard.v1.EventStore/Read", responseStream: true },
  createGroup: { ...method, path: "/evershard.v1.Groups/CreateGroup", responseStream: false },
  schedule: { ...method, path: "/evershard.v1.ScheduledAppends/Schedule", responseStream: false },
};
const membersMethod = { members: { ...method, path: "/evershard.v1.EventStore/Members", responseStream: false } };

/** A page, or how the read ends instead. */
export type PageAnswer =
  | MessageInitShape<typeof PageSchema>
  | "silence"
  | { code: status; error?: MessageInitShape<typeof ErrorSchema> };

export class FakeServer implements AsyncDisposable {
  readonly requests: Uint8Array[] = [];
  readonly metadata: Metadata[] = [];
  address = "";
  /** What it says of itself, and how often it was asked. */
  members: MessageInitShape<typeof MembersResponseSchema> | undefined;
  readonly asked = { members: 0 };
  /** After its page a read breaks, once this is so: grpc-js may throw away a page that nobody has read when a call fails (grpc-node #2764). */
  ends: Promise<void> | undefined;
  readonly #server = new Server();

  /** `answer`: to each append, from 0, to each group that is created, and to each schedule; `page`: to each read, which then ends well. Without `members` it is of an earlier release. */
  static async start(
    answer: (request: AppendRequest, nr: number) => Answer,
    page?: (nr: number) => PageAnswer,
    members?: MessageInitShape<typeof MembersResponseSchema>,
  ): Promise<FakeServer> {
    const fake = new FakeServer();
    fake.members = members;
    if (members) {
      fake.#server.addService(membersMethod, {
        members: (_: unknown, done: sendUnaryData<Uint8Array>) => {
          fake.asked.members += 1;
          done(null, toBinary(MembersResponseSchema, create(MembersResponseSchema, fake.members!)));
        },
      });
    }
    fake.#server.addService(service, {
      append: (call: ServerUnaryCall<Uint8Array, Uint8Array>, done: sendUnaryData<Uint8Array>) => {
        fake.requests.push(new Uint8Array(call.request));
        fake.metadata.push(call.metadata);
        give(answer(fromBinary(AppendRequestSchema, call.request), fake.requests.length - 1), done, (appended) =>
          toBinary(AppendResponseSchema, create(AppendResponseSchema, appended)),
        );
      },
      createGroup: (call: ServerUnaryCall<Uint8Array, Uint8Array>, done: sendUnaryData<Uint8Array>) => {
        fake.requests.push(new Uint8Array(call.request));
        give(answer(create(AppendRequestSchema), fake.requests.length - 1), done, () => new Uint8Array());
      },
      schedule: (call: ServerUnaryCall<Uint8Array, Uint8Array>, done: sendUnaryData<Uint8Array>) => {
        fake.requests.push(new Uint8Array(call.request));
        give(answer(create(AppendRequestSchema), fake.requests.length - 1), done, () => new Uint8Array());
      },
      appendMany: (call: ServerDuplexStream<Uint8Array, Uint8Array>) => {
        call.on("data", (request: Uint8Array) => {
          fake.requests.push(new Uint8Array(request));
          const given = answer(fromBinary(AppendRequestSchema, request), fake.requests.length - 1);
          if (given === "silence") return;
          const outcome =
            "appended" in given
              ? { case: "appended" as const, value: create(AppendResponseSchema, given.appended) }
              : { case: "refused" as const, value: create(ErrorSchema, given.error) };
          call.write(toBinary(AppendOutcomeSchema, create(AppendOutcomeSchema, { outcome })));
        });
        call.on("end", () => call.end());
      },
      read: (call: ServerWritableStream<Uint8Array, Uint8Array>) => {
        fake.requests.push(new Uint8Array(call.request));
        const given = page!(fake.requests.length - 1);
        const fails = (code: status, error?: MessageInitShape<typeof ErrorSchema>) => {
          const metadata = new Metadata();
          if (error) metadata.set("grpc-status-details-bin", statusOf(code, create(ErrorSchema, error)));
          call.emit("error", { code, details: error?.message ?? "", metadata });
        };
        if (given === "silence") return;
        if ("code" in given) return fails(given.code, given.error);
        call.write(toBinary(PageSchema, create(PageSchema, given)));
        if (!fake.ends) return call.end();
        void fake.ends.then(() =>
          fails(status.UNAVAILABLE, { code: ErrorCode.UNAVAILABLE, message: "the server is stopping" }),
        );
      },
    });
    const port = await new Promise<number>((resolve, reject) =>
      fake.#server.bindAsync("127.0.0.1:0", ServerCredentials.createInsecure(), (error, bound) =>
        error ? reject(error) : resolve(bound),
      ),
    );
    fake.address = `127.0.0.1:${port}`;
    return fake;
  }
  async [Symbol.asyncDispose](): Promise<void> {
    this.#server.forceShutdown();
  }
}

function give(
  answer: Answer,
  done: sendUnaryData<Uint8Array>,
  bytesOf: (appended: MessageInitShape<typeof AppendResponseSchema>) => Uint8Array,
): void {
  if (answer === "silence") return;
  if ("appended" in answer) return done(null, bytesOf(answer.appended));
  const metadata = new Metadata();
  if (answer.error) metadata.set("grpc-status-details-bin", statusOf(answer.code, create(ErrorSchema, answer.error)));
  done({ code: answer.code, details: answer.text ?? "", metadata });
}

/** A google.rpc.Status: 1 code, 3 details, an Any: 1 type, 2 value. */
export function statusOf(code: number, error: MessageInitShape<typeof ErrorSchema>): Buffer {
  const field = (nr: number, value: Uint8Array) =>
    Buffer.concat([Buffer.from([(nr << 3) | 2]), varint(value.length), value]);
  const any = Buffer.concat([
    field(1, Buffer.from("type.googleapis.com/evershard.v1.Error")),
    field(2, toBinary(ErrorSchema, create(ErrorSchema, error))),
  ]);
  return Buffer.concat([Buffer.from([0x08, code]), field(3, any)]);
}

function varint(value: number): Buffer {
  return value < 128 ? Buffer.from([value]) : Buffer.from([(value & 127) | 128, value >> 7]);
}
