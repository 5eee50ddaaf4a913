/**
 * A claim on a port until the gateway listens on it. The system lets gateways of one user share a port, and the look whether it is
 * free is not one step with taking it: two gateways that start together could both find it free. A name of an abstract
 * socket (Linux) is given to one of them, and is free again when that process ends.
 */
import { once } from "node:events";
import { createServer, type Server } from "node:net";

export class PortClaim {
  readonly #held: Server[] = [];

  /** Claims a port at each address. @throws Error as `listen` where another gateway has a claim on one */
  async add(addresses: readonly string[], port: number): Promise<void> {
    for (const address of addresses) {
      const server = createServer((socket) => void socket.destroy());
      server.listen({ path: `\0tollgate:${address}:${port}`, exclusive: true });
      try {
        await once(server, "listening");
        this.#held.push(server);
      } catch (error) {
        // Where such sockets are not allowed, the look at the port is all there is.
        if ((error as NodeJS.ErrnoException).code === "EADDRINUSE") throw inUse(address, port);
      }
    }
  }

  /** Twice is once. */
  release(): void {
    for (const server of this.#held.splice(0)) server.close();
  }
}

const inUse = (address: string, port: number): Error =>
  Object.assign(new Error(`listen EADDRINUSE: address already in use ${address}:${port}`), {
    code: "EADDRINUSE",
    syscall: "listen",
    address,
    port,
  });
