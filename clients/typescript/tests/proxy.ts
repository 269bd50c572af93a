// A wire between client and server that can be cut, and that can go silent.

import { connect, createServer, type AddressInfo, type Server, type Socket } from "node:net";

export class Proxy implements AsyncDisposable {
  readonly #sockets = new Set<Socket>();
  /** Bytes go nowhere, and nobody is told. */
  silent = false;
  connections = 0;
  /** After so many bytes to the client the connection is cut; then set anew. */
  cutAfterBytes = Infinity;

  private constructor(private readonly server: Server) {}

  static async to(port: number): Promise<Proxy> {
    const server = createServer();
    const proxy = new Proxy(server);
    server.on("connection", (near) => proxy.#join(near, connect(port, "127.0.0.1")));
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    return proxy;
  }

  get address(): string {
    return `127.0.0.1:${(this.server.address() as AddressInfo).port}`;
  }

  cut(): void {
    for (const socket of this.#sockets) socket.resetAndDestroy();
  }
  async [Symbol.asyncDispose](): Promise<void> {
    this.cut();
    await new Promise((resolve) => this.server.close(resolve));
  }

  #join(near: Socket, far: Socket): void {
    this.connections += 1;
    const ends = [near, far] as const;
    for (const socket of ends) {
      this.#sockets.add(socket);
      socket.on("error", () => {});
      socket.on("close", () => {
        this.#sockets.delete(socket);
        for (const other of ends) other.destroy();
      });
    }
    near.on("data", (bytes) => this.#pass(bytes, far));
    far.on("data", (bytes) => {
      this.cutAfterBytes -= bytes.length;
      if (this.cutAfterBytes < 0) {
        this.cutAfterBytes = Infinity;
        near.resetAndDestroy();
        return;
      }
      this.#pass(bytes, near);
    });
  }
  #pass(bytes: Buffer, to: Socket): void {
    if (!this.silent) to.write(bytes);
  }
}
