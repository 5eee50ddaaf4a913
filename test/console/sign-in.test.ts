/** Signing in to the console with a real browser. */
import { afterAll, beforeAll, expect, it } from "vitest";
import { startTestGateway, type GatewayUnderTest } from "../support/gateway.ts";
import { shortOrLong } from "../support/long.ts";
import { findingsOnTheWay } from "./axe.ts";
import { visit } from "./browser.ts";

let gateway: GatewayUnderTest;
beforeAll(async () => {
  gateway = await startTestGateway();
});
afterAll(async () => {
  await gateway.close();
});

it("a new administrator changes the password and sees the first page, the log, and after signing out the sign-in page", async () => {
  const { adminEmail, adminPassword } = gateway.first!;
  const { page, complaints, close } = await visit({ url: gateway.url });
  await page.goto("/");
  await page.getByLabel("E-mail").fill(adminEmail);
  await page.getByLabel("Password", { exact: true }).fill(adminPassword);
  await page.getByRole("button", { name: "Sign in" }).click();
  await page.getByRole("heading", { name: "Make your first call" }).waitFor();
  await page
    .getByText("You still sign in with the password that the first start printed.")
    .waitFor();
  const answer = await gateway.post("/v1/chat/completions", {
    model: "sandbox/chat",
    messages: [{ role: "user", content: "Hello" }],
  });
  const id = answer.headers.get("x-request-id")!;
  await page.getByRole("link", { name: "Requests" }).click();
  await page.getByRole("cell", { name: "sandbox/chat" }).waitFor();
  expect(await findingsOnTheWay(page)).toEqual([]);
  await page.getByRole("row").nth(1).click();
  await page.getByText(id).waitFor();
  expect(new URL(page.url()).searchParams.get("open")).toBe(id);
  await page.getByRole("link", { name: "Open page" }).click();
  await page.waitForURL(`**/requests/${id}`);
  await page.getByRole("button", { name: "Sign out" }).click();
  await page.getByRole("heading", { name: "Sign in to Tollgate" }).waitFor();
  expect(complaints).toEqual([]);
  await close();
});

it("a new visitor can use the first page within a second and a half", async () => {
  const { page, close } = await visit({ url: gateway.url });
  const begunMs = performance.now();
  await page.goto("/");
  await page.getByLabel("E-mail").fill("somebody@example.com");
  const tookMs = performance.now() - begunMs;
  console.log(`console: the first page could be used after ${Math.round(tookMs)} ms`);
  // A busy machine takes longer.
  expect(tookMs).toBeLessThan(shortOrLong(15_000, 1_500));
  await close();
});

/** Addresses that lead to another host; in the short form one for each way in which browsers normalize addresses. */
const elsewhere = [
  "/\t/evil.example",
  "/\\evil.example",
  "/.//evil.example",
  "/\n/evil.example",
  "//evil.example",
  "https://evil.example/",
];

it("the address after a sign-in is always a page of the console, however it is written", async () => {
  const { adminEmail, adminPassword } = gateway.first!;
  const { page, complaints, close } = await visit({ url: gateway.url });
  const askedAt = async (to: string) => {
    await page.goto(`/sign-in?to=${encodeURIComponent(to)}`);
    await page.getByLabel("E-mail").fill(adminEmail);
    return new URL(page.url()).searchParams.get("to");
  };
  // Browsers remove tabs and line breaks from an address, turn backslashes into slashes, and resolve dots. Addresses of other
  // hosts are dropped.
  for (const to of shortOrLong(elsewhere.slice(0, 3), elsewhere))
    expect({ to, asked: await askedAt(to) }).toEqual({ to, asked: null });
  // The form itself, which a signed-in user would see again.
  expect(await askedAt("/sign-in/?to=/keys")).toBe(null);
  expect(await askedAt("/requests?status=failed")).toBe("/requests?status=failed");
  await page.getByLabel("Password", { exact: true }).fill(adminPassword);
  await page.getByRole("button", { name: "Sign in" }).click();
  await page.waitForURL(`${gateway.url}/requests?status=failed`);
  await page.getByRole("navigation").first().waitFor();
  expect(complaints).toEqual([]);
  await close();
});
