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

it("an empty parameter of any list is refused, and never answered with an empty list", async () => {
  const asked = filtersOf();
  expect(asked.length).toBeGreaterThan(90);
  const answered: string[] = [];
  for (const [path, name] of asked) {
    const url = `${path.replace("{id}", gateway.workspaceId)}?${name}=`;
    const { status, json } = await gateway.admin("GET", url);
    if (status !== 400 || json.error.param !== name) answered.push(`${url} ${status}`);
  }
  expect(answered).toEqual([]);
});
