/** The gateway polls local servers for their models. Changes take effect without a restart. docs/models.md. */
import { createServer } from "node:http";
import { once } from "node:events";
import type { AddressInfo } from "node:net";
import { expect, it } from "vitest";
import { silentLog } from "../../src/base/log.ts";
import { localProviders, type Catalog } from "../../src/catalog/index.ts";
import { watchLocalServers } from "../../src/cli/local-servers.ts";

it("a local server that restarts with a longer context under the same model name is updated", async () => {
  let contextLength = 8_192;
  let asked = 0;
  const server = createServer((_request, response) =>
    // vLLM always answers that it created the model just now.
    response.end(
      JSON.stringify({
        data: [{ id: "talk", max_model_len: contextLength, created: (asked += 1) }],
      }),
    ),
  ).listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  const catalogs: Catalog[] = [];
  const changed = { of: Promise.withResolvers<void>() };
  const servers = watchLocalServers({
    providers: localProviders({ VLLM_BASE_URL: `http://127.0.0.1:${port}/v1` }),
    log: silentLog,
    everyMs: 10,
    onChange(catalog) {
      catalogs.push(catalog);
      changed.of.resolve();
    },
  });
  const lengths = () =>
    catalogs.map(({ models }) =>
      [...models.values()].map((one) => (one as { contextLength: number }).contextLength),
    );
  try {
    await changed.of.promise;
    expect(lengths()).toEqual([[8_192]]);
    changed.of = Promise.withResolvers();
    contextLength = 32_768;
    await changed.of.promise;
    expect(lengths()).toEqual([[8_192], [32_768]]);
  } finally {
    servers.close();
    server.closeAllConnections();
    server.close();
  }
});
