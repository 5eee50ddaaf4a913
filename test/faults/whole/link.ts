/** A TCP link that a test can cut, slow down, hold, and redirect. */
import { once } from "node:events";
import { connect, createServer, type AddressInfo, type Socket } from "node:net";

export interface Link {
  readonly port: number;
  /** Sets the port to which new connections go. */
  leadTo(port: number): void;
  /** Delays bytes in each direction by `ms`; initially 0. */
  slow(ms: number): void;
  /** Holds bytes in both directions; connections stay open. */
  hold(): void;
  /** Ends all connections, and accepts no new ones until `heal`. */
  cut(): void;
  /** Restores the initial state; held bytes go on. */
  heal(): void;
  /** Resets the open connections; accepts new ones. */
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

  /** Runs at once, or after the earlier bytes in the same direction. */
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
