/**
 * Log lines of the session library: bounded in number for requests of strangers, and with the reason for our own faults and the
 * identity provider's. docs/operate.md.
 */
import { afterEach, beforeEach, expect, it, vi } from "vitest";
import { signInLog } from "../../src/admin/sign-in-log.ts";
import { signInConfig, signInThere, startIdentityProvider } from "./identity-provider.ts";
import { startAdminGateway } from "./support.ts";

beforeEach(() => void vi.useFakeTimers({ toFake: ["performance"] }));
afterEach(() => void vi.useRealTimers());

type Line = readonly [level: string, fields: object, text: string];

const logged = () => {
  const lines: Line[] = [];
  const keep = (level: string) => (fields: object, text: string) =>
    void lines.push([level, fields, text]);
  const log = { debug() {}, info: keep("info"), warn: keep("warn"), error: keep("error") };
  return { lines, log, write: signInLog(log) };
};

it("a thousand equal messages are one line a minute, with their number; a different message is logged at once", () => {
  const { lines, write } = logged();
  for (let count = 0; count < 1_000; count += 1) write("error", "State not found", {});
  write("warn", "Code not found");
  expect(lines).toEqual([
    ["info", { count: 1 }, "sign-in: State not found"],
    ["warn", { count: 1 }, "sign-in: Code not found"],
  ]);
  vi.advanceTimersByTime(60_000);
  write("error", "State not found", {});
  expect(lines.at(-1)).toEqual(["info", { count: 1_000 }, "sign-in: State not found"]);
});

it("messages that vary with a stranger's text are bounded too, and never suppress an error of our own", () => {
  const { lines, write } = logged();
  for (let count = 0; count < 1_000; count += 1) write("error", `Invalid callbackURL: ${count}`);
  expect(lines).toHaveLength(21);
  write("error", "Unable to get user info");
  expect(lines.at(-1)).toEqual(["error", { count: 1 }, "sign-in: Unable to get user info"]);
});

it("the line has the reason: an identity provider's refusal in its own words, or an error's message, both shortened", () => {
  const { lines, write } = logged();
  const refusal = { status: 401, error: "invalid_client", error_description: "basic only" };
  write("error", "", refusal);
  write("error", "Failed to parse state", new Error("x".repeat(1_000)));
  expect(lines.map(([level, fields]) => [level, fields])).toEqual([
    ["error", { count: 1, reason: "401: invalid_client: basic only" }],
    ["error", { count: 1, reason: "x".repeat(300) }],
  ]);
});

it("nonsense at the callback or an unknown account is not logged as an error; a token that the provider did not sign is", async () => {
  const client = { id: "tollgate", secret: "the client's secret" };
  const provider = await startIdentityProvider(client);
  const { lines, log } = logged();
  const gateway = await startAdminGateway({ config: signInConfig(provider.issuer, client), log });
  const there = { provider, base: gateway.url };
  const signIns = () =>
    lines
      .filter(([, , text]) => text.startsWith("sign-in: "))
      .map(([level, , text]) => `${level} ${text}`);
  const callback = async (query: string, cookie: string): Promise<void> => {
    const url = `${gateway.url}/auth/callback/oidc?${query}`;
    const answer = await fetch(url, { redirect: "manual", headers: { cookie } });
    // The console, which says that the sign-in failed.
    expect(answer.headers.get("location")).toMatch(/^\/\?error=\w+/);
  };
  await callback("", "");
  await callback("code=x&state=y", "tollgate.oauth_state=nonsense");
  // With the state of a sign-in that was begun.
  const begun = await fetch(`${gateway.url}/auth/sign-in/social`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ provider: "oidc" }),
  });
  const { url } = (await begun.json()) as { url: string };
  const state = new URL(url).searchParams.get("state")!;
  const cookie = begun.headers
    .getSetCookie()
    .map((one) => one.split(";")[0])
    .join("; ");
  await callback(`code=made-up&state=${state}`, cookie);
  const eve = { sub: "eve", email: "eve@example.com", email_verified: true, name: "Eve" };
  await signInThere(eve, there);
  expect(signIns()).toEqual([
    "info sign-in: State not found",
    "info sign-in: Failed to parse state",
    "info sign-in: the identity provider refused the code",
    "info sign-in: signup_disabled",
  ]);
  await signInThere(eve, { ...there, forged: true });
  expect(signIns()).toContain("error sign-in: Unable to get user info");
  await gateway.close();
  await provider.close();
});
