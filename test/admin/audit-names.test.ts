/** Entries of the audit log show the present names of their objects. */
import { afterAll, beforeAll, expect, it } from "vitest";
import { startAdminGateway, type AdminGateway } from "./support.ts";

let gateway: AdminGateway;
beforeAll(async () => {
  gateway = await startAdminGateway();
});
afterAll(() => gateway.close());

async function made(path: string, body: object): Promise<string> {
  const { status, json } = await gateway.admin("POST", path, body);
  expect(status).toBe(201);
  return (json.id ?? json.user_id) as string;
}

const namesOf = async (id: string): Promise<unknown[]> => {
  const { json } = await gateway.admin("GET", `/audit?subject_id=${id}`);
  return json.data.map((entry: { action: string; subject: { name: string | null } }) => [
    entry.action,
    entry.subject.name,
  ]);
};

it("the audit log shows objects by their present names, also in older entries", async () => {
  const organization = await made("/organizations", { name: "Acme" });
  const workspace = await made("/workspaces", { name: "Search", organization_id: organization });
  const key = await made("/keys", { name: "crawler", workspace_id: workspace });
  await gateway.admin("PATCH", `/keys/${key}`, { name: "reader" });
  await gateway.admin("PATCH", `/organizations/${organization}`, { name: "Acme & Sons" });
  expect(await namesOf(key)).toEqual([
    ["key.change", "reader"],
    ["key.create", "reader"],
  ]);
  expect(await namesOf(workspace)).toEqual([["workspace.create", "Search"]]);
  expect((await namesOf(organization))[0]).toEqual(["organization.change", "Acme & Sons"]);
});

it("the audit log shows a member by name, and null for an entry without an object", async () => {
  const workspace = await made("/workspaces", { name: "People" });
  const person = { email: "ann@example.com", name: "Ann", role: "member" };
  const user = await made(`/workspaces/${workspace}/members`, person);
  expect((await namesOf(user)).map((entry) => (entry as string[])[1])).toEqual(["Ann"]);
  await gateway.admin("POST", "/verify");
  expect(await namesOf("all")).toEqual([["ledger.verify", null]]);
});
