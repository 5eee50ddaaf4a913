/** The journal: the requests that the sandbox received, over HTTP and in the process. */
import { request } from "node:http";
import { describe, expect, it } from "vitest";
import type { JournalEntry } from "../../sandbox/index.ts";
import { useSandbox } from "./support.ts";
import { endpoints, send } from "./vendors.ts";

const sandbox = useSandbox();
const chat = endpoints[0]!;
const ask = (text: string) => send({ url: sandbox.url, endpoint: chat, text, stream: false });

async function list(query = ""): Promise<JournalEntry[]> {
  const response = await fetch(`${sandbox.url}/__journal${query}`);
  return ((await response.json()) as { data: JournalEntry[] }).data;
}

describe("the journal", () => {
  it("lists the received requests, newest last, with masked credentials", async () => {
    await (await ask("first")).text();
    await fetch(`${sandbox.url}/openai/v1/chat/completions`, {
      method: "POST",
      headers: { authorization: "Bearer secret-of-someone-else" },
      body: "{not json",
    });
    const [first, second] = await list();
    expect(first).toMatchObject({
      vendor: "openai",
      method: "POST",
      path: "/openai/v1/chat/completions",
      headers: { authorization: "Bearer sandbox" },
      body: { messages: [{ content: "first" }] },
      status: 200,
      aborted: false,
    });
    expect(first!.duration_ms).toBeTypeOf("number");
    expect(second).toMatchObject({
      headers: { authorization: "Bearer secret-...else" },
      body: "{not json",
      status: 401,
    });
    expect(second!.id).toBeGreaterThan(first!.id);
  });

  it("filters by model and by text, and is cleared by DELETE", async () => {
    await (await ask("needle")).text();
    for (const endpoint of endpoints) {
      await (await send({ url: sandbox.url, endpoint, text: "hay", stream: false })).text();
    }
    expect(await list("?contains=needle")).toHaveLength(1);
    expect(await list("?model=sandbox-large")).toHaveLength(5);
    expect(await list("?model=other")).toHaveLength(0);
    await fetch(`${sandbox.url}/__journal`, { method: "DELETE" });
    expect(await list()).toEqual([]);
  });

  it("abbreviates bodies above 1 MB with their length", async () => {
    await (await ask("y".repeat(2_000_000))).text();
    const [entry] = await list();
    const body = entry!.body as { abbreviated: boolean; bytes: number; start: string };
    expect(body.abbreviated).toBe(true);
    expect(body.bytes).toBeGreaterThan(2_000_000);
    expect(body.start).toHaveLength(1000);
  });

  it("keeps the newest thousand requests", async () => {
    const post = () => fetch(`${sandbox.url}/openai/v1/models`).then((answer) => answer.text());
    for (let batch = 0; batch < 12; batch += 1)
      await Promise.all(Array.from({ length: 100 }, post));
    const entries = sandbox.journal.list();
    expect(entries).toHaveLength(1000);
    expect(entries.at(-1)!.id - entries[0]!.id).toBe(999);
  });
});

describe("the protection from web pages", () => {
  const status = (host: string, method = "GET"): Promise<number> =>
    new Promise((resolve, reject) => {
      request(`${sandbox.url}/__journal`, { method, headers: { host } }, (response) => {
        response.resume();
        resolve(response.statusCode!);
      })
        .on("error", reject)
        .end();
    });

  it.each(["evil.example", "evil.example:8081", "127.0.0.1.evil.example", "a b"])(
    "a page whose host name %j leads here can neither read nor clear the journal",
    async (host) => {
      const before = (await list()).length;
      expect(await status(host)).toBe(403);
      expect(await status(host, "DELETE")).toBe(403);
      expect(await list()).toHaveLength(before);
    },
  );

  it.each(["127.0.0.1:8081", "localhost", "[::1]:8081", "sandbox:8081", "api.localhost"])(
    "the host %s is accepted as this machine or its network",
    async (host) => {
      expect(await status(host)).toBe(200);
    },
  );
});
