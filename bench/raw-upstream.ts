/**
 * The fast upstream of the benchmark: chat completions and messages over bare sockets, always the same answer, so that what is
 * measured is the proxy in front of it. It answers nothing but well-formed keep-alive requests with a Content-Length.
 * Video tasks it takes and never finishes.
 */
import { createServer, type Server, type Socket } from "node:net";
import type { AddressInfo } from "node:net";

/** Content frames of a streamed answer. */
export const framesPerStream = 100;

/** What one protocol's vendor answers, ready to be written. */
interface Answers {
  readonly whole: Buffer;
  /** A streamed answer as the chunks it is written in: one frame, one chunk, as vendors do. */
  readonly chunks: readonly Buffer[];
}

const text = "The quick brown fox jumps over the lazy dog. ".repeat(10);
const words = Array.from({ length: framesPerStream }, (_, index) => ` word${index}`);

function answers(body: object, frames: readonly string[]): Answers {
  const json = JSON.stringify(body);
  const encode = (frame: string): string =>
    `${Buffer.byteLength(frame).toString(16)}\r\n${frame}\r\n`;
  const head =
    "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ntransfer-encoding: chunked\r\n\r\n";
  const chunks = frames.map(encode);
  const parts = [head + chunks[0]!, ...chunks.slice(1, -1), `${chunks.at(-1)!}0\r\n\r\n`];
  return {
    whole: Buffer.from(
      `HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: ${json.length}\r\n\r\n${json}`,
    ),
    chunks: parts.map((part) => Buffer.from(part)),
  };
}

function chatAnswers(): Answers {
  const base = { id: "chatcmpl-bench", created: 1_700_000_000, model: "bench-large-2026" };
  const usage = { prompt_tokens: 180, completion_tokens: 100, total_tokens: 280 };
  const frame = (choices: object[], told: object | null): string =>
    `data: ${JSON.stringify({ ...base, object: "chat.completion.chunk", choices, usage: told })}\n\n`;
  const chunk = (delta: object, finish: string | null): string =>
    frame([{ index: 0, delta, logprobs: null, finish_reason: finish }], null);
  const message = { role: "assistant", content: text, refusal: null };
  return answers(
    {
      ...base,
      object: "chat.completion",
      choices: [{ index: 0, message, logprobs: null, finish_reason: "stop" }],
      usage,
    },
    [
      chunk({ role: "assistant", content: "" }, null),
      ...words.map((content) => chunk({ content }, null)),
      chunk({}, "stop"),
      frame([], usage),
      "data: [DONE]\n\n",
    ],
  );
}

function messagesAnswers(): Answers {
  const message = {
    id: "msg_bench",
    type: "message",
    role: "assistant",
    model: "bench-large-2026",
  };
  const usage = { input_tokens: 180, output_tokens: 100 };
  const event = (type: string, rest: object): string =>
    `event: ${type}\ndata: ${JSON.stringify({ type, ...rest })}\n\n`;
  const start = { ...message, content: [], stop_reason: null, stop_sequence: null, usage };
  const stop = { stop_reason: "end_turn", stop_sequence: null };
  return answers({ ...message, content: [{ type: "text", text }], ...stop, usage }, [
    event("message_start", { message: start }),
    event("content_block_start", { index: 0, content_block: { type: "text", text: "" } }),
    ...words.map((word) =>
      event("content_block_delta", { index: 0, delta: { type: "text_delta", text: word } }),
    ),
    event("content_block_stop", { index: 0 }),
    event("message_delta", { delta: stop, usage }),
    event("message_stop", {}),
  ]);
}

const headEnd = Buffer.from("\r\n\r\n");
const messagesPath = Buffer.from("POST /v1/messages ");
const videoSubmissionPath = Buffer.from("POST /v1/videos/");
const videoTaken = Buffer.from(
  'HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: 20\r\n\r\n{"request_id":"job"}',
);
const videoPath = Buffer.from("GET /v1/videos/");
const videoPending = Buffer.from("HTTP/1.1 202 Accepted\r\ncontent-length: 0\r\n\r\n");
const streamMark = Buffer.from('"stream":true');

/** Starts it on a free port of the loopback address. */
export async function startRawUpstream(): Promise<{ url: string; close(): void }> {
  const chat = chatAnswers();
  const messages = messagesAnswers();
  const server: Server = createServer({ noDelay: true }, (socket) => serve(socket, chat, messages));
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  return { url: `http://127.0.0.1:${port}`, close: () => server.close() };
}

function serve(socket: Socket, chat: Answers, messages: Answers): void {
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
      const head = rest.subarray(0, end);
      const { whole, chunks } = head.includes(messagesPath) ? messages : chat;
      rest = rest.subarray(total);
      if (head.includes(videoSubmissionPath)) socket.write(videoTaken);
      else if (head.includes(videoPath)) socket.write(videoPending);
      else if (streamed) sendStream(socket, chunks, 0);
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
