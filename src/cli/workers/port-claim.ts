/**
 * A claim on a port until the gateway listens on it. The system lets gateways of one user share a port, and checking a port and taking
 * it are separate steps. So two gateways that start together could both find it free. The system gives the name of an abstract socket
 * (Linux) to only one of them, and frees it when that process ends.
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
        // If such sockets are not allowed, only the check of the port itself remains.
        if ((error as NodeJS.ErrnoException).code === "EADDRINUSE") throw inUse(address, port);
      }
    }
  }

  /** May be called twice. */
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
