/** Tasks, models and providers over the management API. */
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { eventually } from "../support/patience.ts";
import { ids, startWorld, type World } from "./support.ts";

describe("tasks", () => {
  let world: World;
  let tasks: Record<"mem" | "mel" | "bob" | "failed", string>;
  let memKey: string;
  beforeAll(async () => {
    world = await startWorld();
    const { home, away } = world;
    const mem = await world.keyOf(world.mem, home.id);
    const mel = await world.keyOf(world.mel, home.id);
    const bob = await world.keyOf(world.bob, away.id);
    memKey = mem.key;
    tasks = {
      mem: await world.video(mem.key),
      mel: await world.video(mel.key),
      failed: await world.video(mel.key, { prompt: `A\n#sandbox {"task_outcome":"failed"}` }),
      bob: await world.video(bob.key),
    };
  });
  afterAll(() => world.gateway.close());

  it("show what their owner reads, with details for their operator", async () => {
    const { json } = await world.mem.call("GET", `/tasks/${tasks.mem}`);
    expect(json).toMatchObject({
      id: tasks.mem,
      status: "succeeded",
      model: "sandbox/video-model-v1",
      output: { images: [], videos: [{ index: 0 }] },
      usage: { output_video_seconds: 2 },
      workspace_id: world.home.id,
      kind: "video",
      family: "video-v1",
      form: "tasks",
      webhook_url: null,
      attempts: [{ outcome: "succeeded" }],
    });
    expect(Number(json.reserved)).toBeGreaterThanOrEqual(Number(json.cost));
    expect(json.attempts[0]).not.toHaveProperty("credential");
    const inside = await world.root.call("GET", `/tasks/${tasks.mem}`);
    expect(inside.json.attempts[0]).toHaveProperty("credential");
    const [video] = json.output.videos as { url: string }[];
    expect((await fetch(video!.url)).status).toBe(200);
  });

  it("are filtered and paged, and each user sees only their own", async () => {
    const list = async (query: string, person = world.root) =>
      ids(await person.call("GET", `/tasks?${query}`));
    const { mem, mel, failed, bob } = tasks;
    expect(await list("")).toEqual([bob, failed, mel, mem]);
    expect(await list("status=failed")).toEqual([failed]);
    expect(await list(`workspace_id=${world.away.id}`)).toEqual([bob]);
    expect(await list("model=sandbox/video-model-tokens")).toEqual([]);
    expect(await list(`limit=2&cursor=${failed}`)).toEqual([mel, mem]);
    expect(await list("", world.ann)).toEqual([failed, mel, mem]);
    expect(await list("", world.mem)).toEqual([mem]);
    expect((await world.root.call("GET", "/tasks?status=dancing")).status).toBe(400);
    for (const [person, id] of [
      [world.ann, bob],
      [world.mem, mel],
    ] as const) {
      const foreign = await person.call("GET", `/tasks/${id}`);
      const missing = await person.call("GET", "/tasks/task_00000000000000000000000000");
      expect([foreign.status, foreign.text]).toEqual([404, missing.text]);
    }
  });

  it("are filtered by kind, provider and member, and show retention and parameters without the prompt", async () => {
    const list = async (query: string) => ids(await world.root.call("GET", `/tasks?${query}`));
    const { mem, mel, failed, bob } = tasks;
    expect(await list("kind=video")).toEqual([bob, failed, mel, mem]);
    expect(await list("kind=image")).toEqual([]);
    expect(await list(`member_id=${world.mem.userId}`)).toEqual([mem]);
    const { json } = await world.mem.call("GET", `/tasks/${mem}`);
    expect(await list(`provider=${json.provider}`)).toEqual([bob, failed, mel, mem]);
    expect(await list("provider=none")).toEqual([]);
    expect(json.parameters).toMatchObject({ duration_seconds: 2 });
    expect(JSON.stringify(json.parameters)).not.toContain("A boat");
    expect(Date.parse(json.outputs_until)).toBeGreaterThan(Date.now());
    const without = await world.root.call("GET", `/tasks/${failed}`);
    expect(without.json).toMatchObject({
      outputs_until: null,
      error: { code: expect.any(String) as string },
    });
  });

  it("have the four renderings that the callers' endpoints answer", async () => {
    const { json } = await world.mem.call("GET", `/tasks/${tasks.mem}/shapes`);
    const asCaller = async (path: string): Promise<unknown> => {
      const headers = { authorization: `Bearer ${memKey}` };
      return (await fetch(`${world.gateway.url}${path}/${tasks.mem}`, { headers })).json();
    };
    expect(json.unified).toEqual(await asCaller("/v1/tasks"));
    expect(json.native).toEqual(await asCaller("/v1/videos"));
    expect(json.ark).toEqual(await asCaller("/api/v3/contents/generations/tasks"));
    const alias = (await asCaller("/api/v1/tasks")) as { output: object };
    expect(json.alias.output).toEqual(alias.output);
  });

  it("cannot be read, cancelled or downloaded by users who do not see them (TASK-42)", async () => {
    const { key } = await world.keyOf(world.mel, world.home.id);
    const started = await fetch(`${world.gateway.url}/v1/tasks`, {
      method: "POST",
      headers: { "content-type": "application/json", authorization: `Bearer ${key}` },
      body: JSON.stringify({
        model: "sandbox/video-model-v1",
        prompt: 'A boat\n#sandbox {"task_seconds":600}',
        duration: 2,
      }),
    });
    const { id } = (await started.json()) as { id: string };
    for (const [person, foreign] of [
      [world.mem, id],
      [world.bob, id],
      [world.ann, tasks.bob],
    ] as const) {
      for (const [method, path] of [
        ["GET", `/tasks/${foreign}`],
        ["GET", `/tasks/${foreign}/shapes`],
        ["POST", `/tasks/${foreign}/cancel`],
      ] as const) {
        const body = method === "POST" ? {} : undefined;
        const answer = await person.call(method, path, body);
        const none = path.replace(foreign, "task_00000000000000000000000000");
        const missing = await person.call(method, none, body);
        expect([path, answer.status, answer.text]).toEqual([path, 404, missing.text]);
      }
      const seen = await person.call("GET", "/tasks?limit=100");
      expect(seen.text).not.toContain(foreign);
    }
    expect((await world.mel.call("GET", `/tasks/${id}`)).json.status).toMatch(/queued|running/);
    // A file is found only by its name, which has 128 random bits: a guessed name does not exist.
    const { json } = await world.bob.call("GET", `/tasks/${tasks.bob}`);
    const url = json.output.videos[0].url as string;
    const guessed = url.replace(/.(?=\.\w+$)/, (last) => (last === "0" ? "1" : "0"));
    expect([(await fetch(url)).status, (await fetch(guessed)).status]).toEqual([200, 404]);
  });

  it("are cancelled by the callers' rules: a waiting task at once, an ended one never; the audit log records it", async () => {
    const ended = await world.mem.call("POST", `/tasks/${tasks.mem}/cancel`, {});
    const headers = { authorization: `Bearer ${memKey}` };
    const asCaller = await fetch(`${world.gateway.url}/v1/tasks/${tasks.mem}/cancel`, {
      method: "POST",
      headers,
    });
    expect([ended.status, ended.json.error.message]).toEqual([
      asCaller.status,
      ((await asCaller.json()) as { error: { message: string } }).error.message,
    ]);
    const started = await fetch(`${world.gateway.url}/v1/tasks`, {
      method: "POST",
      headers: { ...headers, "content-type": "application/json" },
      body: JSON.stringify({
        model: "sandbox/video-model-seconds",
        prompt: 'A boat\n#sandbox {"task_seconds":600}',
        duration: 2,
      }),
    });
    const { id } = (await started.json()) as { id: string };
    const canceled = await eventually(async () => {
      const answer = await world.mem.call("POST", `/tasks/${id}/cancel`, {});
      return answer.status === 200 ? answer : undefined;
    }, "the vendor confirms");
    expect(canceled.json).toMatchObject({ id, status: "canceled", error: { code: "canceled" } });
    const again = await world.mem.call("POST", `/tasks/${id}/cancel`, {});
    expect([again.status, again.json.status]).toEqual([200, "canceled"]);
    const { json } = await world.root.call("GET", "/audit?action=task.cancel");
    expect(json.data).toMatchObject([
      {
        before: { status: expect.stringMatching(/queued|running/) as string },
        after: { status: "canceled" },
        subject: { id },
      },
    ]);
  });
});

