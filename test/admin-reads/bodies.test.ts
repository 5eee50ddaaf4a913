/** Calls whose bodies are kept: who switches this on, who reads the bodies, what is never in them, and when they expire. */
import { afterAll, beforeAll, expect, it } from "vitest";
import { newId } from "../../src/base/ids.ts";
import { sweepBodies } from "../../src/request-log/index.ts";
import { costMs } from "../support/cost.ts";
import { startWorld, type World } from "./support.ts";

let world: World;
let keys: Record<"mem" | "mel" | "bob", { id: string; key: string }>;
beforeAll(async () => {
  world = await startWorld();
  keys = {
    mem: await world.keyOf(world.mem, world.home.id),
    mel: await world.keyOf(world.mel, world.home.id),
    bob: await world.keyOf(world.bob, world.away.id),
  };
});
afterAll(() => world.gateway.close());

const keep = async (bodies: object) =>
  world.must(await world.ann.call("PATCH", `/workspaces/${world.home.id}`, bodies));
const read = (id: string, who = world.mem) => who.call("GET", `/requests/${id}/body`);
const stored = () =>
  world.gateway.database.query<{ id: string; sealed: Buffer }>(
    "select id, sealed from request_bodies",
    [],
  );

/** Makes a call with any body; returns its id and the answer. */
async function post(key: string, body: object, path = "/v1/chat/completions") {
  const answer = await fetch(world.gateway.url + path, {
    method: "POST",
    headers: { "content-type": "application/json", authorization: `Bearer ${key}` },
    body: JSON.stringify(body),
  });
  const text = await answer.text().catch(() => "");
  return { id: answer.headers.get("x-request-id")!, text };
}
const asking = (content: string, more: object = {}) => ({
  model: "sandbox/chat",
  messages: [{ role: "user", content }],
  ...more,
});

it("bodies are kept only once an admin switches it on, which is audited; unknown and unkept calls get the same answer", async () => {
  const id = await world.chat(keys.mem.key);
  const { status, text } = await read(id);
  expect(status).toBe(404);
  expect(text).toBe((await read("req_00000000000000000000000000")).text);
  expect(await stored()).toEqual([]);
  for (const wrong of [
    { keep_bodies: "some" },
    { body_retention_days: 0 },
    { body_retention_days: 91 },
  ])
    expect((await world.ann.call("PATCH", `/workspaces/${world.home.id}`, wrong)).status).toBe(400);
  const path = `/workspaces/${world.home.id}`;
  expect((await world.mem.call("PATCH", path, { keep_bodies: "all" })).status).toBe(403);
  await keep({ keep_bodies: "all", body_retention_days: 3 });
  const { json } = await world.ann.call("GET", "/audit?action=workspace.change");
  expect(json.data[0]).toMatchObject({
    actor: { name: world.ann.email },
    before: { keep_bodies: "off", body_retention_days: 7 },
    after: { keep_bodies: "all", body_retention_days: 3 },
  });
});

it("request, sent request and answer are kept, whole and streamed, and are encrypted in the database", async () => {
  const secret = "the password is swordfish";
  const { id, text } = await post(keys.mem.key, asking(secret), "/v1/chat/completions");
  const { json } = await read(id);
  expect(JSON.parse(json.request)).toEqual(asking(secret));
  expect(JSON.parse(json.sent)).toMatchObject({ model: "sandbox-large" });
  expect(JSON.parse(json.answer)).toEqual(JSON.parse(text));
  expect(json.truncated).toEqual([]);
  const days = (Date.parse(json.kept_until) - Date.now()) / 86_400_000;
  expect(days).toBeGreaterThan(2.9);
  expect(days).toBeLessThanOrEqual(3);
  const streamed = await post(keys.mem.key, asking("Hi", { stream: true }));
  const { json: kept } = await read(streamed.id);
  expect(kept.answer).toBe(streamed.text);
  for (const { sealed } of await stored()) expect(sealed.includes("swordfish")).toBe(false);
  // For another call the same bytes cannot be opened.
  await world.gateway.database.query(
    "update request_bodies set sealed = (select sealed from request_bodies where id = $1) where id = $2",
    [id, streamed.id],
  );
  expect((await read(streamed.id)).status).toBe(500);
});

