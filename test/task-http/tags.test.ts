/** Tags and end users of image and video tasks: stored, shown, filterable, counted and logged. docs/tags.md. */
import { afterAll, beforeAll, expect, it } from "vitest";
import { parseUsd } from "../../src/base/money.ts";
import { startTestGateway, type GatewayUnderTest } from "../support/gateway.ts";
import { eventually } from "../support/patience.ts";

let gateway: GatewayUnderTest;
const adminToken = "admin-token-of-the-task-tags-test";
beforeAll(async () => {
  gateway = await startTestGateway({
    config: "tags: { metrics: [team], usage: [team] }",
    sandbox: "on",
    environment: { TOLLGATE_ADMIN_TOKEN: adminToken },
  });
  await gateway.credit("10");
});
afterAll(() => gateway.close());

interface Row {
  readonly id: string;
  readonly tags: Record<string, string> | null;
  readonly end_user: string | null;
}
async function admin(path: string): Promise<Row[]> {
  const answer = await gateway.get(`/admin/v1${path}`, { authorization: `Bearer ${adminToken}` });
  expect(answer.status).toBe(200);
  return ((await answer.json()) as { data: Row[] }).data;
}
const idsOf = (rows: readonly Row[]) => rows.map(({ id }) => id);

const video = { model: "sandbox/video-model-v1", prompt: "A boat", duration: 2 };
async function submit(path: string, body: object, headers: Record<string, string>) {
  const answer = await gateway.post(path, body, { prefer: "wait=60", ...headers });
  const json = (await answer.json()) as Record<string, string>;
  expect({ ok: answer.ok, json }).toMatchObject({ ok: true });
  return json["request_id"] ?? json["id"]!;
}
const logged = (id: string) =>
  eventually(async () => (await admin("/requests")).find((row) => row.id === id), "its log row");

it("tags and end user, from headers or from the field user, are stored with the task and its log row, and filter both", async () => {
  const byHeaders = await submit("/v1/tasks", video, {
    "x-gw-metadata": '{"team":"search","__proto__":"p","odd":"a\\u0000b"}',
    "x-gw-end-user": "u-1",
  });
  const byField = await submit("/v1/videos/generations", { ...video, user: "u-2" }, {});
  const ark = {
    ...video,
    content: [{ type: "text", text: "A boat" }],
    model: "sandbox/video-model-tokens",
  };
  const { prompt: _prompt, ...arkBody } = ark;
  const byArk = await submit("/api/v3/contents/generations/tasks", arkBody, {
    "x-gw-metadata": '{"team":"ads"}',
  });
  const plain = await submit("/v1/tasks", video, {});
  const tags = { team: "search", ["__proto__"]: "p", odd: "a\ufffdb" };
  const tasks = await admin("/tasks");
  const of = (id: string) => tasks.find((row) => row.id === id)!;
  expect(Object.entries(of(byHeaders).tags!)).toEqual(Object.entries(tags));
  expect(of(byHeaders).end_user).toBe("u-1");
  expect(of(byField)).toMatchObject({ tags: null, end_user: "u-2" });
  expect(of(byArk)).toMatchObject({ tags: { team: "ads" }, end_user: null });
  expect(of(plain)).toMatchObject({ tags: null, end_user: null });
  expect(Object.entries((await logged(byHeaders)).tags!)).toEqual(Object.entries(tags));
  expect(await logged(byField)).toMatchObject({ end_user: "u-2" });
  await logged(byArk);
  for (const path of ["/tasks", "/requests"]) {
    expect(idsOf(await admin(`${path}?tag=team:search`))).toEqual([byHeaders]);
    expect(idsOf(await admin(`${path}?tag=__proto__:p&end_user=u-1`))).toEqual([byHeaders]);
    expect(idsOf(await admin(`${path}?end_user=u-2`))).toEqual([byField]);
    expect(idsOf(await admin(`${path}?tag=team:nobody`))).toEqual([]);
  }
});

it("tagged tasks are counted in metrics and in usage, at the cost that the ledger charged", async () => {
  const metrics = await (await gateway.get("/metrics")).text();
  expect(metrics).toContain(
    'tollgate_tagged_calls_total{tag="team",value="ads",status="succeeded"} 1',
  );
  const rows = (await admin("/usage?group_by=tag:team")) as unknown as {
    tag: string | null;
    cost: string;
    requests: number;
  }[];
  const [charged] = await gateway.database.query<{ nano: string }>(
    "select sum(amount_nano)::text as nano from ledger_entries where kind = 'charge'",
  );
  expect(Object.fromEntries(rows.map(({ tag, requests }) => [`${tag}`, requests]))).toEqual({
    search: 1,
    ads: 1,
    null: 2,
  });
  const sum = rows.reduce((nano, { cost }) => nano + parseUsd(cost), 0n);
  expect(sum).toBe(BigInt(charged!.nano));
});

it("a repeated submission keeps the tags of the first", async () => {
  const headers = { "idempotency-key": "again", "x-gw-metadata": '{"round":"1"}' };
  const first = await submit("/v1/tasks", video, headers);
  const again = await submit("/v1/tasks", video, { ...headers, "x-gw-metadata": '{"round":"2"}' });
  expect(again).toBe(first);
  expect(idsOf(await admin("/tasks?tag=round:1"))).toEqual([first]);
  expect(idsOf(await admin("/tasks?tag=round:2"))).toEqual([]);
});

it("invalid tags or an invalid end user refuse the task with the header's name, and create nothing", async () => {
  const before = await admin("/tasks");
  for (const [name, value] of [
    ["x-gw-metadata", "team"],
    ["x-gw-end-user", "u".repeat(257)],
  ] as const) {
    const answer = await gateway.post("/v1/tasks", video, { [name]: value });
    expect(answer.status).toBe(400);
    expect(await answer.text()).toContain(name);
  }
  expect(idsOf(await admin("/tasks"))).toEqual(idsOf(before));
});