describe("models and providers", () => {
  let world: World;
  beforeAll(async () => {
    const provider = (id: string, key: string) =>
      `  - { id: ${id}, dialect: openai-compatible, base_url: "http://127.0.0.1:1/v1", api_key: ${key}, tier: partner }`;
    world = await startWorld({
      sandbox: "on",
      config: `providers:
${provider("local", "a-secret-of-local")}
models:
  - id: acme/talk
    kind: text
    endpoints: [chat_completions]
    context_length: 1000
    max_output_tokens: 100
    offers:
      - { provider: local, protocol: chat, upstream_model: talk-large, price: { input: "0.50", output: "2.00" } }
`,
    });
  });
  afterAll(() => world.gateway.close());

  it("show their configuration, prices and health, and never a key", async () => {
    const { json, text } = await world.root.call("GET", "/models?provider=local");
    expect(json.data).toMatchObject([
      {
        id: "acme/talk",
        kind: "text",
        endpoints: ["chat_completions"],
        offers: [
          {
            provider: "local",
            tier: "partner",
            source: "file",
            upstream_model: "talk-large",
            price: { input: "0.5", output: "2" },
            health: {
              state: "ready",
              reason: null,
              failure_share: 0,
              stream: { first_token_ms: null, tokens_per_second: null },
            },
          },
        ],
      },
    ]);
    expect(text).not.toContain("a-secret-of-local");
    const video = await world.root.call("GET", "/models?kind=video");
    const [first] = video.json.data as object[];
    expect(first).toMatchObject({
      family: "video-v1",
      endpoints: ["tasks", "videos_generations"],
      offers: [{ source: "sandbox" }],
    });
  });

  it("show what a key may call, and the outermost layer that excludes a model; parameters are shown for models named by id", async () => {
    const { root, ann, mem, bob, home, must } = world;
    must(
      await root.call("PATCH", `/workspaces/${home.id}`, {
        model_allowlist: ["acme/talk", "sandbox/chat"],
      }),
    );
    const { id } = must(
      await mem.call("POST", "/keys", {
        workspace_id: home.id,
        name: "narrow",
        model_allowlist: ["sandbox/chat"],
      }),
    ) as { id: string };
    const { json } = await mem.call("GET", `/models?key_id=${id}`);
    const scopeOf = (model: string) => {
      const { in_scope, out_of_scope_by } = json.data.find(
        (one: { id: string }) => one.id === model,
      );
      return [in_scope, out_of_scope_by];
    };
    expect(scopeOf("sandbox/chat")).toEqual([true, null]);
    expect(scopeOf("acme/talk")).toEqual([false, "key"]);
    expect(scopeOf("sandbox/video-model-v1")).toEqual([false, "workspace"]);
    expect(json.data[0]).not.toHaveProperty("supported_parameters");
    expect((await ann.call("GET", `/models?key_id=${id}`)).status).toBe(200);
    expect((await bob.call("GET", `/models?key_id=${id}`)).status).toBe(404);
    const named = await mem.call("GET", "/models?ids=acme/talk,none,sandbox/video-model-v1");
    expect(named.json.data.map((one: { id: string }) => one.id).sort()).toEqual([
      "acme/talk",
      "sandbox/video-model-v1",
    ]);
    const list = await world.gateway.get("/v1/models");
    const { data } = (await list.json()) as {
      data: { id: string; supported_parameters: object }[];
    };
    for (const one of named.json.data)
      expect(one).toMatchObject({
        in_scope: true,
        supported_parameters: data.find((other) => other.id === one.id)!.supported_parameters,
      });
    const found = await mem.call("GET", "/models?q=TALK");
    expect(found.json.data.map((one: { id: string }) => one.id)).toContain("acme/talk");
    must(await root.call("PATCH", `/workspaces/${home.id}`, { model_allowlist: null }));
  });

  it("hide addresses, accounts and upstream names from workspace users", async () => {
    const inside = await world.root.call("GET", "/providers");
    const local = { id: "local", base_url: "http://127.0.0.1:1/v1", models: ["acme/talk"] };
    expect(inside.json.data).toContainEqual(
      expect.objectContaining({ ...local, health: { state: "ready", out: [] } }),
    );
    expect(inside.text).not.toContain("a-secret-of-local");
    for (const person of [world.ann, world.mem]) {
      const { text } = await person.call("GET", "/providers");
      expect(text).toContain('"id":"local"');
      expect(text).not.toMatch(/base_url|credentials|127\.0\.0\.1/);
      expect((await person.call("GET", "/models")).text).not.toMatch(/upstream_model|talk-large/);
    }
  });

  it("show a failing provider as out, with the reason", async () => {
    const { key } = await world.keyOf(world.mem, world.home.id);
    for (let call = 0; call < 6; call += 1) await world.chat(key, {}, "acme/talk");
    const { json } = await world.root.call("GET", "/models?provider=local");
    expect(json.data[0].offers[0].health).toMatchObject({
      state: "out",
      reason: expect.stringContaining("circuit open since") as string,
    });
    const providers = await world.root.call("GET", "/providers");
    expect(providers.json.data).toContainEqual(
      expect.objectContaining({ id: "local", health: { state: "out", out: ["acme/talk"] } }),
    );
  });
});
