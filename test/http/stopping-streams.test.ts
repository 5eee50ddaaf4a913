/** A stopping server ends streams with an error frame before it cuts them, and again those that began in the meantime. */
import { once } from "node:events";
import { createServer, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { expect, it } from "vitest";
import { stopServer } from "../../src/http/front/stop-server.ts";

it("T16: a stream that starts after others were told to end is ended too, before its connection is cut", async () => {
  const begun: ServerResponse[] = [];
  const asked = Promise.withResolvers<ServerResponse>();
  const server = createServer((_request, response) => asked.resolve(response));
  await once(server.listen(0, "127.0.0.1"), "listening");
  const { port } = server.address() as AddressInfo;
  const read = fetch(`http://127.0.0.1:${port}`).then((answer) => answer.text());
  const late = await asked.promise;
  const endStreams = (): void => {
    for (const response of begun) response.end("the gateway stops");
    // The late stream sends its first frame now.
    if (begun.length === 0 && late.write("Hello, and ")) begun.push(late);
  };
  const nothing = (): void => undefined;
  await Promise.all([
    stopServer(server, { refuse: nothing, answerWaiting: nothing, endStreams }, 800),
    expect(read).resolves.toBe("Hello, and the gateway stops"),
  ]);
});
