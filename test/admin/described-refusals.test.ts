/** Refusals of the management API and of `/auth`: the document describes each with its status and code. */
import { afterAll, beforeAll, expect, it } from "vitest";
import { operations, type Target } from "../http/openapi-support.ts";
import { createUser } from "../../src/tenancy/index.ts";
import { person, type Person } from "./people.ts";
import { call, startAdminGateway, type AdminGateway } from "./support.ts";

let gateway: AdminGateway;
let stranger: Person;
beforeAll(async () => {
  gateway = await startAdminGateway();
  const email = "removed@example.com";
  const user = { email, name: email, role: "user", hash: undefined } as const;
  const { id: userId } = await createUser(await gateway.internals(), user);
  stranger = await person(gateway, { userId, email });
});
afterAll(() => gateway.close());

const operationOf = (method: string, path: string): Target["operation"] =>
  operations.find((one) => one.method === method && one.path === path)!.operation;

const long = "x".repeat(2_000);
const capped = { name: "mine", spend_caps: { daily: "1" } };

it.each([
  ["/admin/v1/keys", `?cursor=${long}`, {}, "string_above_max_length"],
  ["/admin/v1/requests", `?model=${long}`, {}, "string_above_max_length"],
  ["/admin/v1/search", "", {}, "missing_required_parameter"],
  ["/admin/v1/usage", "", { accept: "text/csv" }, "missing_required_parameter"],
])("the refusal of a query is described: GET %s", async (path, query, headers, code) => {
  const answer = await gateway.admin("GET", path.slice(9) + query, undefined, headers);
  expect(answer.json.error).toMatchObject({ code });
  expect(operationOf("GET", path).responses["400"]!.description).toContain(`\`${code}\``);
});

it.each([
  ["/admin/v1/workspaces", capped, "unsupported_parameter"],
  ["/admin/v1/routing/preview", { model: "sandbox/chat:@none" }, "invalid_model_suffix"],
])("the refusal of a body is described: POST %s", async (path, body, code) => {
  const workspace = path.endsWith("preview") && { workspace_id: gateway.workspaceId };
  const answer = await gateway.admin("POST", path.slice(9), { ...body, ...workspace });
  expect(answer.json.error).toMatchObject({ code });
  expect(operationOf("POST", path).responses["400"]!.description).toContain(`\`${code}\``);
});

it("caps of a personal workspace are refused as described, also in a change", async () => {
  const { json } = await gateway.admin("POST", "/workspaces", { name: "mine" });
  const { spend_caps } = capped;
  const refused = await gateway.admin("PATCH", `/workspaces/${json.id}`, { spend_caps });
  expect(refused.json.error.code).toBe("unsupported_parameter");
  const { responses } = operationOf("PATCH", "/admin/v1/workspaces/{id}");
  expect(responses["400"]!.description).toContain("`unsupported_parameter`");
});

it.each(["/models", "/providers", "/providers/{id}"])(
  "the refusal of a user without a workspace is described: GET %s",
  async (path) => {
    const answer = await stranger.call("GET", path.replace("{id}", "sandbox-a"));
    expect(answer).toMatchObject({
      status: 403,
      json: { error: { code: "insufficient_permissions" } },
    });
    const { responses } = operationOf("GET", `/admin/v1${path}`);
    expect(responses["403"]!.description).toContain("`insufficient_permissions`");
  },
);

it.each([
  [{ email: long, password: "x" }, "string_above_max_length"],
  [{ email: "", password: "x" }, "invalid_value"],
])("the refusal of a sign-in is described: %j", async (body, code) => {
  const path = "/auth/sign-in/email";
  const answer = await call(gateway.url, "POST", path, { body });
  expect(answer.json.error).toMatchObject({ code });
  expect(operationOf("POST", path).responses["400"]!.description).toContain(`\`${code}\``);
});

it("every operation that reads the database below /auth describes the answer without one", () => {
  const free = ["/auth/options"];
  const read = operations.filter(({ path }) => path.startsWith("/auth/") && !free.includes(path));
  const silent = read.filter(({ operation }) => {
    const said = operation.responses["503"]?.description ?? "";
    return !said.includes("`database_unavailable`") || !("500" in operation.responses);
  });
  expect(silent.map(({ method, path }) => `${method} ${path}`)).toEqual([]);
});

it("a body that is refused when absent is described as required, and the others are not", async () => {
  const bodies = operations.filter(
    ({ path, operation }) => path.startsWith("/admin/") && operation.requestBody !== undefined,
  );
  const answers = await Promise.all(
    bodies.map(async ({ method, path, operation }) => {
      const { json } = await gateway.admin(method, path.slice(9).replaceAll(/\{\w+\}/g, "none"));
      const isRefused = json.error?.code === "invalid_json";
      return { at: `${method} ${path}`, isRefused, required: operation.requestBody!.required };
    }),
  );
  expect(answers.filter(({ isRefused, required }) => isRefused !== required)).toEqual([]);
});
