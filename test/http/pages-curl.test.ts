/** Runs the curl commands of the pages in a shell. Only the address, keys and ids are replaced, as a reader does. */
import { spawn } from "node:child_process";
import { globSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { adminToken, startAdminGateway, type AdminGateway } from "../admin/support.ts";

const root = new URL("../../", import.meta.url).pathname;
/** Without docs/tasks.md: test/tasks/docs.test.ts runs its commands, and creates the tasks first. */
const pages = globSync(["README.md", "docs/*.md"], { cwd: root }).filter(
  (page) => page !== "docs/tasks.md",
);

/** True for commands that need jq and given-up callbacks. test/webhooks tests redelivery. */
const isAboutCallbacks = (text: string): boolean => text.includes("/redeliver");

const blocks = pages.toSorted().flatMap((page) => {
  const whole = readFileSync(root + page, "utf8");
  return [...whole.matchAll(/^( *)```sh\n([^]*?)^ *```$/gm)].flatMap(({ 2: text = "", index }) =>
    /^curl|\bcurl -/m.test(text) && !isAboutCallbacks(text)
      ? [{ at: `${page}:${whole.slice(0, index).split("\n").length + 1}`, text }]
      : [],
  );
});

const directory = mkdtempSync(join(tmpdir(), "tollgate-pages-"));
let gateway: AdminGateway;
/** The values that a reader fills in, by placeholder. */
let placeholders: Readonly<Record<string, () => Promise<string>>>;

beforeAll(async () => {
  gateway = await startAdminGateway({ environment: { TOLLGATE_SANDBOX: "on" } });
  const { workspaceId } = gateway;
  const made = await gateway.admin("POST", "/keys", { workspace_id: workspaceId, name: "reader" });
  const members = `/workspaces/${workspaceId}/members`;
  const tokenOf = (url: string): string => url.split("#").at(-1)!;
  let guests = 0;
  const invite = async () =>
    (await gateway.admin("POST", members, { email: `${(guests += 1)}@example.com`, role: "admin" }))
      .json;
  placeholders = {
    "<the key>": () => made.json.key,
    "gw_live_...": () => made.json.key,
    "key_...": () => made.json.id,
    "ws_...": async () => workspaceId,
    "$(cat .tollgate/admin-token)": async () => adminToken,
    "gw_inv_...": async () => tokenOf((await invite()).invitation.url),
    async "gw_pwr_..."() {
      const { user_id, invitation } = await invite();
      const accept = {
        token: tokenOf(invitation.url),
        password: "a password of mine",
        name: "Eve",
      };
      await fetch(`${gateway.url}/auth/invitations/accept`, {
        method: "POST",
        headers: { "content-type": "application/json" },
        body: JSON.stringify(accept),
      });
      const { json } = await gateway.admin("POST", `${members}/${user_id}/reset_password`, {});
      return tokenOf(json.url);
    },
  };
});
afterAll(async () => {
  await gateway.close();
  rmSync(directory, { recursive: true, force: true });
});

/** The text with the placeholders filled in, and without `npx tollgate` commands (see test/tidy/examples.test.ts). */
async function fillPlaceholders(text: string): Promise<string> {
  let own = text
    .replaceAll("http://127.0.0.1:8080", gateway.url)
    .replaceAll(/^npx tollgate .*$/gm, "");
  for (const [words, value] of Object.entries(placeholders))
    if (own.includes(words)) own = own.replaceAll(words, await value());
  return own;
}

/** Runs a block until one of its commands fails. A status of 400 or more is a failure. */
async function run(text: string) {
  const script = `curl() { command curl --no-progress-meter --fail-with-body "$@"; }\n${await fillPlaceholders(text)}`;
  const child = spawn("sh", ["-ec", script], {
    cwd: directory,
    env: {
      ...process.env,
      TOLLGATE_ADMIN_TOKEN: adminToken,
      KEY: await placeholders["<the key>"]!(),
    },
    stdio: ["ignore", "pipe", "pipe"],
  });
  let output = "";
  child.stdout.on("data", (bytes: Buffer) => (output += bytes.toString()));
  child.stderr.on("data", (bytes: Buffer) => (output += bytes.toString()));
  const code = await new Promise((resolve) => child.once("close", resolve));
  return { code, output, left: /\w_\.\.\.|<the \w+>/.exec(script)?.[0] };
}

describe("the curl commands of the pages", () => {
  it("are more than 11, from more than 6 pages", () => {
    expect(new Set(blocks.map(({ at }) => at.replace(/:.*/, ""))).size).toBeGreaterThan(6);
    expect(blocks.length).toBeGreaterThan(11);
  });

  it.each(blocks)("are answered: $at", async ({ text }) => {
    const { code, output, left } = await run(text);
    expect({ code, left, output }).toEqual({ code: 0, left: undefined, output });
    expect(output).not.toContain('"error":{');
  });
});
