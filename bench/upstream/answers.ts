/** The answers of the benchmark's upstream, ready to be written: chat completions, messages, a picture. */
import { crc32, deflateSync } from "node:zlib";

/** Content frames of a streamed answer. */
export const framesPerStream = 100;

/** The answers of one protocol. */
export interface Answers {
  readonly complete: Buffer;
  /** A streamed answer: head and all frames. */
  readonly stream: Buffer;
  /** The parts of a held stream: its beginning, one frame with a text, its end. */
  readonly begin: Buffer;
  readonly frame: (text: string) => string;
  readonly end: Buffer;
}

const text = "The quick brown fox jumps over the lazy dog. ".repeat(10);
const streamHead =
  "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ntransfer-encoding: chunked\r\n\r\n";

/** One frame per chunk, as vendors do. */
const chunk = (frame: string): string => `${Buffer.byteLength(frame).toString(16)}\r\n${frame}\r\n`;

/** A whole answer with its head. */
export function jsonAnswer(body: object): Buffer {
  const json = JSON.stringify(body);
  return Buffer.from(
    `HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: ${json.length}\r\n\r\n${json}`,
  );
}

interface Frames {
  readonly first: readonly string[];
  readonly content: (text: string) => string;
  readonly last: readonly string[];
}

function answers(body: object, { first, content, last }: Frames): Answers {
  const begin = streamHead + first.map(chunk).join("");
  const end = `${last.map(chunk).join("")}0\r\n\r\n`;
  const frame = (said: string): string => chunk(content(said));
  const middle = Array.from({ length: framesPerStream }, (_, index) => frame(` word${index}`));
  return {
    complete: jsonAnswer(body),
    stream: Buffer.from(begin + middle.join("") + end),
    begin: Buffer.from(begin),
    frame,
    end: Buffer.from(end),
  };
}

/** Chat completions. */
export function chatAnswers(): Answers {
  const base = { id: "chatcmpl-bench", created: 1_700_000_000, model: "bench-large-2026" };
  const usage = { prompt_tokens: 180, completion_tokens: 100, total_tokens: 280 };
  const event = (choices: object[], told: object | null): string =>
    `data: ${JSON.stringify({ ...base, object: "chat.completion.chunk", choices, usage: told })}\n\n`;
  const delta = (said: object, finish: string | null): string =>
    event([{ index: 0, delta: said, logprobs: null, finish_reason: finish }], null);
  const message = { role: "assistant", content: text, refusal: null };
  const choices = [{ index: 0, message, logprobs: null, finish_reason: "stop" }];
  return answers(
    { ...base, object: "chat.completion", choices, usage },
    {
      first: [delta({ role: "assistant", content: "" }, null)],
      content: (content) => delta({ content }, null),
      last: [delta({}, "stop"), event([], usage), "data: [DONE]\n\n"],
    },
  );
}

/** Messages. */
export function messagesAnswers(): Answers {
  const model = "bench-large-2026";
  const message = { id: "msg_bench", type: "message", role: "assistant", model };
  const usage = { input_tokens: 180, output_tokens: 100 };
  const event = (type: string, rest: object): string =>
    `event: ${type}\ndata: ${JSON.stringify({ type, ...rest })}\n\n`;
  const start = { ...message, content: [], stop_reason: null, stop_sequence: null, usage };
  const stop = { stop_reason: "end_turn", stop_sequence: null };
  const block = { type: "text", text: "" };
  return answers(
    { ...message, content: [{ type: "text", text }], ...stop, usage },
    {
      first: [
        event("message_start", { message: start }),
        event("content_block_start", { index: 0, content_block: block }),
      ],
      content: (said) =>
        event("content_block_delta", { index: 0, delta: { type: "text_delta", text: said } }),
      last: [
        event("content_block_stop", { index: 0 }),
        event("message_delta", { delta: stop, usage }),
        event("message_stop", {}),
      ],
    },
  );
}

/** A picture of about 100 kB, in the answer of an image model. */
export function pictureAnswer(): Buffer {
  const usage = {
    input_tokens: 12,
    output_tokens: 1_056,
    total_tokens: 1_068,
    input_tokens_details: { text_tokens: 12, image_tokens: 0 },
  };
  const picture = noisePng(184).toString("base64");
  return jsonAnswer({ created: 1_700_000_000, data: [{ b64_json: picture }], usage });
}

/** A square PNG that does not compress, three bytes a pixel. */
function noisePng(side: number): Buffer {
  const rows = Buffer.alloc(side * (1 + side * 3));
  let state = 1;
  for (let at = 0; at < rows.length; at += 1) {
    state = (state * 1_103_515_245 + 12_345) % 2_147_483_648;
    rows[at] = at % (1 + side * 3) === 0 ? 0 : state >> 16;
  }
  const header = Buffer.alloc(13);
  header.writeUInt32BE(side, 0);
  header.writeUInt32BE(side, 4);
  header.set([8, 2], 8);
  return Buffer.concat([
    Buffer.from("89504e470d0a1a0a", "hex"),
    pngChunk("IHDR", header),
    pngChunk("IDAT", deflateSync(rows)),
    pngChunk("IEND", Buffer.alloc(0)),
  ]);
}

function pngChunk(name: string, data: Buffer): Buffer {
  const named = Buffer.concat([Buffer.from(name, "latin1"), data]);
  const length = Buffer.alloc(4);
  length.writeUInt32BE(data.length);
  const sum = Buffer.alloc(4);
  sum.writeUInt32BE(crc32(named));
  return Buffer.concat([length, named, sum]);
}
