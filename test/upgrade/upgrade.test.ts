/** A rolling upgrade: the previous release goes on running on this one's schema, beside a gateway of this one. */
import { randomBytes } from "node:crypto";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { startSandbox, type Sandbox } from "../../sandbox/index.ts";
import { adminToken, call } from "../admin/support.ts";
import { keyOf } from "../operation/support.ts";
import { must } from "../providers/support.ts";
import { tollgateHere } from "../support/command.ts";
import { isLong } from "../support/long.ts";
import { eventually } from "../support/patience.ts";
import { sharedPostgres, temporaryDirectory } from "../support/postgres.ts";
import { spawnGateway } from "../support/process.ts";
import { startTestGateway } from "../support/gateway.ts";
import { isInHistory, previous, unpack } from "./previous.ts";

const configuration = (vendors: string): string => `
providers:
  - { id: texts, dialect: openai, base_url: "${vendors}/openai/v1", api_key: sandbox, tier: official }
  - { id: videos, dialect: xai, base_url: "${vendors}/xai/v1", api_key: sandbox, tier: official }
models:
  - id: acme/talk
    kind: text
    context_length: 200000
    max_output_tokens: 32000
    offers:
      - { provider: texts, protocol: chat, upstream_model: chat-model, price: { input: "0.5", output: "2" } }
  - id: acme/clip
    kind: video
    family: video-v1
    offers:
      - { provider: videos, upstream_model: video-model-v1, price: { output_second: { 480p: "0.05", 720p: "0.07" }, input_image: "0.01" } }
`;

const commits = [previous.commit, ...(isLong ? previous.earlier : [])];
const present = commits.filter(isInHistory);

it.skipIf(present.length > 0)(
  "skipped: the previous release is not in the history of this copy",
  () => {
    expect(isInHistory(previous.commit)).toBe(false);
  },
);

