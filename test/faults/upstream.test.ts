/**
 * Upstreams that hang, cut, flood, lie about their length or answer HTML: the right error, nothing charged, no hold left.
 * BILL-22.
 */
import { once } from "node:events";
import { createServer, type AddressInfo, type Server, type Socket } from "node:net";
import { afterAll, beforeAll, expect, it } from "vitest";
import {
  chatConfig,
  completion,
  delta,
  describeGateways,
  errorOf,
  idOf,
  sleep,
  talk,
  usageOf,
} from "../money/support.ts";

/** Handles a connection of a raw upstream once a whole request has arrived. */
type Behaviour = (socket: Socket) => void | Promise<void>;

let behaviour: Behaviour = () => undefined;
let server: Server;
let requests = 0;
const sockets = new Set<Socket>();

beforeAll(async () => {
  server = createServer((socket) => {
    sockets.add(socket);
    socket.on("close", () => sockets.delete(socket));
    socket.on("error", () => undefined);
    let text = "";
    socket.on("data", (bytes: Buffer) => {
      text += bytes.toString("latin1");
      const head = text.indexOf("\r\n\r\n");
      const length = Number(/content-length: (\d+)/i.exec(text)?.[1] ?? Number.NaN);
      if (head === -1 || text.length < head + 4 + length) return;
      text = "";
      requests += 1;
      void behaviour(socket);
    });
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
});
afterAll(() => {
  for (const socket of sockets) socket.destroy();
  server.close();
});

const whole = JSON.stringify(completion(usageOf(100, 50)));
const head = (headers: string, status = "200 OK"): string =>
  `HTTP/1.1 ${status}\r\n${headers}\r\n\r\n`;
const jsonHead = (length: number): string =>
  head(`content-type: application/json\r\ncontent-length: ${length}`);
const streamHead = head("content-type: text/event-stream\r\nconnection: close");
const html = "<!doctype html><html><body>502 Bad Gateway, the load balancer is sorry</body></html>";

/** Writes 64 KB repeatedly, as fast as the gateway reads, until the gateway ends the connection. */
const flood =
  (first: string, piece: string): Behaviour =>
  async (socket) => {
    socket.write(first);
    const block = Buffer.from(piece.repeat(Math.ceil(65_536 / piece.length)));
    let resume = (): void => undefined;
    socket.on("drain", () => resume()).on("close", () => resume());
    while (!socket.destroyed) {
      if (!socket.write(block)) await new Promise<void>((done) => void (resume = done));
    }
  };

interface Case {
  readonly name: string;
  readonly does: Behaviour;
  /** The status of a whole answer and of a stream: 200 if the stream had begun. */
  readonly whole?: number;
  readonly stream?: number;
  /** A model whose provider has a short deadline for a whole call. */
  readonly model?: "acme/short";
  readonly code: "upstream_error" | "upstream_timeout";
  /** The number of requests to the upstream: transient failures are retried once, unusable answers are not. */
  readonly asked: number;
}

const cases: readonly Case[] = [
  {
    name: "hangs without a head",
    does: () => undefined,
    whole: 504,
    stream: 504,
    code: "upstream_timeout",
    asked: 1,
  },
  {
    name: "hangs after the head of a whole answer",
    does: (socket) => void socket.write(jsonHead(whole.length)),
    whole: 504,
    stream: 504,
    code: "upstream_timeout",
    asked: 1,
  },
  {
    name: "hangs in the middle of a stream",
    does: (socket) => void socket.write(streamHead + delta("Hello")),
    stream: 200,
    code: "upstream_error",
    asked: 1,
  },
  {
    name: "closes without a word",
    does: (socket) => void socket.destroy(),
    whole: 502,
    stream: 502,
    code: "upstream_error",
    asked: 2,
  },
  {
    name: "resets the connection",
    does: (socket) => void socket.resetAndDestroy(),
    whole: 502,
    stream: 502,
    code: "upstream_error",
    asked: 2,
  },
  {
    name: "cuts a whole answer",
    does: (socket) => void socket.end(jsonHead(whole.length) + whole.slice(0, 50)),
    whole: 502,
    stream: 502,
    code: "upstream_error",
    asked: 2,
  },
  {
    name: "cuts a stream",
    does: (socket) => void socket.end(streamHead + delta("Hello") + delta(" there")),
    stream: 200,
    code: "upstream_error",
    asked: 1,
  },
  {
    name: "says a length that is too small",
    does: (socket) => void socket.end(jsonHead(50) + whole),
    whole: 502,
    stream: 502,
    code: "upstream_error",
    asked: 1,
  },
  {
    name: "says a length that is too large",
    does: (socket) => void socket.end(jsonHead(whole.length + 10) + whole),
    whole: 502,
    stream: 502,
    code: "upstream_error",
    asked: 2,
  },
  {
    name: "answers HTML with 200",
    does: (socket) =>
      void socket.end(head(`content-type: text/html\r\ncontent-length: ${html.length}`) + html),
    whole: 502,
    stream: 502,
    code: "upstream_error",
    asked: 1,
  },
  {
    name: "answers HTML with 502",
    does: (socket) =>
      void socket.end(
        head(`content-type: text/html\r\ncontent-length: ${html.length}`, "502 Bad Gateway") + html,
      ),
    whole: 502,
    stream: 502,
    code: "upstream_error",
    asked: 2,
  },
  {
    name: "does not speak HTTP",
    does: (socket) => void socket.end("220 smtp.example.com ESMTP\r\n"),
    whole: 502,
    stream: 502,
    code: "upstream_error",
    asked: 1,
  },
  {
    name: "never stops answering",
    does: async (socket) => {
      socket.write(streamHead);
      while (!socket.destroyed) {
        socket.write(delta("more "));
        await sleep(50);
      }
    },
    model: "acme/short",
    stream: 200,
    code: "upstream_error",
    asked: 1,
  },
  {
    name: "trickles a whole answer",
    does: async (socket) => {
      socket.write(jsonHead(whole.length));
      for (const letter of whole) {
        if (socket.destroyed) return;
        socket.write(letter);
        await sleep(50);
      }
    },
    model: "acme/short",
    whole: 504,
    stream: 504,
    code: "upstream_timeout",
    asked: 1,
  },
  {
    name: "floods a stream with one endless event",
    does: flood(streamHead, `data: ${"x".repeat(1000)}`),
    stream: 502,
    code: "upstream_error",
    asked: 1,
  },
  {
    name: "floods an error page",
    does: flood(head("content-type: text/html\r\nconnection: close", "500 Oops"), html),
    whole: 502,
    stream: 502,
    code: "upstream_error",
    asked: 1,
  },
  {
    name: "floods the head",
    does: flood("HTTP/1.1 200 OK\r\n", "x-more: and more\r\n"),
    whole: 502,
    stream: 502,
    code: "upstream_error",
    asked: 1,
  },
];

const rows = cases.flatMap((row) =>
  ([false, true] as const).flatMap((stream) => {
    const status = stream ? row.stream : row.whole;
    return status === undefined
      ? []
      : [{ ...row, stream, form: stream ? "streamed" : "whole", status }];
  }),
);

const timeouts = "timeouts: { first_byte_s: 0.4, idle_s: 0.4, total_s: 20 }";
const config = () => {
  const { port } = server.address() as AddressInfo;
  const url = `http://127.0.0.1:${port}`;
  const price = 'price: { input: "3", output: "15" }';
  const short = `{ id: short, dialect: openai-compatible, base_url: ${url}/v1, api_key: none, timeouts: { total_s: 0.5 } }`;
  return `${chatConfig(url, price, { provider: timeouts }).replace("models:", `  - ${short}\nmodels:`)}
  - id: acme/short
    kind: text
    context_length: 100000
    max_output_tokens: 32000
    offers: [{ provider: short, protocol: chat, upstream_model: s, ${price} }]
`;
};

describeGateways("an upstream that", { config }, (bench) => {
  it.each(rows)("BILL-22: $name ($form): $status, nothing charged", async (row) => {
    behaviour = row.does;
    requests = 0;
    const spend = await bench().keySpend();
    const response = await bench().post(
      "/v1/chat/completions",
      talk({ stream: row.stream, model: row.model ?? "acme/talk" }),
    );
    expect(response.status).toBe(row.status);
    const id = idOf(response);
    const text = await response.clone().text();
    const last = row.status === 200 ? text.trimEnd().split("\n\n").at(-1)!.slice(6) : text;
    expect(text).not.toContain("[DONE]");
    expect(await errorOf(new Response(last))).toMatchObject({ code: row.code });
    expect(text).not.toContain("load balancer");
    expect(requests).toBe(row.asked);
    expect(await bench().logRow(id)).toMatchObject({ status: "failed", cost_nano: 0n });
    expect(await bench().entry(id)).toMatchObject({ kind: "void", amount_nano: 0n });
    expect(await bench().keySpend()).toEqual(spend);
    await bench().expectClean();
  });
});
