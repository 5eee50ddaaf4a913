/** Hostile text in every name, note, prompt and error that the API accepts: every page shows it as text, without effect. */
import { afterAll, beforeAll, expect, it } from "vitest";
import { password } from "../admin/people.ts";
import { call, type Answer } from "../admin/support.ts";
import { shortOrLong } from "../support/long.ts";
import { exampleOf, pagePaths } from "./addresses.ts";
import { arrive } from "./arrive.ts";
import { broken, hostile } from "./hostile-strings.ts";
import { furnish, startConsoleWorld, type ConsoleWorld } from "./world.ts";

let world: ConsoleWorld;
beforeAll(async () => {
  world = await startConsoleWorld();
  await furnish(world);
});
afterAll(() => world.close());

type Write = (text: string) => Promise<{ readonly status: number }>;

/** In the short form some of each kind, and the pages that list the written texts. */
const some = hostile.filter(
  (text, index) => index < 3 || index % 16 === 0 || index === 31 || text.includes("fdp"),
);
const written = shortOrLong([...some, ...broken.slice(0, 2)], [...hostile, ...broken]);
const valid = shortOrLong(some.length, hostile.length);
const listing = ["/keys", "/requests", "/settings/members", "/settings/audit", "/money/ledger"];
let keyId = "";

/** The part of a text that a header can carry. */
const inHeader = (text: string): string =>
  text.replaceAll(/[^\t\x20-\x7e\xa0-\xff]/g, "?").slice(0, 4_000);

/** Every place where a user writes a text that pages show. */
function writers(key: string): Readonly<Record<string, Write>> {
  const { gateway, ann, home } = world;
  const admin = gateway.admin;
  const post = (path: string, body: unknown, program = hostile[1]!): Promise<Response> =>
    fetch(gateway.url + path, {
      method: "POST",
      headers: {
        "content-type": "application/json",
        authorization: `Bearer ${key}`,
        "user-agent": inHeader(program),
      },
      body: JSON.stringify(body),
    });
  let count = 0;
  const counted = () => (count += 1);
  const messages = (content: string) => [{ role: "user", content }];
  return {
    "name of a key": (name) => ann.call("POST", "/keys", { workspace_id: home.id, name }),
    "name of an organization": (name) => admin("POST", "/organizations", { name }),
    "name of a workspace": (name) => admin("POST", "/workspaces", { name }),
    "name of a member": (name) =>
      admin("POST", `/workspaces/${home.id}/members`, {
        email: `hostile${counted()}@example.com`,
        role: "member",
        name,
        password: "correct horse battery",
      }),
    "note of a credit": (note) =>
      call(gateway.url, "POST", `/workspaces/${home.id}/credits`, {
        token: world.root.token,
        body: { amount: "0.01", note },
        headers: { "idempotency-key": `hostile-${counted()}` },
      }),
    "name of a token": (name) =>
      call(gateway.url, "POST", "/tokens", { body: { name }, headers: { cookie: ann.cookie } }),
    // The log has the model, and so does the message of the error about an unknown model.
    "model of a call": (model) =>
      post("/v1/chat/completions", { model, messages: messages("Hello") }),
    "prompt, end user and tag of a call": (text) =>
      post("/v1/chat/completions", {
        model: "sandbox/chat",
        messages: messages(text),
        user: text,
        metadata: { tag: text },
      }),
    "name of a tag": (name) =>
      post("/v1/chat/completions", {
        model: "sandbox/chat",
        messages: messages("Hello"),
        metadata: { [name]: "tag" },
      }),
    // Shown with the key's clients, and with a user's sessions.
    "program of a call": (text) =>
      post("/v1/chat/completions", { model: "sandbox/chat", messages: messages("Hello") }, text),
    "program of a session": (text) =>
      fetch(`${gateway.url}/auth/sign-in/email`, {
        method: "POST",
        headers: { "content-type": "application/json", "user-agent": inHeader(text) },
        body: JSON.stringify({ email: ann.email, password }),
      }),
    "error of a vendor": (error) =>
      post("/v1/chat/completions", {
        model: "sandbox/chat",
        messages: messages(`Hello\n#sandbox ${JSON.stringify({ status: 400, error })}`),
      }),
    "prompt of a task": (prompt) =>
      post("/v1/tasks", { model: "sandbox/video-model-v1", prompt, duration: 2 }),
  };
}

it("hostile text is accepted or refused as the caller's mistake, and never causes a server error", async () => {
  const { id, key } = await world.keyOf(world.ann, world.home.id);
  keyId = id;
  const taken: Record<string, number> = {};
  const faults: unknown[] = [];
  for (const [place, write] of Object.entries(writers(key))) {
    for (const text of written) {
      const answer = await write(text);
      if (answer instanceof Response) await answer.text();
      if (answer.status < 300) taken[place] = (taken[place] ?? 0) + 1;
      if (answer.status >= 500) {
        const said = (answer as Answer).text;
        faults.push({ place, text: text.slice(0, 40), status: answer.status, said });
      }
    }
  }
  expect(faults).toEqual([]);
  // None of them is refused for its look.
  expect(taken["name of a key"]).toBeGreaterThanOrEqual(valid);
  expect(taken["program of a call"]).toBeGreaterThanOrEqual(valid);
  expect(taken["program of a session"]).toBeGreaterThanOrEqual(valid);
  expect(taken["note of a credit"]).toBeGreaterThanOrEqual(valid);
  expect(taken["prompt, end user and tag of a call"]).toBeGreaterThan(valid / 2);
});

it("each page shows hostile text as text: nothing runs, nothing is loaded, and the browser has no complaints", async () => {
  const { page, complaints, settled, close } = await world.open("root");
  const wrong: object[] = [];
  for (const path of shortOrLong(listing, pagePaths())) {
    const address = path.includes("$") ? await exampleOf(page, path, settled) : path;
    await arrive({ page, settled }, address);
    // Elements that can only come from the texts.
    const brought = await page
      .locator(
        "iframe, object, embed, base, meta[http-equiv], marquee, script:not([src]), [onerror], [onload]",
      )
      .count();
    const links = await page
      .locator("a[href]")
      .evaluateAll((all) => all.map((one) => (one as unknown as { href: string }).href));
    const foreign = links.filter((href) => !href.startsWith(world.gateway.url));
    if (brought > 0 || foreign.length > 0 || complaints.length > 0)
      wrong.push({ path, brought, foreign, complaints: complaints.splice(0) });
  }
  expect(wrong).toEqual([]);
  await close();
});

it("the list of keys and a failed call show every character of hostile text", async () => {
  const visit = await world.open("ann");
  const { page, complaints, close } = visit;
  for (const text of [hostile[0]!, hostile[2]!, hostile[31]!, "\u202Efdp.exe"]) {
    await arrive(visit, `/keys?q=${encodeURIComponent(text)}`);
    await page.getByRole("cell", { name: text, exact: true }).first().waitFor();
  }
  const model = hostile[1]!;
  await arrive(visit, `/requests?model=${encodeURIComponent(model)}`);
  const row = page.getByRole("row").filter({ hasText: model }).first();
  await row.getByRole("link").first().click();
  await page.getByRole("note").getByText(model).waitFor();
  await arrive(visit, "/account");
  await page.getByText(hostile[0]!, { exact: true }).first().waitFor();
  await arrive(visit, `/keys/${keyId}`);
  await page.getByText(hostile[1]!, { exact: true }).waitFor();
  expect(complaints).toEqual([]);
  await close();
});
