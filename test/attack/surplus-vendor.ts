/**
 * A vendor that sends a whole second answer after its answer, if the prompt asks for it: `surplus:<ms>`, or `surplus:packet`. It
 * uses plain sockets, and each of its ports (the argument says how many) is a separate origin. Its real answer is the word after
 * `call:` in the prompt; no caller may ever get "SURPLUS".
 */
import { createServer, type AddressInfo, type Socket } from "node:net";
import { pixel } from "../support/pixel.ts";

const head = (type: string, rest: string): string =>
  `HTTP/1.1 200 OK\r\ncontent-type: ${type}\r\n${rest}\r\n\r\n`;

function whole(body: object): string {
  const text = JSON.stringify(body);
  return head("application/json", `content-length: ${text.length}`) + text;
}

const usage = { prompt_tokens: 10, completion_tokens: 5, total_tokens: 15 };
const common = { id: "c", object: "chat.completion", created: 1, model: "up" };

function streamed(word: string): string {
  const chunk = (choice: object, more: object = {}) =>
    `data: ${JSON.stringify({ ...common, object: "chat.completion.chunk", choices: [{ index: 0, ...choice }], ...more })}\n\n`;
  const text =
    chunk({ delta: { role: "assistant", content: word } }) +
    chunk({ delta: {}, finish_reason: "stop" }, { usage }) +
    "data: [DONE]\n\n";
  const coding = "transfer-encoding: chunked";
  return `${head("text/event-stream", coding)}${text.length.toString(16)}\r\n${text}\r\n0\r\n\r\n`;
}

/** The answer to a request, with `word`. */
function answerTo(request: string, word: string): string {
  if (request.includes("/images/"))
    return whole({
      created: 1,
      data: [{ b64_json: pixel, revised_prompt: word }],
      usage: { input_tokens: 1, output_tokens: 1, total_tokens: 2 },
    });
  if (request.includes('"stream":true')) return streamed(word);
  const message = { role: "assistant", content: word };
  return whole({ ...common, choices: [{ index: 0, message, finish_reason: "stop" }], usage });
}

function serve(socket: Socket, request: string): void {
  const word = /call:(\w+)/.exec(request)?.[1] ?? "nobody";
  const answer = answerTo(request, word);
  const asked = /surplus:(\w+)/.exec(request)?.[1];
  setTimeout(
    () => {
      const surplus = answerTo(request, "SURPLUS");
      if (asked === "packet") return void socket.write(answer + surplus);
      socket.write(answer);
      if (asked !== undefined) setTimeout(() => socket.write(surplus), Number(asked));
    },
    2 + Math.random() * 8,
  );
}

for (let port = 0; port < Number(process.argv[2]); port += 1) {
  const server = createServer((socket) => {
    socket.setNoDelay(true);
    socket.on("error", () => socket.destroy());
    let held = "";
    socket.on("data", (bytes: Buffer) => {
      held += bytes.toString("latin1");
      const end = held.indexOf("\r\n\r\n") + 4;
      const length = Number(/content-length: (\d+)/.exec(held)?.[1] ?? 0);
      if (end < 4 || held.length < end + length) return;
      const request = held;
      held = "";
      serve(socket, request);
    });
  });
  server.listen(0, "127.0.0.1", () => console.log((server.address() as AddressInfo).port));
}
