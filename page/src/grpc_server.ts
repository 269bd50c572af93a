// The server as the command line names it, in commands to paste: its host as this page was called, gRPC's port as the server tells;
// and whether it is a node of a cluster.

import { get } from "./api.ts";
import { Cell } from "./cell.ts";

export const grpcPort = new Cell("7420");
export const isNode = new Cell(false);

export async function askGrpcPort(): Promise<void> {
  const info = await get<{ listen?: { grpc?: string }; cluster?: boolean }>("info").catch(() => undefined); // what is wrong, the views tell
  isNode.set(info?.cluster === true);
  const told = info?.listen?.grpc?.split(", ").find((address) => /:\d+$/.test(address) && !address.startsWith("unix:"));
  if (told) grpcPort.set(told.slice(told.lastIndexOf(":") + 1));
}

export const grpcServer = (): string => {
  const host = location.hostname.includes(":") ? `[${location.hostname.replace(/[[\]]/g, "")}]` : location.hostname;
  return `${host}:${grpcPort.value}`;
};
