/** Ids of another organization, wherever a read takes one or a path has two: the answer is the same as for an unknown id. */
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import openapi from "../../docs/openapi.json" with { type: "json" };
import { rememberDerivations } from "../support/derivations.ts";
import { eventually } from "../support/patience.ts";
import { startWorld, type Person, type World } from "./people.ts";

rememberDerivations();

interface Parameter {
  readonly name: string;
  readonly in: string;
}
type Components = Readonly<Record<string, Parameter>>;
const shared: Components = openapi.components.parameters;

/** The reads that take ids besides the path, with the names of those parameters. */
const filtered = Object.entries(openapi.paths).flatMap(([path, methods]) => {
  if (!("get" in methods) || !path.startsWith("/admin/v1/") || path.endsWith("/events")) return [];
  const { parameters = [] } = methods.get as {
    parameters?: readonly (Parameter | { readonly $ref: string })[];
  };
  const all = parameters.map((one) =>
    "$ref" in one ? shared[one.$ref.slice(one.$ref.lastIndexOf("/") + 1)]! : one,
  );
  const names = all.flatMap(({ name, in: place }) =>
    place === "query" && /_id$|^created_by$|^ids$/.test(name) ? [name] : [],
  );
  return names.map((name) => [path.slice("/admin/v1".length), name] as const);
});

let world: World;
/** Objects of Bob's organization, by the end of a parameter's name. */
let foreignIds: Readonly<Record<string, string>>;
let invitationId = "";
beforeAll(async () => {
  world = await startWorld({ sandbox: "on" });
  const { bob, away, gateway, must } = world;
  must(await gateway.admin("POST", `/workspaces/${away.id}/credits`, { amount: "5" }));
  const { id: keyId, key } = must(
    await bob.call("POST", "/keys", { workspace_id: away.id, name: "theirs" }),
  );
  await fetch(`${gateway.url}/v1/chat/completions`, {
    method: "POST",
    headers: { authorization: `Bearer ${key}`, "content-type": "application/json" },
    body: JSON.stringify({ model: "sandbox/chat", messages: [{ role: "user", content: "hi" }] }),
  });
  const task = await fetch(`${gateway.url}/v1/tasks`, {
    method: "POST",
    headers: { authorization: `Bearer ${key}`, "content-type": "application/json" },
    body: JSON.stringify({ model: "sandbox/task-image-model-2", prompt: "a cat" }),
  });
  const { id: taskId } = (await task.json()) as { id: string };
  await eventually(async () => {
    const { json } = await bob.call("GET", `/requests?key_id=${keyId}`);
    return json.data.length > 0;
  }, "the call in the log");
  const invited = { email: "new@example.com", role: "member" };
  invitationId = must(await bob.call("POST", `/workspaces/${away.id}/members`, invited)).invitation
    .id;
  foreignIds = {
    workspace_id: away.id,
    organization_id: away.organizationId,
    key_id: keyId,
    member_id: bob.userId,
    created_by: bob.userId,
    actor_id: bob.userId,
    subject_id: keyId,
    task_id: taskId,
  };
});
afterAll(() => world.gateway.close());

/** An answer without its times, and without the id in the request. */
async function answerFor(who: Person, asked: Asked, id: string) {
  const { status, text } = await who.call(asked.method, asked.path(id), asked.body?.(id));
  return { status, text: text.replaceAll(id, "<id>").replaceAll(/"[\d-]+T[\d:.]+Z"/g, "now") };
}

interface Asked {
  readonly method: string;
  readonly path: (id: string) => string;
  readonly body?: (id: string) => object;
}

/** An unknown id of the same form. */
const unknownIdLike = (id: string): string => id.slice(0, id.indexOf("_") + 1) + "0".repeat(26);

describe("an id of another organization in a query", () => {
  it("is tried for every filter of every read", () => {
    expect(filtered.length).toBeGreaterThan(15);
    expect(filtered.filter(([, name]) => foreignIds[name] === undefined)).toEqual([
      ["/models", "ids"],
    ]);
  });

  it.each(filtered.filter(([, name]) => name !== "ids"))(
    "gets the same answer as an unknown id: GET %s by %s",
    async (path, name) => {
      const id = foreignIds[name]!;
      const asked: Asked = {
        method: "GET",
        path: (one) => `${path.replace("{id}", "req_none")}?${name}=${one}`,
      };
      for (const who of [world.ann, world.mem])
        expect(await answerFor(who, asked, id)).toEqual(
          await answerFor(who, asked, unknownIdLike(id)),
        );
    },
  );
});

describe("an id of another organization in a path below the caller's own workspace", () => {
  const member = (id: string): string => `/workspaces/${world.home.id}/members/${id}`;
  const invitation = (id: string): string => `/workspaces/${world.home.id}/invitations/${id}`;
  const bob = () => world.bob.userId;

  it.each<[string, Asked, () => string]>([
    ["a member", { method: "GET", path: member }, bob],
    ["a member's role", { method: "PATCH", path: member, body: () => ({ role: "member" }) }, bob],
    ["a membership's end", { method: "DELETE", path: member }, bob],
    ["a membership again", { method: "POST", path: (id) => `${member(id)}/restore` }, bob],
    ["a password", { method: "POST", path: (id) => `${member(id)}/reset_password` }, bob],
    ["an invitation", { method: "DELETE", path: invitation }, () => invitationId],
  ])("gets 404, as an unknown id does: %s", async (_what, asked, id) => {
    const answer = await answerFor(world.ann, asked, id());
    expect(answer.status).toBe(404);
    expect(answer).toEqual(await answerFor(world.ann, asked, unknownIdLike(id())));
  });

  it("is refused as the owner of a new key, like an unknown user id", async () => {
    const asked: Asked = {
      method: "POST",
      path: () => "/keys",
      body: (id) => ({ workspace_id: world.home.id, name: "x", user_id: id }),
    };
    const answer = await answerFor(world.ann, asked, bob());
    expect(answer.status).toBeGreaterThanOrEqual(400);
    expect(answer).toEqual(await answerFor(world.ann, asked, unknownIdLike(bob())));
  });
});
