/**
 * A stranger's guesses close an account for strangers only. Its owner's browsers, signed-in users and invited users still get in.
 * docs/management.md.
 */
import { randomUUID } from "node:crypto";
import { afterAll, beforeAll, beforeEach, expect, it, onTestFinished } from "vitest";
import { rememberDerivations } from "../support/derivations.ts";
import { manualClock } from "../support/manual-clock.ts";
import { inviting } from "./inviting.ts";
import { cookieOf, startWorld, password, type World } from "./people.ts";
import { call, type Answer } from "./support.ts";

/** Passwords of strangers who only occupy sign-in slots, until the test ends their flood. */
const floodGuess = "a guess of many, ";
let floodEnd = Promise.withResolvers<void>();
rememberDerivations((secret) => (secret.startsWith(floodGuess) ? floodEnd.promise : undefined));

const windowMs = 5 * 60_000;
const clock = manualClock(Date.now());
let world: World;
beforeAll(async () => {
  world = await startWorld({ clock });
});
afterAll(() => world.gateway.close());
beforeEach(() => clock.advance(windowMs + 1));

const guests = inviting(() => world, clock);

const signIn = (email: string, secret: string, cookie = "") =>
  guests.post("/auth/sign-in/email", { email, password: secret }, cookie);
const statusOf = async (answer: Promise<Answer>) => (await answer).status;
const times = async (count: number, send: () => Promise<Answer>): Promise<number[]> => {
  const statuses: number[] = [];
  for (let at = 0; at < count; at += 1) statuses.push(await statusOf(send()));
  return statuses;
};
/** Only the cookie that marks the browser as known. */
const browserOf = (answer: Answer): string =>
  cookieOf(answer)
    .split("; ")
    .filter((one) => one.startsWith("tollgate.browser="))
    .join("; ");
const closeBy = (email: string) => times(11, () => signIn(email, "a guess"));

it("a stranger's guesses lock an account for strangers, and its owner's known browser still signs in", async () => {
  const { email } = world.ann;
  const known = browserOf(await signIn(email, password));
  expect(await closeBy(email)).toEqual([...Array.from({ length: 10 }, () => 401), 429]);
  expect(await statusOf(signIn(email, password))).toBe(429);
  expect(await times(12, () => signIn(email, password, known))).toEqual(
    Array.from({ length: 12 }, () => 200),
  );
});

it("a known browser has ten guesses of its own, and is then locked too", async () => {
  const { email } = world.ann;
  const known = browserOf(await signIn(email, password));
  await closeBy(email);
  const guesses = await times(12, () => signIn(email, "a guess", known));
  expect(guesses).toEqual([...Array.from({ length: 10 }, () => 401), 429, 429]);
  expect(await statusOf(signIn(email, password, known))).toBe(429);
  clock.advance(windowMs + 1);
  expect(await statusOf(signIn(email, password))).toBe(200);
});

it("a browser known for one user gets no extra guesses at another user, with the same address or another one", async () => {
  const email = guests.freshEmail();
  const [first, second] = [await guests.invited(email), await guests.invited(email, {}, "bob")];
  const accept = (token: string, secret: string) => guests.accept({ token, password: secret });
  await accept(first.token, "the victim's password");
  const known = browserOf(await accept(second.token, "the stranger's own"));
  await closeBy(email);
  expect(await statusOf(signIn(email, "the stranger's own", known))).toBe(200);
  expect(await statusOf(signIn(email, "the victim's password", known))).toBe(401);
  await closeBy(world.ann.email);
  expect(await statusOf(signIn(world.ann.email, password, known))).toBe(429);
});

it("a browser cookie from before a password change, altered or expired gives no privilege", async () => {
  const email = guests.freshEmail();
  const { token } = await guests.invited(email);
  const joined = await guests.accept({ token, password: "the first password" });
  const old = browserOf(joined);
  const change = { currentPassword: "the first password", newPassword: "the second password" };
  const renewed = browserOf(await guests.post("/auth/change-password", change, cookieOf(joined)));
  const open = () => signIn(email, "the second password", renewed);
  await closeBy(email);
  expect(await statusOf(open())).toBe(200);
  const [id = "", user = "", until = "", signature = ""] = renewed.split("=")[1]!.split(".");
  const later = `${Number(until) + 1}`;
  const altered = [
    [`${id}1`, user, until, signature],
    [id, world.ann.userId, until, signature],
    [id, user, later, signature],
    [id, user, until, ""],
    [id, user, until, `${signature}A`],
  ].map((parts) => `tollgate.browser=${parts.join(".")}`);
  for (const cookie of [old, ...altered]) {
    expect(await statusOf(signIn(email, "the second password", cookie))).toBe(429);
  }
  clock.advance(91 * 24 * 3_600_000);
  await closeBy(email);
  expect(await statusOf(open())).toBe(429);
});

