/** Errors about a body or a query of the management API say what is right: the field, the allowed words, the form. */
import { afterAll, beforeAll, expect, it } from "vitest";
import openapi from "../../docs/openapi.json" with { type: "json" };
import { startAdminGateway, type AdminGateway } from "./support.ts";

let gateway: AdminGateway;
beforeAll(async () => (gateway = await startAdminGateway()));
afterAll(() => gateway.close());

it.each([
  [{ nam: "x" }, "nam", 'There is no field `nam` here; did you mean "name"?'],
  [{ caps: {} }, "caps", "no field `caps` here; allowed: workspace_id, name, user_id, spend_caps,"],
  [{ routing: { srot: "price" } }, "routing.srot", 'here; did you mean "sort"?'],
  [{ routing: { __prt__: 1 } }, "routing.__prt__", "here; allowed: mode, sort, supply_tiers,"],
  [{ routing: { sort: "cheap" } }, "routing.sort", "must be one of: "],
  [
    { spend_caps: { daily: 5 } },
    "spend_caps.daily",
    '`spend_caps.daily` must be a string, such as "5".',
  ],
  [{ spend_caps: { daily: "9300000000" } }, "spend_caps.daily", "from 0 to 9223372036.854775807"],
  [{ spend_caps: { daily: "10000000000000" } }, "spend_caps.daily", "from 0 to 9223372036.85477"],
  [{ name: "a\0b" }, "name", "`name` has U+0000 or half of a surrogate pair"],
  [{ name: 5 }, "name", '`name` must be a string, such as "5".'],
  [{ rate_limits: { concurrency: "5" } }, "rate_limits.concurrency", "must be a whole number."],
  [{ spend_caps: { hard: "yes" } }, "spend_caps.hard", "must be true or false."],
  [{ expires_at: "tomorrow" }, "expires_at", "does not fit: A time in RFC 3339, such as 2027-"],
  [{ expires_at: "2027-02-29T00:00:00Z" }, "expires_at", "must be an existing time, such as"],
  [{ expires_at: "9999-12-31T23:00-14:00" }, "expires_at", "must be an existing time, such as"],
  [{ expires_at: 1700000000 }, "expires_at", 'must be a string, such as "2027-01-31T00:00:00Z".'],
  [{ spend_caps: { daily: -5 } }, "spend_caps.daily", 'must be a string, such as "25.00".'],
  [
    { expires_at: "2099-01-31" },
    "expires_at",
    "needs a time of day and its zone, such as 2099-01-",
  ],
  [{ expires_at: "2099-01-31T10:00" }, "expires_at", "needs a zone, such as 2099-01-31T00:00:00Z"],
  [{ expires_at: "2020-01-01T00:00:00Z" }, "expires_at", "must be in the future, or null"],
  [{ user_id: "user_none" }, "user_id", "must be the id of a member of the workspace."],
])("POST /keys with %j names the field and says what is allowed", async (wrong, param, said) => {
  const body = { workspace_id: gateway.workspaceId, name: "x", ...wrong };
  const { status, json } = await gateway.admin("POST", "/keys", body);
  expect({ status, param: json.error.param }).toEqual({ status: 400, param });
  expect(json.error.message).toContain(said);
});

it("an object sent back as it was read is refused with the first field that cannot be changed and the list of those that can", async () => {
  for (const kind of ["keys", "workspaces", "organizations"]) {
    const { json: read } = await gateway.admin("GET", `/${kind}`);
    const [record] = read.data;
    const { status, json } = await gateway.admin("PATCH", `/${kind}/${record.id}`, record);
    expect({ kind, status, ...json.error }).toMatchObject({
      kind,
      status: 400,
      code: "unknown_parameter",
      param: "id",
      message: expect.stringContaining("There is no field `id` here; allowed: name, ") as string,
    });
  }
});

