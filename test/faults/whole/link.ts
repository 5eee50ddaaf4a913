/** A TCP link that a test can cut, slow down, hold still, and lead somewhere else. */
import { once } from "node:events";
import { connect, createServer, type AddressInfo, type Socket } from "node:net";

export interface Link {
  readonly port: number;
  /** Where new connections go. */
  leadTo(port: number): void;
  /** Bytes take so long, in each direction; 0 as at first. */
  slow(ms: number): void;
  /** Bytes are held, in both directions, and connections stay open. */
  hold(): void;
  /** Ends all connections, and takes no new ones until `heal`. */
  cut(): void;
  /** As at first: bytes that were held go on. */
  heal(): void;
  /** Resets the connections that are open, and takes new ones. */
  reset(): void;
  close(): void;
}

type State = "passing" | "held" | "cut";

/** Opens a link to a port of loopback. */
export async function openLink(target: number): Promise<Link> {
  const sockets = new Set<Socket>();
  const held: (() => void)[] = [];
  let to = target;
  let delayMs = 0;
  let state: State = "passing";

  /** Runs at once, or when the bytes before have gone the same way. */
  function pass(work: () => void): void {
    if (state === "held") held.push(work);
    else if (delayMs === 0) work();
    else setTimeout(() => (state === "held" ? void held.push(work) : work()), delayMs);
  }

  const server = createServer({ noDelay: true, allowHalfOpen: true }, (client) => {
    if (state === "cut") return void client.resetAndDestroy();
    const upstream = connect({ host: "127.0.0.1", port: to, noDelay: true, allowHalfOpen: true });
    const pair = [client, upstream] as const;
    for (const [from, onto] of [pair, [upstream, client] as const]) {
      sockets.add(from);
      from.on("data", (bytes) =>
        pass(() => {
          if (onto.destroyed || onto.write(bytes)) return;
          from.pause();
          onto.once("drain", () => from.resume());
        }),
      );
      from.on("end", () => pass(() => onto.end()));
      from.on("error", () => pass(() => onto.destroy()));
      from.on("close", () => {
        sockets.delete(from);
        pass(() => onto.destroySoon());
      });
    }
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const reset = () => {
    held.length = 0;
    for (const socket of sockets) socket.resetAndDestroy();
  };
  return {
    port: (server.address() as AddressInfo).port,
    leadTo: (port) => void (to = port),
    slow: (ms) => void (delayMs = ms),
    hold: () => void (state = "held"),
    cut() {
      state = "cut";
      reset();
    },
    heal() {
      state = "passing";
      delayMs = 0;
      for (const work of held.splice(0)) work();
    },
    reset,
    close() {
      server.close();
      reset();
    },
  };
}