/** Fills all sign-in slots with guesses until `end` is called; resolves when the first guess was refused. */
async function flood(): Promise<{ end: () => Promise<void> }> {
  floodEnd = Promise.withResolvers();
  const { resolve } = floodEnd;
  onTestFinished(() => resolve());
  const run = randomUUID();
  const guess = async (index: number) => {
    const status = await statusOf(
      signIn(`nobody${index}@example.com`, `${floodGuess}${index} ${run}`),
    );
    if (status !== 503) throw new Error(`it had its turn: ${status}`);
  };
  const guesses = Array.from({ length: 60 }, (_, index) => guess(index));
  const over = Promise.allSettled(guesses);
  await Promise.any(guesses);
  return {
    async end() {
      resolve();
      await over;
    },
  };
}

it("a flood of sign-ins by strangers uses up only their own slots; a known browser still signs in", async () => {
  const { email } = world.ann;
  const known = browserOf(await signIn(email, password));
  const { end } = await flood();
  expect(await times(8, () => signIn(email, password))).toEqual(Array<number>(8).fill(503));
  expect(await statusOf(signIn(email, password, known))).toBe(200);
  await end();
  expect(await statusOf(signIn(email, password))).toBe(200);
});

it("a sign-in refused for lack of a slot does not count as a wrong password", async () => {
  const { email } = world.ann;
  const { end } = await flood();
  expect(await times(12, () => signIn(email, "a guess"))).toEqual(Array<number>(12).fill(503));
  await end();
  expect(await closeBy(email)).toEqual([...Array.from({ length: 10 }, () => 401), 429]);
});

it("the browser cookie is sent to /auth only, opens nothing, and is not set for a session that is not remembered", async () => {
  const { email } = world.ann;
  const signedIn = await signIn(email, password);
  const set = signedIn.headers.getSetCookie().find((one) => one.startsWith("tollgate.browser="));
  expect(set).toMatch(/; Max-Age=7776000; Path=\/auth; HttpOnly; SameSite=Strict$/);
  const headers = { cookie: browserOf(signedIn) };
  expect(await statusOf(call(world.gateway.url, "GET", "/keys", { headers }))).toBe(401);
  const brief = { email, password, rememberMe: false };
  expect(browserOf(await guests.post("/auth/sign-in/email", brief))).toBe("");
  const invited = await guests.invited(guests.freshEmail());
  const oneTime = await signIn(invited.answer.json.email as string, invited.oneTime);
  expect([oneTime.status, browserOf(oneTime)]).toEqual([200, ""]);
});

it("guesses by strangers stop neither a password change nor the acceptance of an invitation", async () => {
  const email = guests.freshEmail();
  const { token } = await guests.invited(email);
  await closeBy(email);
  const joined = await guests.accept({ token, password: "the first password" });
  expect(joined.status).toBe(200);
  const change = { currentPassword: "the first password", newPassword: "the second password" };
  expect(await statusOf(guests.post("/auth/change-password", change, cookieOf(joined)))).toBe(200);
});

it("a browser that came over HTTPS gets Secure cookies, even behind a proxy that ends TLS", async () => {
  const { email } = world.ann;
  const { host } = new URL(world.gateway.url);
  const sent = async (path: string, body: object, headers: Record<string, string>) => {
    const answer = await call(world.gateway.url, "POST", path, { body, headers });
    expect(answer.status).toBe(200);
    return { cookies: answer.headers.getSetCookie(), cookie: cookieOf(answer) };
  };
  for (const scheme of ["https", "http"]) {
    const origin = `${scheme}://${host}`;
    const { cookies, cookie } = await sent("/auth/sign-in/email", { email, password }, { origin });
    const out = await sent("/auth/sign-out", {}, { origin, cookie });
    expect(cookies).toHaveLength(2);
    for (const one of [...cookies, ...out.cookies])
      expect(one.endsWith("; Secure")).toBe(scheme === "https");
  }
});
