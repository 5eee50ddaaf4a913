/** The load of the benchmark counts each call that gets no answer: a target that hangs must not look fast. */
import { createServer, type Server } from "node:http";
import { afterEach, expect, it } from "vitest";
import { drive } from "../../bench/load/drive.ts";
import { endServer, listenOnLoopback } from "../support/loopback.ts";

let server: Server;
afterEach(() => endServer(server));

it("counts calls that hang until after the end as failures, beside the answers of the others", async () => {
  let asked = 0;
  server = createServer((_request, response) => {
    asked += 1;
    // The first two requests never get an answer.
    if (asked > 2) response.writeHead(200, { "content-type": "application/json" }).end("{}");
  });
  const url = `http://127.0.0.1:${await listenOnLoopback(server)}`;
  const request = Buffer.from("GET / HTTP/1.1\r\nhost: x\r\n\r\n");
  const { answers, failures } = await drive(
    { url, requests: [[request]], streamed: false },
    { connections: 4, seconds: 0.2, signal: new AbortController().signal, graceMs: 100 },
  );
  expect(answers).toBeGreaterThan(0);
  expect(failures).toBe(2);
});
