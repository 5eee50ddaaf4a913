/**
 * The fast upstream of the benchmark: chat completions over bare sockets, always the same answer, so that what is
 * measured is the proxy in front of it. It answers nothing but well-formed keep-alive requests with a Content-Length.
 */
import { createServer, type Server, type Socket } from "node:net";
import type { AddressInfo } from "node:net";

/** Content frames of a streamed answer. */
export const framesPerStream = 100;

const usage = { prompt_tokens: 180, completion_tokens: 100, total_tokens: 280 };
const text = "The quick brown fox jumps over the lazy dog. ".repeat(10);
const base = { id: "chatcmpl-bench", created: 1_700_000_000, model: "bench-large-2026" };

function wholeResponse(): Buffer {
  const body = JSON.stringify({
    ...base,
    object: "chat.completion",
    choices: [
      {
        index: 0,
        message: { role: "assistant", content: text, refusal: null },
        logprobs: null,
        finish_reason: "stop",
      },
    ],
    usage,
  });
  return Buffer.from(
    `HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: ${body.length}\r\n\r\n${body}`,
  );
}

/** A streamed answer as the chunks it is written in: one frame, one chunk, as vendors do. */
function streamChunks(): Buffer[] {
  const chunk = (delta: object, finish: string | null): string =>
    `data: ${JSON.stringify({ ...base, object: "chat.completion.chunk", choices: [{ index: 0, delta, logprobs: null, finish_reason: finish }], usage: null })}\n\n`;
  const frames = [
    chunk({ role: "assistant", content: "" }, null),
    ...Array.from({ length: framesPerStream }, (_, index) =>
      chunk({ content: ` word${index}` }, null),
    ),
    chunk({}, "stop"),
    `data: ${JSON.stringify({ ...base, object: "chat.completion.chunk", choices: [], usage })}\n\n`,
    "data: [DONE]\n\n",
  ];
  const encode = (frame: string): string =>
    `${Buffer.byteLength(frame).toString(16)}\r\n${frame}\r\n`;
  const head =
    "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ntransfer-encoding: chunked\r\n\r\n";
  const chunks = frames.map(encode);
  return [head + chunks[0]!, ...chunks.slice(1, -1), `${chunks.at(-1)!}0\r\n\r\n`].map((part) =>
    Buffer.from(part),
  );
}

const headEnd = Buffer.from("\r\n\r\n");
const streamMark = Buffer.from('"stream":true');

/** Starts it on a free port of the loopback address. */
export async function startRawUpstream(): Promise<{ url: string; close(): void }> {
  const whole = wholeResponse();
  const chunks = streamChunks();
  const server: Server = createServer({ noDelay: true }, (socket) => serve(socket, whole, chunks));
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  return { url: `http://127.0.0.1:${port}`, close: () => server.close() };
}

function serve(socket: Socket, whole: Buffer, chunks: readonly Buffer[]): void {
  let rest: Buffer = Buffer.alloc(0);
  socket.on("error", () => socket.destroy());
  socket.on("data", (data: Buffer) => {
    rest = Buffer.concat([rest, data]);
    for (;;) {
      const end = rest.indexOf(headEnd);
      if (end === -1) return;
      const length = Number(
        /content-length: *(\d+)/i.exec(rest.toString("latin1", 0, end))?.[1] ?? 0,
      );
      const total = end + headEnd.length + length;
      if (rest.length < total) return;
      const streamed = rest.subarray(end, total).includes(streamMark);
      rest = rest.subarray(total);
      if (streamed) sendStream(socket, chunks, 0);
      else socket.write(whole);
    }
  });
}

/** A few frames a turn, so that streams of many connections interleave as they do at a real vendor. */
function sendStream(socket: Socket, chunks: readonly Buffer[], from: number): void {
  if (socket.destroyed) return;
  const framesPerTurn = 4;
  for (const chunk of chunks.slice(from, from + framesPerTurn)) socket.write(chunk);
  if (from + framesPerTurn < chunks.length)
    setImmediate(sendStream, socket, chunks, from + framesPerTurn);
}
