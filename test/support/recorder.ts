/**
 * A stand-in upstream that keeps every request byte for byte and answers as the test says. For tests that need what the sandbox's
 * vendors do not offer: exact bytes, and answers that no vendor would give.
 */
import { createServer, type IncomingHttpHeaders, type ServerResponse } from "node:http";
import { endServer, listenOnLoopback } from "./loopback.ts";

export interface Recorded {
  readonly method: string;
  readonly path: string;
  readonly headers: IncomingHttpHeaders;
  readonly text: string;
  /** The parsed body; undefined if it is not JSON. */
  readonly body: Record<string, unknown>;
  /** True if the upstream's caller closed the connection before the answer was complete. */
  aborted: boolean;
}

export type Answer = (request: Recorded, response: ServerResponse) => void | Promise<void>;

export interface Recorder {
  readonly url: string;
  readonly requests: Recorded[];
  /** Sets how it answers from now on. */
  answer(next: Answer): void;
  close(): Promise<void>;
}

/** Starts a recorder on a free loopback port. */
export async function startRecorder(first: Answer): Promise<Recorder> {
  let current = first;
  const requests: Recorded[] = [];
  const server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on("data", (chunk: Buffer) => void chunks.push(chunk));
    request.on("end", () => {
      const text = Buffer.concat(chunks).toString("utf8");
      const recorded: Recorded = {
        method: request.method!,
        path: request.url!,
        headers: request.headers,
        text,
        body: parse(text),
        aborted: false,
      };
      requests.push(recorded);
      response.on("close", () => (recorded.aborted = !response.writableEnded));
      void current(recorded, response);
    });
  });
  const port = await listenOnLoopback(server);
  return {
    url: `http://127.0.0.1:${port}`,
    requests,
    answer: (next) => void (current = next),
    close: () => endServer(server),
  };
}

function parse(text: string): Record<string, unknown> {
  try {
    return JSON.parse(text) as Record<string, unknown>;
  } catch {
    return {};
  }
}

/** Answers with one JSON body. */
export const json =
  (body: unknown, status = 200, headers: Record<string, string> = {}): Answer =>
  (_request, response) => {
    response
      .writeHead(status, { "content-type": "application/json", ...headers })
      .end(JSON.stringify(body));
  };

/** Answers with server-sent events, written unchanged. */
export const sse =
  (text: string): Answer =>
  (_request, response) => {
    response.writeHead(200, { "content-type": "text/event-stream" }).end(text);
  };
