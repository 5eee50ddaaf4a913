/** An upstream whose streams send a frame a second with the time in it, and readers that record how late each frame is. */
import { connect, createServer, type Server, type Socket } from "node:net";
import type { AddressInfo } from "node:net";

const chunk = (text: string): string => `${Buffer.byteLength(text).toString(16)}\r\n${text}\r\n`;
const frame = (content: string, finish: string | null = null): string =>
  chunk(
    `data: ${JSON.stringify({
      id: "chatcmpl-1",
      object: "chat.completion.chunk",
      created: 1,
      model: "ticking",
      choices: [{ index: 0, delta: { content }, finish_reason: finish }],
    })}\n\n`,
  );
const usage = chunk(
  'data: {"id":"chatcmpl-1","object":"chat.completion.chunk","created":1,"model":"ticking","choices":[],' +
    '"usage":{"prompt_tokens":5,"completion_tokens":5,"total_tokens":10}}\n\n',
);
const head =
  "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ntransfer-encoding: chunked\r\n\r\n";
const ending = `${frame("", "stop")}${usage}${chunk("data: [DONE]\n\n")}0\r\n\r\n`;

export interface Ticking {
  readonly url: string;
  /** The number of streams requested so far. */
  readonly begun: () => number;
  /** Ends all streams normally. */
  end(): void;
  close(): void;
}

/** Starts it on a free port. It reads only one request per connection. */
export async function startTicking(): Promise<Ticking> {
  const open = new Map<Socket, NodeJS.Timeout>();
  let begun = 0;
  const begin = (socket: Socket): void => {
    begun += 1;
    socket.write(head);
    const tick = (): void => void socket.write(frame(` at${performance.now().toFixed(1)};`));
    // Spread out: vendors do not write in step.
    const timer = setTimeout(
      () => {
        tick();
        open.set(socket, setInterval(tick, 1_000));
      },
      (begun * 997) % 1_000,
    );
    open.set(socket, timer);
  };
  const forget = (socket: Socket): void => {
    clearInterval(open.get(socket));
    open.delete(socket);
  };
  const server: Server = createServer({ noDelay: true }, (socket) => {
    let received = "";
    socket.on("error", () => undefined);
    socket.on("close", () => forget(socket));
    socket.on("data", (bytes: Buffer) => {
      received += bytes.toString("latin1");
      if (received.includes("\r\n\r\n") && received.endsWith("}") && !open.has(socket))
        begin(socket);
    });
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    begun: () => begun,
    end() {
      for (const socket of open.keys()) {
        forget(socket);
        socket.write(ending);
      }
    },
    close: () => server.close(),
  };
}

/** Reads streams, and records the results. */
export class Readers {
  /** The delay of each frame, in milliseconds. */
  lateMs: number[] = [];
  whole = 0;
  broken = 0;
  readonly #ended: Promise<void>[] = [];

  /** Sends a request, and reads its answer to the end. */
  open(url: string, request: string): void {
    const { hostname, port } = new URL(url);
    const socket = connect({ host: hostname, port: Number(port), noDelay: true });
    let tail = "";
    socket.on("connect", () => socket.write(request));
    socket.on("error", () => undefined);
    socket.on("data", (bytes: Buffer) => {
      const text = bytes.toString("latin1");
      for (const [, at] of text.matchAll(/ at([\d.]+);/g))
        this.lateMs.push(performance.now() - Number(at));
      tail = (tail + text).slice(-64);
      if (tail.endsWith("data: [DONE]\n\n\r\n0\r\n\r\n")) socket.destroy();
    });
    this.#ended.push(
      new Promise((resolve) =>
        socket.on("close", () => {
          if (tail.includes("[DONE]")) this.whole += 1;
          else this.broken += 1;
          resolve();
        }),
      ),
    );
  }

  /** Resolves when every stream has ended. */
  async ended(): Promise<void> {
    await Promise.all(this.#ended);
  }

  /** The 99th percentile of the delays, in milliseconds. */
  late99Ms(): number {
    const sorted = this.lateMs.toSorted((a, b) => a - b);
    return sorted[Math.floor(sorted.length * 0.99)] ?? Number.NaN;
  }
}
