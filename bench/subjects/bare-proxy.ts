/**
 * The baseline for gateways: an HTTP proxy of node:http and undici without any logic. It forwards the body unchanged, and does not
 * authenticate, parse or bill. Run as a process: `node bench/subjects/bare-proxy.ts <upstream url>`.
 */
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { Pool } from "undici";

const pool = new Pool(process.argv[2]!, { connections: null, pipelining: 1 });

const server = createServer({ noDelay: true }, (request, response) => {
  const chunks: Buffer[] = [];
  request.on("data", (chunk: Buffer) => void chunks.push(chunk));
  request.on("end", () => {
    pool.dispatch(
      {
        method: "POST",
        path: request.url!,
        headers: { "content-type": "application/json" },
        body: chunks.length === 1 ? chunks[0]! : Buffer.concat(chunks),
      },
      {
        onRequestStart() {},
        onResponseStart(_controller, status, headers) {
          response.writeHead(status, headers);
        },
        onResponseData(_controller, chunk) {
          response.write(chunk);
        },
        onResponseEnd() {
          response.end();
        },
        onResponseError() {
          response.destroy();
        },
      },
    );
  });
});
server.listen(0, "127.0.0.1", () =>
  console.log(`http://127.0.0.1:${(server.address() as AddressInfo).port}`),
);
