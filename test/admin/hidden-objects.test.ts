/** Other users' objects in a body, by id: the answer does not reveal whether they exist. docs/management.md. */
import { afterAll, beforeAll, expect, it } from "vitest";
import { rememberDerivations } from "../support/derivations.ts";
import { startWorld, type World } from "./people.ts";

rememberDerivations();

let world: World;
let keyId = "";
beforeAll(async () => {
  world = await startWorld();
  const body = { workspace_id: world.away.id, name: "theirs" };
  keyId = world.must(await world.bob.call("POST", "/keys", body)).id as string;
});
afterAll(() => world.gateway.close());

const model = "sandbox/chat";
type Body = (id: string) => object;

it.each<[string, string, Body, () => string]>([
  ["/keys", "ws_none", (id) => ({ workspace_id: id, name: "x" }), () => world.away.id],
  ["/routing/preview", "ws_none", (id) => ({ workspace_id: id, model }), () => world.away.id],
  ["/routing/preview", "key_none", (id) => ({ key_id: id, model }), () => keyId],
  [
    "/workspaces",
    "org_none",
    (id) => ({ organization_id: id, name: "x" }),
    () => world.away.organizationId,
  ],
])(
  "POST %s: an id of another tenant gets the same answer as an unknown id (%s)",
  async (path, none, bodyOf, theirs) => {
    const answerFor = async (id: string) => {
      const { status, json } = await world.ann.call("POST", path, bodyOf(id));
      const { request_id: _request, ...error } = json.error;
      return { status, error: JSON.stringify(error).replaceAll(id, "<id>") };
    };
    const missing = await answerFor(none);
    expect(missing.status).toBeGreaterThanOrEqual(403);
    expect(await answerFor(theirs())).toEqual(missing);
  },
);
