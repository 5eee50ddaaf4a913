/** The guard of callback addresses against real servers. Rows HOOK-07, HOOK-08; trap T77. */
import { execFile } from "node:child_process";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { afterEach, describe, expect, it } from "vitest";
import {
  checkAddress,
  checkAllAddresses,
  guardedRequest,
  type GuardedRequest,
  type Resolve,
} from "../../src/upstream/index.ts";
import { oneByOne } from "../../src/upstream/names.ts";
import { resolver, serve, serveRaw, serveTls, type TestServer } from "./servers.ts";
import { hasOpenssl } from "../support/openssl.ts";

const leftSignals = fileURLToPath(new URL("./left-signals.ts", import.meta.url));
const servers: TestServer[] = [];
afterEach(async () => {
  await Promise.all(servers.splice(0).map((server) => server.close()));
});
async function running(server: Promise<TestServer>): Promise<TestServer> {
  servers.push(await server);
  return server;
}

const rule = { https: true, allowPrivate: false, param: "webhook_url" };
const refused = {
  status: 400,
  code: "invalid_value",
  param: "webhook_url",
  message:
    "webhook_url must not point at a private or reserved network (TOLLGATE_ALLOW_PRIVATE_ADDRESSES).",
};
const failing =
  (code: string): Resolve =>
  () =>
    Promise.reject(Object.assign(new Error("failed"), { code }));

describe("checking an address", () => {
  it.each([
    [["127.0.0.1"]],
    [["169.254.169.254"]],
    [["fd00::1"]],
    [["::ffff:10.0.0.1"]],
    [["93.184.215.14", "10.0.0.1"]],
    [["2606:4700::1111", "::1"]],
  ])("HOOK-08, T77: a name with the addresses %j is refused", async (addresses) => {
    const resolve = resolver({ "hooks.example": [addresses] });
    const check = checkAddress("https://hooks.example/x", { ...rule, resolve });
    await expect(check).rejects.toMatchObject(refused);
  });

  it("a name with only public addresses passes", async () => {
    const resolve = resolver({ "hooks.example": [["93.184.215.14", "2606:4700::1111"]] });
    const { url, addresses } = await checkAddress("https://hooks.example/x", { ...rule, resolve });
    expect(url.href).toBe("https://hooks.example/x");
    expect(addresses).toHaveLength(2);
  });

  it("several are looked up at once, and the first that is refused gives the error", async () => {
    const asked: string[] = [];
    const { promise: answers, resolve: answer } = Promise.withResolvers<void>();
    const resolve: Resolve = async (name) => {
      asked.push(name);
      if (asked.length === 3) answer();
      await answers;
      const address = name === "good.example" ? "93.184.215.14" : "10.0.0.1";
      return [{ address, family: 4 }];
    };
    const of = (name: string) => ({ ...rule, resolve, param: name, url: `https://${name}/x` });
    const all = ["good.example", "bad.example", "worse.example"].map(of);
    await expect(checkAllAddresses(all)).rejects.toMatchObject({ param: "bad.example" });
    await checkAllAddresses([all[0]!, all[0]!]);
    await checkAllAddresses([]);
  });

  it("a name that does not exist is refused, also with the system's resolver", async () => {
    const missing = { ...refused, message: "webhook_url names a host that does not exist." };
    const resolve = resolver({});
    const check = checkAddress("https://hooks.example/x", { ...rule, resolve });
    await expect(check).rejects.toMatchObject(missing);
    const system = checkAddress("https://no-such-name.invalid/x", rule);
    await expect(system).rejects.toMatchObject(missing);
  });

  it("many names at once are all resolved", async () => {
    const checks = Array.from({ length: 12 }, (_, index) =>
      checkAddress(`https://no-such-name-${index}.invalid/x`, rule).catch(
        (error: unknown) => error,
      ),
    );
    for (const error of await Promise.all(checks))
      expect(error).toMatchObject({ code: "invalid_value" });
  });

  it("a hanging lookup delays only its own queue, and lookups that timed out while waiting are skipped", async () => {
    const asked: string[] = [];
    const { promise: hung, resolve: release } = Promise.withResolvers<void>();
    const lookUp = async (name: string) => {
      asked.push(name);
      if (name === "dead.example") await hung;
      return [{ address: "93.184.215.14", family: 4 as const }];
    };
    const strangers = oneByOne(lookUp, 50);
    const names = ["dead.example", "one.example", "two.example"];
    const late = await Promise.allSettled(names.map((name) => strangers(name)));
    expect(late.map(({ status }) => status)).toEqual(["rejected", "rejected", "rejected"]);
    expect(await oneByOne(lookUp, 50)("vendor.example")).toHaveLength(1);
    expect(asked).toEqual(["dead.example", "vendor.example"]);
    release();
    expect(await strangers("three.example")).toHaveLength(1);
    expect(asked).toEqual(["dead.example", "vendor.example", "three.example"]);
  });

  it("a resolver that does not answer yields no addresses and no error", async () => {
    const { addresses } = await checkAddress("https://hooks.example/x", {
      ...rule,
      resolve: failing("EAI_AGAIN"),
    });
    expect(addresses).toEqual([]);
  });

  it("HOOK-07: HTTPS is required even where private addresses are allowed", async () => {
    const open = { ...rule, allowPrivate: true };
    await expect(checkAddress("http://127.0.0.1/x", open)).rejects.toMatchObject({
      code: "invalid_value",
      message: "webhook_url must begin with https://.",
    });
    await checkAddress("https://127.0.0.1/x", open);
    await checkAddress("https://no-such-name.example/x", open);
  });
});