describe.each(present)("the previous release, %s, on this schema", (commit) => {
  let sandbox: Sandbox;
  let environment: Record<string, string>;
  let program: string;
  let key: string;
  let workspace: string;
  /** The previous release as a process of its own, then this one. */
  const gateways: { readonly url: string }[] = [];
  const ends: (() => Promise<unknown>)[] = [];
  const withDirectory = () => ({ ...environment, TOLLGATE_DATA_DIR: temporaryDirectory() });

  beforeAll(async () => {
    sandbox = await startSandbox({ host: "127.0.0.1", port: 0 });
    const config = join(temporaryDirectory(), "tollgate.yaml");
    writeFileSync(config, configuration(sandbox.url));
    environment = {
      DATABASE_URL: await (await sharedPostgres()).createDatabase(),
      TOLLGATE_CONFIG: config,
      TOLLGATE_MASTER_KEY: randomBytes(32).toString("base64"),
      TOLLGATE_ADMIN_TOKEN: adminToken,
      TOLLGATE_SANDBOX: "off",
      TOLLGATE_LOG_LEVEL: "error",
      TOLLGATE_ALLOW_PRIVATE_ADDRESSES: "on",
    };
    program = unpack(commit);
    const before = await spawnGateway(withDirectory(), { program });
    ends.push(() => before.stop());
    key = keyOf(before);
    const now = await startTestGateway({ environment: withDirectory() });
    ends.push(() => now.close());
    gateways.push(before, now);
    const list = must(await admin(before, "GET", "/workspaces"));
    workspace = list.data[0].id;
  });
  afterAll(async () => {
    await Promise.all(ends.map((end) => end()));
    await sandbox.close();
  });

  const admin = ({ url }: { url: string }, method: string, path: string, body?: unknown) =>
    call(url, method, path, { token: adminToken, body });
  const post = ({ url }: { url: string }, bearer: string, path: string, body: object) =>
    fetch(url + path, {
      method: "POST",
      headers: { "content-type": "application/json", authorization: `Bearer ${bearer}` },
      body: JSON.stringify(body),
    });
  const chat = (at: { url: string }, bearer: string, stream = false) =>
    post(at, bearer, "/v1/chat/completions", {
      model: "acme/talk",
      stream,
      messages: [{ role: "user", content: "Hi" }],
    });
  /** Each gateway with the other one. */
  const pairs = (): [{ url: string }, { url: string }][] => {
    const [before, now] = gateways as [{ url: string }, { url: string }];
    return [
      [before, now],
      [now, before],
    ];
  };

  it("both gateways answer calls, whole and streamed, and each finds the other's calls in the log", async () => {
    for (const [one, other] of pairs()) {
      const streamed = await chat(one, key, true);
      expect(await streamed.text()).toContain("data: [DONE]");
      const answer = await chat(one, key);
      expect(answer.status).toBe(200);
      await answer.text();
      const path = `/requests/${answer.headers.get("x-request-id")}`;
      const row = await eventually(async () => {
        const found = await admin(other, "GET", path);
        return found.status === 200 ? found.json : undefined;
      }, "the other's row");
      expect(row).toMatchObject({ status: "succeeded", model: "acme/talk", provider: "texts" });
    }
  });

  it("a key that one gateway made can be used, revealed, changed, rotated and revoked on the other", async () => {
    for (const [one, other] of pairs()) {
      const made = must(
        await admin(one, "POST", "/keys", { workspace_id: workspace, name: "between" }),
      );
      expect((await chat(other, made.key)).status).toBe(200);
      expect(must(await admin(other, "POST", `/keys/${made.id}/reveal`, {})).key).toBe(made.key);
      must(await admin(other, "PATCH", `/keys/${made.id}`, { spend_caps: { total: "0.00001" } }));
      expect(must(await admin(one, "GET", `/keys/${made.id}`)).spend_caps.total).toMatch(
        /^0\.00001/,
      );
      expect((await chat(one, made.key)).status).toBe(402);
      must(await admin(other, "PATCH", `/keys/${made.id}`, { spend_caps: { total: null } }));
      const rotated = must(await admin(other, "POST", `/keys/${made.id}/rotate`, {}));
      expect((await chat(one, made.key)).status).toBe(401);
      expect((await chat(one, rotated.key)).status).toBe(200);
      must(await admin(one, "POST", `/keys/${made.id}/revoke`, {}));
      expect((await chat(other, rotated.key)).status).toBe(401);
    }
  });

  it("KEY-10: a key that an administrator disabled on this release stays so when the previous release changes it", async () => {
    const [before, now] = gateways as [{ url: string }, { url: string }];
    const made = must(
      await admin(now, "POST", "/keys", { workspace_id: workspace, name: "leaked" }),
    );
    must(await admin(now, "POST", `/keys/${made.id}/disable`, {}));
    must(await admin(before, "PATCH", `/keys/${made.id}`, { name: "leaked once" }));
    expect(must(await admin(now, "GET", `/keys/${made.id}`))).toMatchObject({
      name: "leaked once",
      disabled_by_admin: true,
    });
    // Enabled on the previous release, the key no longer counts as disabled by an administrator.
    must(await admin(before, "POST", `/keys/${made.id}/enable`, {}));
    must(await admin(before, "POST", `/keys/${made.id}/disable`, {}));
    expect(must(await admin(now, "GET", `/keys/${made.id}`)).disabled_by_admin).toBe(false);
  });

  it("a task that one gateway accepted ends and can be read on the other; signing secrets are the same", async () => {
    for (const [one, other] of pairs()) {
      const accepted = await post(one, key, "/v1/tasks", {
        model: "acme/clip",
        prompt: 'a clip\n#sandbox {"task_seconds": 0.3}',
        duration: 2,
      });
      const { id } = (await accepted.json()) as { id: string };
      expect(accepted.status).toBeLessThan(300);
      const ended = await eventually(async () => {
        const { json } = await admin(other, "GET", `/tasks/${id}`);
        return json?.status === "succeeded" || json?.status === "failed" ? json : undefined;
      }, "the end of a task");
      expect(ended.status).toBe("succeeded");
      const path = `/workspaces/${workspace}/signing_secret`;
      expect(must(await admin(one, "GET", path))).toEqual(must(await admin(other, "GET", path)));
    }
  });

  it("a workspace, a member and a provider made on one gateway exist on the other", async () => {
    for (const [at, [one, other]] of pairs().entries()) {
      const made = must(await admin(one, "POST", "/workspaces", { name: `Made ${at}` }));
      must(await admin(other, "POST", `/workspaces/${made.id}/credits`, { amount: "5" }));
      const balance = await admin(one, "GET", `/workspaces/${made.id}/balance`);
      expect(must(balance).available).toMatch(/^5/);
      const member = { email: `m${at}@example.com`, role: "member" };
      must(await admin(one, "POST", `/workspaces/${made.id}/members`, member));
      expect(must(await admin(other, "GET", `/workspaces/${made.id}/members`)).data).toHaveLength(
        1,
      );
      must(
        await admin(one, "POST", "/providers", {
          id: `added-${at}`,
          dialect: "openai-compatible",
          base_url: `${sandbox.url}/openai/v1`,
          api_key: "sk-added",
          models: [],
        }),
      );
      expect(must(await admin(other, "GET", `/providers/added-${at}`))).toMatchObject({
        source: "api",
      });
    }
  });

  it("`verify` finds no difference after concurrent calls on both gateways", async () => {
    const calls = Array.from({ length: 60 }, (_none, at) =>
      chat(gateways[at % 2]!, key, at % 3 === 0),
    );
    const answers = await Promise.all(
      calls.map(async (call) => {
        const answer = await call;
        await answer.text();
        return answer.status;
      }),
    );
    expect(answers.filter((status) => status !== 200)).toEqual([]);
    const proof = await tollgateHere(["verify"], environment);
    expect(proof).toMatchObject({ code: 0, stdout: "no difference\n" });
  });

  it("the previous release starts again on this schema, or reports why it does not", async () => {
    const outcome = await spawnGateway(withDirectory(), { program }).then(
      async (again) => {
        const { status } = await chat(again, key);
        await again.stop();
        return `started: ${status}`;
      },
      (error: Error) => error.message,
    );
    const starts = previous.restart.includes(commit);
    expect(outcome).toMatch(starts ? "started: 200" : /changed by a newer version of Tollgate/);
  });
});
