/** The management API against its description: examples are answered, and every answer fits the document. */
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { faults, operations, type Target } from "../http/openapi-support.ts";
import { startWorld, type World } from "./people.ts";
import { call } from "./support.ts";

const managed = operations.filter(({ path }) => path.startsWith("/admin/v1/"));

describe("the management API as described", () => {
  let world: World;
  let ids: Record<string, string>;
  beforeAll(async () => {
    world = await startWorld();
    const { id } = world.must(
      await world.gateway.admin("POST", "/keys", { workspace_id: world.home.id, name: "k" }),
    );
    const made = await call(world.gateway.url, "POST", "/tokens", {
      body: { name: "t" },
      headers: { cookie: world.root.cookie },
    });
    const invited = world.must(
      await world.gateway.admin("POST", `/workspaces/${world.home.id}/members`, {
        email: "invited@example.com",
        role: "member",
      }),
    );
    ids = {
      invitation: invited.invitation.id,
      organizations: world.home.organizationId,
      workspaces: world.home.id,
      keys: id,
      tokens: made.json.id,
      user: world.mem.userId,
    };
  });
  afterAll(() => world.gateway.close());

  const pathOf = ({ path }: Target) =>
    path
      .replace("/admin/v1", "")
      .replace(/\/(\w+)\/\{id\}/, (_all, kind: string) => `/${kind}/${ids[kind]}`)
      .replace("{user_id}", ids["user"]!)
      .replace("{invitation_id}", ids["invitation"]!);

  /** Some examples end objects that others need, and one restores them. */
  const order = ({ method, path }: Target) =>
    path.endsWith("/restore") ? 2 : Number(method === "DELETE" || path.endsWith("/revoke"));

  it("every example gets the described answer, and the described 401 without a credential", async () => {
    const sorted = managed.toSorted((one, other) => order(one) - order(other));
    for (const target of sorted.filter(({ path }) => mine.test(path))) {
      const at = `${target.method} ${target.path}`;
      const example = target.operation.requestBody?.content["application/json"]!.examples!["plain"];
      const body = example && adapt(example.value);
      const headers = { cookie: world.root.cookie };
      const path = pathOf(target);
      const answer = await call(world.gateway.url, target.method, path, { body, headers });
      expect({ at, wrong: wrong(target, answer), text: answer.text }).toMatchObject({ wrong: [] });
      expect({ at, status: answer.status }).toEqual({ at, status: doneAs(target) });
      expect(answer.headers.get("x-request-id")).toMatch(/^req_/);
      const refused = await call(world.gateway.url, target.method, path, { body });
      expect({ at, status: refused.status, wrong: wrong(target, refused) }).toEqual({
        at,
        status: 401,
        wrong: [],
      });
    }
  });

  /** The resources of this folder; reads of calls and tasks are tested elsewhere. */
  const mine = /^\/admin\/v1\/(organizations|workspaces\/?|keys|tokens|audit|me)(?!.*webhook)/;

  const adapt = (value: Record<string, unknown>) => ({
    ...value,
    ...("workspace_id" in value && { workspace_id: world.home.id }),
    ...("organization_id" in value && { organization_id: world.home.organizationId }),
    ...("email" in value && { email: "example@example.com" }),
  });

  /** Status of a repeated request: a later one than that of the first. */
  const doneAs = ({ operation }: Target) =>
    Math.max(...Object.keys(operation.responses).flatMap((one) => (one < "3" ? Number(one) : [])));

  function wrong({ operation }: Target, answer: { status: number; json: unknown }): string[] {
    const described = operation.responses[answer.status];
    if (described === undefined) return [`${answer.status} is not described`];
    return faults(described.content["application/json"]!.schema, answer.json);
  }
});