it("kept bodies have large integers with all their digits", async () => {
  const seed = "9223372036854775807";
  const answer = await fetch(`${world.gateway.url}/v1/chat/completions`, {
    method: "POST",
    headers: { "content-type": "application/json", authorization: `Bearer ${keys.mem.key}` },
    body: `${JSON.stringify(asking("Hi")).slice(0, -1)},"seed":${seed}}`,
  });
  await answer.text();
  const { json } = await read(answer.headers.get("x-request-id")!);
  for (const text of [json.request, json.sent]) expect(text).toContain(`"seed":${seed}`);
});

it("members read only the bodies of their own calls; admins read those of their workspace", async () => {
  const { id } = await post(keys.mel.key, asking("mel alone"));
  expect((await read(id, world.mel)).json.request).toContain("mel alone");
  expect((await read(id, world.ann)).json.request).toContain("mel alone");
  for (const other of [world.mem, world.bob]) expect((await read(id, other)).status).toBe(404);
  const foreign = await post(keys.bob.key, asking("bob"));
  expect((await read(foreign.id, world.bob)).status).toBe(404);
  const anonymous = await fetch(`${world.gateway.url}/admin/v1/requests/${id}/body`);
  expect(anonymous.status).toBe(401);
});

it("kept bodies contain no keys and no headers", async () => {
  const mine = keys.mem.key;
  const { id } = await post(mine, asking(`my key is ${mine}, and gw_temp_key_1_0_x too`));
  const { text } = await read(id);
  expect(text).not.toContain(mine.slice(8));
  expect(text).toContain("gw_live_[masked]");
  expect(text).not.toContain("gw_temp_key");
  expect(text.toLowerCase()).not.toMatch(/authorization|bearer/);
});

it("kept bodies contain no management tokens, invitation links, password links or signing secrets", async () => {
  const { home, ann, mel, must } = world;
  const secret = must(await ann.call("GET", `/workspaces/${home.id}/signing_secret`)).secret;
  const body = { email: "invited-in-a-prompt@example.com", role: "member" };
  const { invitation } = must(await ann.call("POST", `/workspaces/${home.id}/members`, body));
  const reset = `/workspaces/${home.id}/members/${mel.userId}/reset_password`;
  const { url } = must(await ann.call("POST", reset));
  const secrets = [mel.token, secret, invitation.url, url].map((one: string) =>
    one.split("#").at(-1)!,
  );
  const { id } = await post(keys.mem.key, asking(`all of these: ${secrets.join(", ")}.`));
  const { text } = await read(id);
  for (const one of secrets) expect(text).not.toContain(one.slice(8));
  expect(text).toContain(
    "all of these: gw_pat_[masked], whsec_[masked], gw_inv_[masked], gw_pwr_[masked].",
  );
});

it("long bodies are cut at a character boundary, hostile text is kept unchanged, and a failed call keeps its error", async () => {
  const huge = "ß\u2028<script>alert(1)</script>".repeat(20_000);
  const { json } = await read((await post(keys.mem.key, asking(huge))).id);
  expect(json.truncated).toEqual(["request", "sent"]);
  for (const text of [json.request, json.sent] as string[]) {
    expect(Buffer.byteLength(text)).toBeLessThanOrEqual(256 * 1024);
    expect(Buffer.byteLength(text)).toBeGreaterThan(256 * 1024 - 8);
    expect(text).not.toContain("\uFFFD");
    expect(text).toContain("<script>alert(1)</script>");
  }
  const flood = await post(keys.mem.key, asking(`Hi\n#sandbox {"flood":600000}`, { stream: true }));
  expect((await read(flood.id)).json.truncated).toEqual(["answer"]);
  const odd = await post(keys.mem.key, asking("\u0000 \ud800 '; drop table request_bodies; --"));
  expect((await read(odd.id)).json.request).toContain("drop table");
  const refused = await post(keys.mem.key, asking("Hi", { model: "nobody/knows-it" }));
  const { json: kept } = await read(refused.id);
  expect(JSON.parse(kept.answer)).toMatchObject({ error: { code: "model_not_found" } });
  expect(kept.sent).toBeNull();
});

