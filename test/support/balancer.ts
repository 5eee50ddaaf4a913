/** A load balancer in front of gateways. It asks /readyz, keeps its connections open and never resends a call. */
import { Agent, createServer, request } from "node:http";
import { endServer, listenOnLoopback } from "./loopback.ts";

export interface Balancer {
  readonly url: string;
  close(): Promise<void>;
}

const statusOf = (url: string): Promise<number> =>
  fetch(url).then(
    ({ status }) => status,
    () => 0,
  );

/**
 * Checks each gateway every 100 ms, keeps connections open, and passes failures on to the caller. Listens on `port`, or on a free
 * port.
 */
export async function startBalancer(urls: readonly string[], port = 0): Promise<Balancer> {
  const ready = new Set(urls);
  const checks = urls.map((url) =>
    setInterval(() => {
      void statusOf(`${url}/readyz`).then((status) =>
        status === 200 ? ready.add(url) : ready.delete(url),
      );
    }, 100),
  );
  const agent = new Agent({ keepAlive: true });
  let next = 0;
  const server = createServer((incoming, response) => {
    const fail = (): void => {
      if (response.headersSent) response.destroy();
      else response.writeHead(502).end('{"error":{"code":"balancer"}}');
    };
    const choice = [...ready];
    const url = choice[(next += 1) % choice.length];
    if (url === undefined) return fail();
    const { method, headers } = incoming;
    const outgoing = request(`${url}${incoming.url}`, { agent, method, headers }, (answer) => {
      const { connection: _theirs, ...passed } = answer.headers;
      response.writeHead(answer.statusCode!, passed);
      answer.pipe(response);
      answer.on("error", fail);
    });
    outgoing.on("error", fail);
    incoming.pipe(outgoing);
    response.on("close", () => outgoing.destroy());
  });
  // The test is not about the callers: their connections stay open.
  server.keepAliveTimeout = 0;
  const own = await listenOnLoopback(server, port);
  return {
    url: `http://127.0.0.1:${own}`,
    async close() {
      for (const check of checks) clearInterval(check);
      agent.destroy();
      await endServer(server);
    },
  };
}
