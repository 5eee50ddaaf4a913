/** The port of a gateway. On Linux several sockets share it by SO_REUSEPORT: the system spreads connections over them. */
import { lookup } from "node:dns/promises";
import { once } from "node:events";
import * as net from "node:net";
import type { AddressInfo, BoundSocket } from "node:net";
import type { Place } from "../../http/index.ts";
import { PortClaim } from "./port-claim.ts";

/**
 * On how many descriptors a process listens, for a round of its event loop takes one connection of each (listeners.ts). Beside
 * 400 streams that nobody reads, new connections waited for 22 s at most with one, 6 s with eight, and 3 s with so many.
 */
export const listenersOfProcess = 16;

/** Since Node 26.4; before it, and where the system does not spread evenly, a port has one socket. */
export const canShare = (): boolean =>
  process.platform === "linux" && (net as { BoundSocket?: unknown }).BoundSocket !== undefined;

export class GatewayPort {
  readonly port: number;
  readonly #addresses: readonly string[];
  readonly #claim: PortClaim;
  /** What took a port that nobody named. */
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

  /** Takes a port that no other gateway has either; 0: any. @throws Error of `listen` or `getaddrinfo` */
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

  /** All sockets listen, or none will: other gateways see by the port itself whether it is free. */
  settled(): void {
    this.#claim.release();
  }

  /** A socket of each address. */
  bind(): BoundSocket[] {
    const taken = this.#taken;
    this.#taken = undefined;
    return this.#addresses.map((address, at) =>
      at === 0 && taken !== undefined ? taken : bind(address, this.port),
    );
  }

  /** For the only process. */
  places(): Place[] {
    if (!canShare()) return this.#addresses.map((host) => ({ host, port: this.port }));
    return Array.from({ length: listenersOfProcess }, () => this.bind()).flat();
  }
}

const bind = (host: string, port: number): BoundSocket =>
  new net.BoundSocket({ host, port, reusePort: true });

/** A socket that shares its port with no other. An older Node has no such class to import. */
export const bindAlone = (place: { readonly host: string; readonly port: number }): BoundSocket =>
  new net.BoundSocket(place);

/** A name has one, as servers have it; `localhost` one of each family, for its clients take either. */
async function addressesOf(host: string): Promise<string[]> {
  const found = (await lookup(host, { all: true })).map(({ address }) => address);
  return host === "localhost" ? [...new Set(found)] : found.slice(0, 1);
}

/** Fails as listening does where the port is taken, by another Tollgate too, which would let us share it. @returns the port */
export async function probe(host: string, port: number): Promise<number> {
  const server = net.createServer();
  server.listen({ host, port, exclusive: true });
  await once(server, "listening");
  const { port: found } = server.address() as AddressInfo;
  server.close();
  await once(server, "close");
  return found;
}

/** A machine may have no IPv6, whatever its names say. @throws Error of `listen` where the port is taken there */
const isHere = (host: string, port: number): Promise<boolean> =>
  probe(host, port).then(
    () => true,
    (error: NodeJS.ErrnoException) => {
      if (error.code === "EADDRINUSE") throw error;
      return false;
    },
  );