it.each([
  [5, "`credentials.0.id` must be a string"],
  ["a\0b", "`credentials.0.id` has U+0000 or half of a surrogate pair"],
])(
  "an error in a list names its place in the same form for every mistake: %j",
  async (id, said) => {
    const body = { credentials: [{ id, api_key: "k" }] };
    const { status, json } = await gateway.admin("POST", "/providers", body);
    expect({ status, param: json.error.param }).toEqual({ status: 400, param: "credentials.0.id" });
    expect(json.error.message).toContain(said);
  },
);

it.each([
  ["/keys", { workspace_id: "ws_none", name: "x" }, "workspace_id"],
  ["/workspaces", { organization_id: "org_none", name: "x" }, "organization_id"],
  ["/erasures", { end_user: "u", workspace_id: "ws_none", dry_run: true }, "workspace_id"],
  ["/erasures", { person: "nobody@example.com", dry_run: true }, "person"],
  ["/routing/preview", { workspace_id: "ws_none", model: "sandbox/chat" }, "workspace_id"],
  ["/routing/preview", { key_id: "key_none", model: "sandbox/chat" }, "key_id"],
])("POST %s with %j: 404 names the field with the unknown id", async (path, body, param) => {
  const { status, json } = await gateway.admin("POST", path, body);
  expect({ status, param: json.error.param }).toEqual({ status: 404, param });
});

it.each([
  "/organizations",
  "/workspaces",
  "/balances",
  "/keys",
  "/keys?sort=name",
  "/audit",
  "/alerts",
  "/requests",
  "/tasks",
  "/webhook_deliveries",
  "/workspaces/<id>/ledger",
  "/workspaces/<id>/members",
])(
  "a cursor that no page of %s returned is refused and does not restart the list",
  async (list) => {
    const path = list.replace("<id>", gateway.workspaceId);
    const ofOther = `audit_${"0".repeat(26)}`;
    const others = list === "/audit" ? [ofOther.replace("audit", "key")] : [ofOther];
    for (const cursor of ["garbage", "entry_1", "%20", "", ...others]) {
      const asked = `${path}${path.includes("?") ? "&" : "?"}cursor=${cursor}`;
      const { status, json } = await gateway.admin("GET", asked);
      expect({ asked, status, param: json.error?.param }).toEqual({
        asked,
        status: 400,
        param: "cursor",
      });
    }
  },
);

it.each([
  ["/keys?limt=5", 'There is no field `limt` here; did you mean "limit"?'],
  ["/keys?limit=all", "`limit` does not fit: 1 to 100; 20 if absent."],
  ["/keys?status=happy", "`status` must be one of: active, disabled, revoked."],
  ["/requests?from=now", "`from` does not fit: A time in RFC 3339"],
  ["/requests?http_status=x", "`http_status` does not fit: The status of the answer, such as 429."],
  ["/requests?min_cost=x", "`min_cost` does not fit: In USD, such as 0.05."],
  ["/requests?min_duration_ms=x", "does not fit: In whole milliseconds, such as 1500."],
  ["/requests?end_user=", "`end_user` must not be empty."],
  ["/requests?q=", "`q` must not be empty."],
  ["/requests?model=%00", "`model` has U+0000 or half of a surrogate pair, which cannot be stored"],
  ["/usage?from=2026-11-31T00:00:00Z", "`from` must be an existing time, such as"],
  ["/usage?from=2026-11-01T00:00:00+02:00", "has a space before the offset: in an address, write"],
  ["/requests?from=2026-11-02T00:00:00Z&to=2026-11-01T00:00:00Z", "`from` must not be after `to`"],
  ["/tasks?from=2026-11-02T00:00:00Z&to=2026-11-01T00:00:00Z", "`from` must not be after `to`"],
  ["/usage?group_by=team", "`group_by` does not fit: model, key, provider, "],
  ["/requests?status=bad", "`status` must be one or more of these, separated by commas: succeeded"],
  ["/keys?cursor=x", "`cursor` must be the `next_cursor` of an earlier page of this list."],
  ["/search?q=x", "`q` does not fit: At least two characters"],
])("GET %s with a wrong parameter says what is right", async (path, said) => {
  const { status, json } = await gateway.admin("GET", path);
  expect(status).toBe(400);
  expect(json.error.message).toContain(said);
});