const hook: GuardedRequest = {
  ...rule,
  https: false,
  url: "",
  method: "POST",
  headers: { "content-type": "application/json" },
  body: '{"n":1}',
  timeoutMs: 30_000,
  responseBytesMax: 1000,
};

describe("a request to a checked address", () => {
  it("T77: goes to the address that was checked, even if the name changes its answer", async () => {
    const inside = await running(serve((_request, response) => response.end("inside")));
    const resolve = resolver({ "hooks.example": [["192.88.98.1"], ["127.0.0.1"]] });
    const url = `http://hooks.example:${inside.port}/x`;
    await expect(guardedRequest({ ...hook, url, resolve, timeoutMs: 300 })).rejects.toMatchObject({
      name: "ExchangeError",
    });
    expect(resolve.asked).toEqual(["hooks.example"]);
    expect(inside.connections()).toBe(0);
    // The next delivery resolves the name again, and refuses.
    await expect(guardedRequest({ ...hook, url, resolve })).rejects.toMatchObject(refused);
    expect(inside.connections()).toBe(0);
  });

  it("T77: connects only to the first of two alternating addresses, with the name as host", async () => {
    const hosts: (string | undefined)[] = [];
    const first = await running(
      serve((request, response) => {
        hosts.push(request.headers.host);
        response.end("first");
      }, "127.0.0.2"),
    );
    const second = await running(
      serve((_request, response) => response.end("second"), "127.0.0.1", first.port),
    );
    const resolve = resolver({ "hooks.example": [["127.0.0.2"], ["127.0.0.1"]] });
    const url = `http://hooks.example:${first.port}/x?y=1`;
    const answer = await guardedRequest({ ...hook, url, resolve, allowPrivate: true });
    expect(answer.body.toString()).toBe("first");
    expect(hosts).toEqual([`hooks.example:${first.port}`]);
    expect(second.connections()).toBe(0);
  });

  it.skipIf(!hasOpenssl())(
    "keeps the name in the TLS handshake, and checks the certificate against it",
    async () => {
      const seen: unknown[] = [];
      const server = await running(
        serveTls("hooks.example", (request, response) => {
          seen.push([(request.socket as { servername?: string }).servername, request.headers.host]);
          response.writeHead(204).end();
        }),
      );
      const resolve = resolver({
        "hooks.example": [["127.0.0.1"]],
        "other.example": [["127.0.0.1"]],
      });
      const open = { ...hook, https: true, allowPrivate: true, resolve };
      const answer = await guardedRequest({
        ...open,
        url: `https://hooks.example:${server.port}/`,
      });
      expect(answer.status).toBe(204);
      expect(seen).toEqual([["hooks.example", `hooks.example:${server.port}`]]);
      await expect(
        guardedRequest({ ...open, url: `https://other.example:${server.port}/` }),
      ).rejects.toMatchObject({
        failure: "tls",
        message: expect.stringMatching(/ERR_TLS_CERT_ALTNAME_INVALID/),
      });
    },
  );

  it("HOOK-08, T77: never connects to a private address", async () => {
    const server = await running(serve((_request, response) => response.end()));
    const resolve = resolver({ "hooks.example": [["127.0.0.1"]] });
    for (const host of ["127.0.0.1", "localhost", "hooks.example", "2130706433", "[::1]"])
      await expect(
        guardedRequest({ ...hook, url: `http://${host}:${server.port}/`, resolve }),
      ).rejects.toMatchObject(refused);
    expect(server.connections()).toBe(0);
  });

  it("T77: returns a redirect without following it", async () => {
    const inside = await running(serve((_request, response) => response.end("inside")));
    const location = `http://127.0.0.1:${inside.port}/`;
    const server = await running(
      serve((_request, response) => response.writeHead(307, { location }).end()),
    );
    const url = `http://127.0.0.1:${server.port}/`;
    const answer = await guardedRequest({ ...hook, url, allowPrivate: true });
    expect([answer.status, answer.headers["location"]]).toEqual([307, location]);
    expect(inside.connections()).toBe(0);
  });

  it("sends the given request and returns the answer", async () => {
    const server = await running(
      serve((request, response) => {
        request.on("data", (body: Buffer) => {
          response
            .writeHead(418, { "x-a": "b" })
            .end(`${request.method} ${request.url} ${body.toString()}`);
        });
      }),
    );
    const url = `http://127.0.0.1:${server.port}/a/b?c=d#e`;
    const answer = await guardedRequest({ ...hook, url, allowPrivate: true });
    expect(answer).toMatchObject({ status: 418, headers: { "x-a": "b" }, whole: true });
    expect(answer.body.toString()).toBe('POST /a/b?c=d {"n":1}');
  });

  it("connects to IPv6 addresses, written and resolved", async () => {
    const server = await running(
      serve((request, response) => response.end(request.headers.host), "::1"),
    );
    const resolve = resolver({ "hooks.example": [["::1"]] });
    for (const host of ["[::1]", "hooks.example"]) {
      const url = `http://${host}:${server.port}/`;
      const answer = await guardedRequest({ ...hook, url, resolve, allowPrivate: true });
      expect(answer.body.toString()).toBe(`${host}:${server.port}`);
    }
  });

  it("reads no more of an endless answer than its limit", async () => {
    let sent = 0;
    const server = await running(
      serve((_request, response) => {
        response.on("error", () => undefined);
        const more = (): void => {
          while (response.write(Buffer.alloc(65_536))) sent += 65_536;
        };
        response.on("drain", more);
        more();
      }),
    );
    const url = `http://127.0.0.1:${server.port}/`;
    const answer = await guardedRequest({ ...hook, url, allowPrivate: true });
    expect([answer.status, answer.body.length, answer.whole]).toEqual([200, 1000, false]);
    expect(sent).toBeLessThan(20_000_000);
  });

  it("returns an answer whose body stalls or breaks, marked as not whole", async () => {
    const head = "HTTP/1.1 200 OK\r\ncontent-length: 100\r\n\r\nabc";
    for (const after of ["silence", "end"]) {
      const server = await running(
        serveRaw((socket) => (after === "end" ? socket.end(head) : socket.write(head))),
      );
      const url = `http://127.0.0.1:${server.port}/`;
      const within = (timeoutMs: number) =>
        guardedRequest({ ...hook, url, allowPrivate: true, timeoutMs });
      // On a busy machine the head may not have arrived by then.
      const answer = await within(300).catch(() => within(5_000));
      expect([answer.status, answer.body.toString(), answer.whole]).toEqual([200, "abc", false]);
    }
  });

  it.each([
    ["silence", () => undefined, "total_timeout"],
    ["an end", (socket: { end(): void }) => socket.end(), "broken"],
    [
      "half a head",
      (s: { write(text: string): void }) => s.write("HTTP/1.1 200 O"),
      "total_timeout",
    ],
    ["another protocol", (s: { end(text: string): void }) => s.end("220 mail\r\n\r\n"), "broken"],
  ] as const)("fails on %s", async (_what, talk, failure) => {
    const server = await running(serveRaw(talk));
    const url = `http://127.0.0.1:${server.port}/`;
    const begun = Date.now();
    await expect(
      guardedRequest({ ...hook, url, allowPrivate: true, timeoutMs: 300 }),
    ).rejects.toMatchObject({ name: "ExchangeError", failure });
    expect(Date.now() - begun).toBeLessThan(60_000);
  });

  it("HOOK-08: leaves no listeners on the long-lived stop signal", async () => {
    const { stdout } = await promisify(execFile)(process.execPath, [leftSignals]);
    const left = JSON.parse(stdout) as { signals: number; listeners: number };
    expect(left.signals).toBeLessThan(100);
    expect(left.listeners).toBe(0);
  });

  it("fails if the port is closed, the name is not resolved, or it is told to stop", async () => {
    const server = await serve(() => undefined);
    const url = `http://127.0.0.1:${server.port}/`;
    const open = { ...hook, allowPrivate: true };
    const stop = new AbortController();
    setTimeout(() => stop.abort(), 50);
    await expect(guardedRequest({ ...open, url, signal: stop.signal })).rejects.toMatchObject({
      failure: "broken",
    });
    await server.close();
    await expect(guardedRequest({ ...open, url })).rejects.toMatchObject({ failure: "connect" });
    await expect(
      guardedRequest({ ...hook, url: "http://hooks.example/", resolve: failing("EAI_AGAIN") }),
    ).rejects.toMatchObject({ failure: "connect" });
    const never: Resolve = () => new Promise(() => undefined);
    await expect(
      guardedRequest({ ...hook, url: "http://hooks.example/", resolve: never, timeoutMs: 100 }),
    ).rejects.toMatchObject({ failure: "total_timeout" });
  });
});
