/** `HOST=localhost` has an IPv4 and an IPv6 address, and clients use either: the gateway answers at both. */
import { spawnSync } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { createServer, type AddressInfo } from "node:net";
import { networkInterfaces, tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { spawnGateway, type GatewayProcess } from "../support/process.ts";
import { listenersOf } from "../workers/support.ts";

const canRename = spawnSync("unshare", ["--mount", "true"]).status === 0;
const hasBoth = Object.values(networkInterfaces()).some((addresses) =>
  addresses?.some(({ address }) => address === "::1"),
);

describe.runIf(canRename && hasBoth)("HOST=localhost", () => {
  const directory = mkdtempSync(join(tmpdir(), "tollgate-localhost-"));
  let gateway: GatewayProcess;
  beforeAll(async () => {
    const hosts = join(directory, "hosts");
    writeFileSync(hosts, "127.0.0.1 localhost\n::1 localhost\n");
    const variables = { HOST: "localhost", TOLLGATE_DATA_DIR: join(directory, "data") };
    gateway = await spawnGateway(variables, { hosts });
  });
  afterAll(async () => {
    await gateway.stop();
    rmSync(directory, { recursive: true, force: true });
  });

  const ask = (host: string, path: string, body?: object): Promise<Response> =>
    fetch(`http://${host}:${new URL(gateway.url).port}${path}`, {
      method: body === undefined ? "GET" : "POST",
      headers: {
        authorization: `Bearer ${/gw_live_\w+/.exec(gateway.banner)![0]}`,
        "content-type": "application/json",
      },
      ...(body !== undefined && { body: JSON.stringify(body) }),
      signal: AbortSignal.timeout(20_000),
    });

  it("listens sixteen times at each address, so that many new connections are accepted in one round", () => {
    expect(listenersOf(gateway.child.pid!, Number(new URL(gateway.url).port))).toBe(32);
  });

  it("is refused if another program has one of its addresses, because clients would reach that one", async () => {
    const other = createServer().listen(0, "::1");
    await once(other, "listening");
    const { port } = other.address() as AddressInfo;
    const variables = {
      HOST: "localhost",
      PORT: String(port),
      TOLLGATE_DATA_DIR: join(directory, "second"),
    };
    await expect(spawnGateway(variables, { hosts: join(directory, "hosts") })).rejects.toThrow(
      `port ${port} on ::1 is in use by another program`,
    );
    other.close();
  });

  it.each(["127.0.0.1", "[::1]"])("answers at %s", async (host) => {
    expect((await ask(host, "/healthz")).status).toBe(200);
    const messages = [{ role: "user", content: "Hello" }];
    const call = await ask(host, "/v1/chat/completions", { model: "sandbox/chat", messages });
    expect(call.status).toBe(200);
    expect(await call.json()).toMatchObject({ object: "chat.completion" });
  });
});
