/** The port of a gateway. On Linux several sockets share it by SO_REUSEPORT, and the system spreads connections over them. */
import { lookup } from "node:dns/promises";
import { once } from "node:events";
import * as net from "node:net";
import type { AddressInfo, BoundSocket } from "node:net";
import type { Place } from "../../http/index.ts";
import { PortClaim } from "./port-claim.ts";

/**
 * Number of descriptors on which a process listens: its event loop accepts one connection from each per turn (listeners.ts). Beside 400
 * streams that no client reads, new connections waited for 22 s at most with one descriptor, 6 s with eight, and 3 s with this many.
 */
export const listenersOfProcess = 16;

/** True on Linux since Node 26.4. Before it, and where the system does not spread connections evenly, a port has one socket. */
export const canShare = (): boolean =>
  process.platform === "linux" && (net as { BoundSocket?: unknown }).BoundSocket !== undefined;

export class GatewayPort {
  readonly port: number;
  readonly #addresses: readonly string[];
  readonly #claim: PortClaim;
  /** Socket bound to a port that the system chose. */
  #taken: BoundSocket | undefined;

  private constructor(
    port: number,
    addresses: readonly string[],
    { claim, taken }: { readonly claim: PortClaim; readonly taken: BoundSocket | undefined },
  ) {
    this.port = port;
    this.#addresses = addresses;
    this.#claim = claim;
    this.#taken = taken;
  }

  /** Takes a port that no other gateway uses; 0: any. @throws Error of `listen` or `getaddrinfo` */
  static async take(host: string, wanted: number): Promise<GatewayPort> {
    const addresses = await addressesOf(host);
    const [first, ...more] = addresses;
    const claim = new PortClaim();
    const taken = canShare() && wanted === 0 ? bind(first!, 0) : undefined;
    try {
      if (canShare()) await claim.add(addresses, taken?.address().port ?? wanted);
      const port = taken?.address().port ?? (await probe(first!, wanted));
      const here = await Promise.all(more.map((address) => isHere(address, port)));
      const used = [first!, ...more.filter((_, at) => here[at])];
      return new GatewayPort(port, used, { claim, taken });
    } catch (error) {
      claim.release();
      taken?.close();
      throw error;
    }
  }

  /** Call it when all sockets listen, or none will. Then other gateways see from the port itself whether it is free. */
  settled(): void {
    this.#claim.release();
  }

  /** Binds a socket for each address. */
  bind(): BoundSocket[] {
    const taken = this.#taken;
    this.#taken = undefined;
    return this.#addresses.map((address, at) =>
      at === 0 && taken !== undefined ? taken : bind(address, this.port),
    );
  }

  /** Returns where to listen if this is the only process. */
  places(): Place[] {
    if (!canShare()) return this.#addresses.map((host) => ({ host, port: this.port }));
    return Array.from({ length: listenersOfProcess }, () => this.bind()).flat();
  }
}

const bind = (host: string, port: number): BoundSocket =>
  new net.BoundSocket({ host, port, reusePort: true });

/** Binds a socket that does not share its port. Must not be imported by name: an older Node has no such class. */
export const bindAlone = (place: { readonly host: string; readonly port: number }): BoundSocket =>
  new net.BoundSocket(place);

/** A name has one address, as usual for servers. `localhost` has one of each family, because its clients use either. */
async function addressesOf(host: string): Promise<string[]> {
  const found = (await lookup(host, { all: true })).map(({ address }) => address);
  return host === "localhost" ? [...new Set(found)] : found.slice(0, 1);
}

/** Fails like `listen` if the port is taken, also by another Tollgate, with which we could share it. @returns the port */
export async function probe(host: string, port: number): Promise<number> {
  const server = net.createServer();
  server.listen({ host, port, exclusive: true });
  await once(server, "listening");
  const { port: found } = server.address() as AddressInfo;
  server.close();
  await once(server, "close");
  return found;
}

/** True if the address exists: a machine may have no IPv6. @throws Error of `listen` where the port is taken there */
const isHere = (host: string, port: number): Promise<boolean> =>
  probe(host, port).then(
    () => true,
    (error: NodeJS.ErrnoException) => {
      if (error.code === "EADDRINUSE") throw error;
      return false;
    },
  );
