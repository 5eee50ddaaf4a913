/** Signing in with the operator's identity provider, in a real browser. */
import { afterAll, beforeAll, expect, it } from "vitest";
import { startIdentityProvider, type Claims } from "../admin/identity-provider.ts";
import { startAdminGateway, type AdminGateway } from "../admin/support.ts";
import { isLong } from "../support/long.ts";
import { visit } from "./browser.ts";

const client = { id: "tollgate", secret: "the client's secret" };
let provider: Awaited<ReturnType<typeof startIdentityProvider>>;
let gateway: AdminGateway;
beforeAll(async () => {
  provider = await startIdentityProvider(client);
  gateway = await startAdminGateway({
    config: `
providers: []
models: []
console:
  oidc:
    issuer: ${provider.issuer}
    client_id: ${client.id}
    client_secret: "${client.secret}"
`,
  });
  const body = { email: "ann@example.com", role: "member" };
  await gateway.admin("POST", `/workspaces/${gateway.workspaceId}/members`, body);
});
afterAll(async () => {
  await gateway.close();
  await provider.close();
});

const ann: Claims = {
  sub: "idp-1",
  email: "ann@example.com",
  email_verified: true,
  name: "Ann",
};

/** Presses the provider's button and follows the redirects. */
async function signIn(who: Claims, options: { forged?: boolean } = {}) {
  provider.signsIn(who, options);
  const visited = await visit({ url: gateway.url });
  const { page } = visited;
  await page.goto("/");
  await page.getByRole("button", { name: /^Continue with / }).click();
  // The provider's own page is the only other host that a browser visits.
  const ours = () => visited.complaints.filter((one) => !one.includes(provider.issuer));
  return { ...visited, ours };
}

it("a member returns from the identity provider signed in, on the first page", async () => {
  const { page, ours, close } = await signIn(ann);
  await page.getByRole("heading", { name: "Make your first call" }).waitFor();
  await page.getByText("ann@example.com").waitFor();
  expect(ours()).toEqual([]);
  await close();
});

it("a user who is not a member, or a forged answer, gets our own error on the sign-in page", async () => {
  const stranger = { ...ann, sub: "idp-2", email: "stranger@example.com" };
  for (const attempt of [await signIn(stranger), await signIn(ann, { forged: true })]) {
    const { page, ours, close } = attempt;
    await page.getByRole("alert").getByText("The sign-in did not work.").waitFor();
    expect(new URL(page.url()).pathname).toBe("/sign-in");
    expect(ours()).toEqual([]);
    await close();
  }
});

it.skipIf(!isLong)("text in the address of a failed return is not shown on the page", async () => {
  const { page, complaints, close } = await visit({ url: gateway.url });
  await page.goto(`/?error=${encodeURIComponent("<img src=x onerror=alert(1)>Call +1 555 now")}`);
  await page.getByRole("alert").getByText("The sign-in did not work.").waitFor();
  expect(await page.locator("body").innerText()).not.toContain("555");
  expect(complaints).toEqual([]);
  await close();
});