it("cutting a body full of replacement characters is fast and keeps them", async () => {
  const marks = "\uFFFD".repeat(80_000);
  const ms = await costMs(async () => {
    const { id } = await post(keys.mem.key, asking(`${marks}${"x".repeat(50_000)}`));
    const { json } = await read(id);
    expect(json.truncated).toContain("request");
    expect(json.request).toContain(marks);
  });
  // A search for them at the end of the text took ten seconds.
  expect(ms).toBeLessThan(2_500);
});

it("a stream that the vendor or the caller breaks off keeps what had arrived", async () => {
  const cut = await post(
    keys.mem.key,
    asking(`Hi\n#sandbox {"cut_after_chunks":2}`, { stream: true }),
  );
  // The call ends a moment after its answer.
  await expect.poll(async () => (await read(cut.id)).status).toBe(200);
  const { json } = await read(cut.id);
  expect(json.answer).toBe(cut.text);
  expect(json.answer).toContain("error");
  const gone = new AbortController();
  const answer = await fetch(`${world.gateway.url}/v1/chat/completions`, {
    method: "POST",
    signal: gone.signal,
    headers: { "content-type": "application/json", authorization: `Bearer ${keys.mem.key}` },
    body: JSON.stringify(
      asking(`Hi\n#sandbox {"reply":"${"word ".repeat(200)}","chunk_delay_ms":50}`, {
        stream: true,
      }),
    ),
  });
  const first = await answer.body!.getReader().read();
  expect(first.done).toBe(false);
  gone.abort();
  const id = answer.headers.get("x-request-id")!;
  await expect.poll(async () => (await read(id)).status).toBe(200);
  expect((await read(id)).json.answer).toContain("data: ");
});

it("bodies of failed calls only can be kept; a shorter retention deletes exactly the older bodies, in batches", async () => {
  await keep({ keep_bodies: "errors", body_retention_days: 3 });
  const fine = await post(keys.mem.key, asking("Hi"));
  const failed = await post(keys.mem.key, asking(`Hi\n#sandbox {"status":400,"error":"no"}`));
  await expect.poll(async () => (await read(failed.id)).status).toBe(200);
  expect((await read(fine.id)).status).toBe(404);
  await keep({ keep_bodies: "all" });
  const vector = await post(
    keys.mem.key,
    { model: "sandbox/embedding", input: "word" },
    "/v1/embeddings",
  );
  expect((await read(vector.id)).json.answer).toContain("embedding");
  const { database } = world.gateway;
  const nowMs = Date.now();
  const old = Array.from({ length: 1_100 }, (_, at) => newId("req", nowMs - 2 * 86_400_000 - at));
  await database.query(
    "insert into request_bodies (workspace_id, id, sealed) select $1, id, '' from unnest($2::text[]) id",
    [world.home.id, old],
  );
  expect(await sweepBodies(database, nowMs)).toBe(0);
  await keep({ body_retention_days: 1 });
  const counts = [1, 2, 3, 4].map(() => sweepBodies(database, nowMs));
  const done = (await Promise.all(counts)).reduce((sum, count) => sum + count, 0);
  let left = 0;
  for (let more = 1; more > 0; left += more) more = await sweepBodies(database, nowMs);
  expect(done + left).toBe(old.length);
  expect((await read(vector.id)).status).toBe(200);
  // Two days later the rest of them is deleted. Until then, expired bodies cannot be read.
  await keep({ keep_bodies: "off" });
  expect(await sweepBodies(database, nowMs + 2 * 86_400_000)).toBeGreaterThan(5);
  expect(await stored()).toEqual([]);
});
