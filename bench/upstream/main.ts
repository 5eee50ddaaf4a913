/**
 * The fast upstream of the benchmark, in its own process. It always gives the same answer over bare sockets, so that only the gateway
 * in front of it is measured. It accepts well-formed keep-alive requests with a Content-Length, and reports its port to its parent.
 * The first part of the path selects the form of the answer: `/whole/v1`, `/stream/v1`, `/held/v1`; at `/v1` the body selects it. It
 * accepts video tasks and never finishes them. Its parent may set a delay for whole answers. With `BENCH_TLS_KEY` and
 * `BENCH_TLS_CERT` it speaks TLS.
 */
import { createServer as createPlainServer, type AddressInfo, type Socket } from "node:net";
import { createServer as createTlsServer } from "node:tls";
import {
  chatAnswers,
  jsonAnswer,
  messagesAnswers,
  pictureAnswer,
  type Answers,
} from "./answers.ts";

const chat = chatAnswers();
const messages = messagesAnswers();
const picture = pictureAnswer();
const taken = jsonAnswer({ request_id: "job" });
const pending = Buffer.from("HTTP/1.1 202 Accepted\r\ncontent-length: 0\r\n\r\n");

const headEnd = Buffer.from("\r\n\r\n");
const streamMark = /"stream": ?true/;
const frameEveryMs = 250;
/** Functions that end each held stream. */
const held = new Set<() => void>();
/** The delay of whole answers. */
let delayMs = 0;

interface Request {
  readonly path: string;
  readonly method: string;
  readonly asksForStream: () => boolean;
}

function answer(socket: Socket, { path, method, asksForStream }: Request): void {
  const own: Answers = path.endsWith("/messages") ? messages : chat;
  if (path.includes("/videos/")) socket.write(method === "GET" ? pending : taken);
  else if (path.endsWith("/tasks")) socket.write(taken);
  else if (path.endsWith("/images/generations")) socket.write(picture);
  else if (path.startsWith("/held/")) hold(socket, own);
  else if (path.startsWith("/stream/") || (path.startsWith("/v1/") && asksForStream()))
    socket.write(own.stream);
  else if (delayMs === 0) socket.write(own.complete);
  else setTimeout(() => socket.write(own.complete), delayMs);
}

/** Writes a frame every quarter of a second, with the machine's monotonic clock in it, until the parent ends it. */
function hold(socket: Socket, { begin, frame, end }: Answers): void {
  socket.write(begin);
  const timer = setInterval(
    () => socket.write(frame(` t=${Number(process.hrtime.bigint()) / 1e6};`)),
    frameEveryMs,
  );
  const stop = (): void => {
    clearInterval(timer);
    held.delete(finish);
  };
  const finish = (): void => {
    stop();
    socket.removeListener("close", stop);
    socket.write(end);
  };
  held.add(finish);
  socket.once("close", stop);
}

function serve(socket: Socket): void {
  let head = "";
  let parts: Buffer[] = [];
  let missing = -1;
  let rest: Buffer | undefined;
  socket.on("error", () => socket.destroy());
  socket.on("data", (data: Buffer) => {
    let bytes = data;
    if (missing === -1) {
      if (rest !== undefined) bytes = Buffer.concat([rest, data]);
      const end = bytes.indexOf(headEnd);
      rest = end === -1 ? bytes : undefined;
      if (end === -1) return;
      head = bytes.toString("latin1", 0, end);
      missing = Number(/\r\ncontent-length: *(\d+)/i.exec(head)?.[1] ?? 0);
      bytes = bytes.subarray(end + headEnd.length);
      parts = [];
    }
    missing -= bytes.length;
    parts.push(bytes);
    if (missing > 0) return;
    missing = -1;
    const [method = "", path = ""] = head.split(" ", 2);
    const asksForStream = (): boolean => streamMark.test(Buffer.concat(parts).toString("latin1"));
    answer(socket, { path, method, asksForStream });
  });
}

const { BENCH_TLS_KEY: key, BENCH_TLS_CERT: cert, BENCH_PORT: port } = process.env;
const server = key
  ? createTlsServer({ key, cert }, serve)
  : createPlainServer({ noDelay: true }, serve);
server.listen(Number(port ?? 0), "127.0.0.1", () => {
  process.send?.({ port: (server.address() as AddressInfo).port });
});
process.on("message", (told: "finish" | { readonly delayMs: number }) => {
  if (told !== "finish") ({ delayMs } = told);
  else for (const finish of held) finish();
});
// The parent has exited.
process.on("disconnect", () => process.exit());