it.each(["some", null])("PATCH /workspaces with keep_bodies %j names the words", async (wrong) => {
  const body = { keep_bodies: wrong };
  const { status, json } = await gateway.admin("PATCH", `/workspaces/${gateway.workspaceId}`, body);
  expect({ status, param: json.error.param }).toEqual({ status: 400, param: "keep_bodies" });
  expect(json.error.message).toBe("`keep_bodies` must be one of: off, errors, all.");
});

it("a list of known fields that is cut ends with three dots", async () => {
  const { json } = await gateway.admin("GET", "/requests?unknown=x");
  expect(json.error.message).toMatch(/; allowed: workspace_id, .*\w, \.\.\.$/);
});

it.each([
  [
    "/providers",
    { vendor: "openai", api_key: "k", credentials: [{ id: "a", api_key: "k" }] },
    "api_key",
    "combined",
  ],
  [
    "/providers",
    { vendor: "openai", credentials: ["a", "a"].map((id) => ({ id, api_key: "k" })) },
    "credentials",
    "twice",
  ],
  ["/erasures", { person: "p", workspace_id: "ws_none" }, "person", "cannot be combined with"],
  ["/providers", { id: "p" }, "dialect", "`base_url` is missing; http or https address"],
  ["/providers", { id: "my provider" }, "id", "does not fit: Letters, digits, dots, dashes and"],
  ["/erasures", {}, "end_user", "or `person` is required, and only one of them"],
  ["/routing/preview", { model: "sandbox/chat" }, "key_id", "Send `key_id`, or `workspace_id`"],
])("POST %s with %j: the message says what to send", async (path, body, param, said) => {
  const { status, json } = await gateway.admin("POST", path, body);
  expect({ status, param: json.error.param }).toEqual({ status: 400, param });
  expect(json.error.message).toContain(said);
});

it("a name has at most 200 characters, counted as characters and not as bytes", async () => {
  const make = (name: string) =>
    gateway.admin("POST", "/keys", { workspace_id: gateway.workspaceId, name });
  expect(await make("😀".repeat(200))).toMatchObject({ status: 201 });
  const { status, json } = await make("😀".repeat(201));
  expect({ status, param: json.error.param }).toEqual({ status: 400, param: "name" });
  expect(json.error.message).toBe("`name` must have at most 200 characters.");
});

it("POST /workspaces/{id}/members with a short password says how long it must be", async () => {
  const body = { email: "ann@example.com", role: "member", password: "short" };
  const path = `/workspaces/${gateway.workspaceId}/members`;
  const { status, json } = await gateway.admin("POST", path, body);
  expect({ status, param: json.error.param }).toEqual({ status: 400, param: "password" });
  expect(json.error.message).toContain("`password` does not fit: At least 8 characters.");
});

it("POST /providers with a misspelt vendor suggests the right one, and the message ends in the question mark", async () => {
  const body = { id: "x", vendor: "mistrl", api_key: "sk-1" };
  const { status, json } = await gateway.admin("POST", "/providers", body);
  expect({ status, param: json.error.param }).toEqual({ status: 400, param: "vendor" });
  expect(json.error.message).toMatch(/; did you mean "mistral"\?$/);
});

it("every field with a pattern has a description for its error message", () => {
  const bare: string[] = [];
  const visit = (node: unknown, place: string): void => {
    if (typeof node !== "object" || node === null) return;
    const { pattern, description } = node as Record<string, unknown>;
    if (typeof pattern === "string" && description === undefined) bare.push(place);
    for (const [name, inner] of Object.entries(node)) visit(inner, `${place}/${name}`);
  };
  visit(openapi.components.parameters, "parameters");
  for (const [name, schema] of Object.entries(openapi.components.schemas))
    if (name.endsWith("Request")) visit(schema, name);
  expect(bare).toEqual([]);
});
