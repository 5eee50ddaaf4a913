/** Parameters of the management API that say nothing, or that would be lost, are refused and named. */
import { afterAll, beforeAll, expect, it } from "vitest";
import openapi from "../../docs/openapi.json" with { type: "json" };
import { startAdminGateway, type AdminGateway } from "./support.ts";

let gateway: AdminGateway;
beforeAll(async () => (gateway = await startAdminGateway()));
afterAll(() => gateway.close());

interface Parameter {
  readonly name: string;
  readonly in: string;
}

type Written = Parameter | { readonly $ref: string };

/** Lists that only users have: the admin token gets 403 whatever it asks. */
const ownLists = ["/admin/v1/tokens", "/admin/v1/sessions"];

/** Lists whose search text may be empty. */
const searched = new Set(["/keys", "/models", "/workspaces/{id}/members"]);

/** Every parameter of a query, by the path of its list. */
function filtersOf(): [path: string, name: string][] {
  const shared = openapi.components.parameters as Record<string, Parameter>;
  const read = (one: Written): Parameter =>
    "$ref" in one ? shared[one.$ref.slice(one.$ref.lastIndexOf("/") + 1)]! : one;
  return Object.entries(openapi.paths).flatMap(([path, methods]) => {
    const { get } = methods as { readonly get?: { readonly parameters?: readonly Written[] } };
    if (!path.startsWith("/admin/v1/") || ownLists.includes(path)) return [];
    return (get?.parameters ?? [])
      .map(read)
      .filter((one) => one.in === "query")
      .map((one) => [path.slice("/admin/v1".length), one.name]);
  });
}

it.each([...searched])(
  "an empty search text, as of a cleared search field, finds all of %s",
  async (path) => {
    const list = path.replace("{id}", gateway.workspaceId);
    const all = await gateway.admin("GET", list);
    const found = await gateway.admin("GET", `${list}?q=`);
    expect([found.status, found.json]).toEqual([200, all.json]);
  },
);

it("an empty parameter of any list is refused, and never answered with an empty list", async () => {
  const asked = filtersOf();
  expect(asked.length).toBeGreaterThan(90);
  const answered: string[] = [];
  for (const [path, name] of asked) {
    if (name === "q" && searched.has(path)) continue;
    const url = `${path.replace("{id}", gateway.workspaceId)}?${name}=`;
    const { status, json } = await gateway.admin("GET", url);
    if (status !== 400 || json.error.param !== name) answered.push(`${url} ${status}`);
  }
  expect(answered).toEqual([]);
});

it("a parameter that is there twice is refused: one of its values would be lost without a word", async () => {
  for (const url of ["/requests?status=failed&status=expired", "/keys?limit=2&limit=2"]) {
    const { status, json } = await gateway.admin("GET", url);
    const [, param] = /\?(\w+)=/.exec(url)!;
    expect({ status, ...json.error }).toMatchObject({
      status: 400,
      code: "invalid_value",
      param,
      message: `\`${param}\` is there more than once: only one value counts.`,
    });
  }
});

it("more models than one request may name are refused: the others would be missing without a word", async () => {
  const ask = (count: number) =>
    gateway.admin(
      "GET",
      `/models?ids=${Array.from({ length: count }, (_, at) => `a/m${at}`).join()}`,
    );
  expect((await ask(20)).status).toBe(200);
  const { status, json } = await ask(21);
  expect({ status, ...json.error }).toMatchObject({
    status: 400,
    code: "invalid_value",
    param: "ids",
    message: "`ids` has 21 ids: name at most 20 in one request.",
  });
});

it.each([
  ["/erasures?dry_run=true", "dry_run", { end_user: "u-8127" }],
  ["/keys/<key>/rotate?grace_seconds=60", "grace_seconds", undefined],
  ["/providers/sandbox-openai/pause?until=2027-01-01T00:00:00Z", "until", undefined],
])(
  "T71: POST %s does nothing and says that %s belongs in the body, because it would have no effect",
  async (path, param, body) => {
    const made = { workspace_id: gateway.workspaceId, name: param };
    const { json: key } = await gateway.admin("POST", "/keys", made);
    const { status, json } = await gateway.admin("POST", path.replace("<key>", key.id), body);
    expect({ status, ...json.error }).toMatchObject({
      status: 400,
      param,
      message: `\`${param}\` belongs in the body, not in the query.`,
    });
    const { json: after } = await gateway.admin("GET", `/keys/${key.id}`);
    expect(after.key_last4).toBe(key.key_last4);
  },
);

it("the ledger finds a credit by the Idempotency-Key that its sender knows, and by its reference", async () => {
  const path = `/workspaces/${gateway.workspaceId}`;
  const headers = { "idempotency-key": "invoice-1" };
  const { json: entry } = await gateway.admin(
    "POST",
    `${path}/credits`,
    { amount: "5.00" },
    headers,
  );
  expect(entry.reference).toBe("credit:invoice-1");
  for (const reference of ["invoice-1", "credit:invoice-1"]) {
    const { json } = await gateway.admin("GET", `${path}/ledger?reference=${reference}`);
    expect(json.data).toEqual([entry]);
  }
  const { json: none } = await gateway.admin("GET", `${path}/ledger?reference=invoice-2`);
  expect(none.data).toEqual([]);
});
