/**
 * The reads of the management API against docs/openapi.json: each answer fits its schema, and has no field that the schema does
 * not name.
 */
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { signIn } from "../admin/people.ts";
import { call, type Answer } from "../admin/support.ts";
import { byId, faults, operations, unnamed, type Target } from "../http/openapi-support.ts";
import { startWorld, usageTold, type World } from "./support.ts";

const reads = operations.filter(
  ({ method, path, operation }) =>
    method === "GET" &&
    path.startsWith("/admin/v1/") &&
    operation.responses["200"]?.content["application/json"] !== undefined,
);

/** The ways in which an answer differs from the document. */
function wrong({ operation }: Target, { status, json }: Answer): string[] {
  const described = operation.responses[status]?.content["application/json"];
  if (described === undefined) return [`${status} is not described`];
  return [...faults(described.schema, json), ...unnamed(described.schema, json)];
}

describe("the answer of a read", () => {
  let world: World;
  let ids: Record<string, string>;
  beforeAll(async () => {
    world = await startWorld();
    const { root, home, must } = world;
    const { id, key } = await world.keyOf(root, home.id);
    const request = await world.chat(key);
    await world.chat(key, { usage: usageTold }, "sandbox/messages");
    await world.chat(key, { status: 400, error: "no" });
    const task = await world.video(key);
    await world.video(key, { prompt: '#sandbox {"task_outcome": "failed"}' });
    const tested = await root.call("POST", `/workspaces/${home.id}/webhook_test`, {
      url: "https://receiver.invalid/hook",
    });
    const provider = must(await root.call("GET", "/providers")).data[0].id;
    ids = {
      organizations: home.organizationId,
      workspaces: home.id,
      members: world.mem.userId,
      keys: id,
      requests: request,
      tasks: task,
      webhook_deliveries: tested.json.id,
      providers: provider,
    };
  });
  afterAll(() => world.gateway.close());

  const addressOf = (path: string) =>
    path
      .replace("/admin/v1", "")
      .replaceAll(/\/(\w+)\/\{\w+\}/g, (_all, kind: string) => `/${kind}/${ids[kind] ?? "none"}`);

  it.each(reads.map((target) => [target.path, target] as const))(
    "fits its schema: GET %s",
    async (path, target) => {
      const address = path.endsWith("/search") ? "/search?q=ann" : addressOf(path);
      const headers = { cookie: world.root.cookie };
      const answer = await call(world.gateway.url, "GET", address, { headers });
      expect({ address, status: answer.status, wrong: wrong(target, answer) }).toEqual({
        address,
        status: path.endsWith("/body") ? 404 : 200,
        wrong: [],
      });
    },
  );

  it.each([
    "/requests?view=list",
    "/usage?granularity=hour&group_by=key",
    "/usage?group_by=model&top=1",
    "/models?ids=sandbox/chat,sandbox/video-model-v1",
  ])("fits its schema, with these parameters: GET %s", async (address) => {
    const path = `/admin/v1${address.split("?")[0]}`;
    const target = reads.find((one) => one.path === path)!;
    const answer = await world.root.call("GET", address);
    expect({ status: answer.status, wrong: wrong(target, answer) }).toEqual({
      status: 200,
      wrong: [],
    });
    expect(answer.json.data.length).toBeGreaterThan(0);
  });

  it("has data, has_more and next_cursor if it is a list", async () => {
    const lists = reads.filter(({ path }) => !/[{]\w+[}]$/.test(path));
    const shapes = await Promise.all(
      lists.map(async ({ path }) => {
        const { json } = await world.root.call("GET", addressOf(path));
        const { data, has_more: more, next_cursor: next } = json as Record<string, unknown>;
        return { path, isList: data !== undefined, fits: more === (typeof next === "string") };
      }),
    );
    expect(shapes.filter(({ isList }) => isList).length).toBeGreaterThan(10);
    expect(shapes.filter(({ isList, fits }) => isList && !fits)).toEqual([]);
  });

  it("fits its schema for a repeated credit, and for a session that must first change its password", async () => {
    const { gateway, home } = world;
    const headers = { "idempotency-key": "twice" };
    const credit = () =>
      gateway.admin("POST", `/workspaces/${home.id}/credits`, { amount: "1" }, headers);
    const answers = [await credit(), await credit()];
    expect(answers.map(({ status }) => status)).toEqual([201, 200]);
    expect(answers.flatMap((one) => wrong(byId("addCredits"), one))).toEqual([]);

    const invited = { email: "new@example.com", role: "member", password: "chosen by the admin" };
    world.must(await world.ann.call("POST", `/workspaces/${home.id}/members`, invited));
    const signedIn = await signIn(gateway, invited.email, invited.password);
    const cookie = signedIn.headers.getSetCookie()[0]!.split(";")[0]!;
    const refused = await call(gateway.url, "GET", "/keys", { headers: { cookie } });
    expect(refused.json.error.code).toBe("password_change_required");
    expect(wrong(byId("listKeys"), refused)).toEqual([]);
  });
});
