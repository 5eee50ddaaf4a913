// Reading, listing and canceling tasks in the unified shape, over the sandbox's vendors.
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { faults, named } from "../http/openapi-support.ts";
import { scripted, startBench, video, type Bench, type TaskBody } from "./support.ts";

let bench: Bench;
beforeAll(async () => {
  bench = await startBench();
});
afterAll(() => bench?.close());

const wait = (seconds: number) => ({ prefer: `wait=${seconds}` });

describe("reading tasks", () => {
  it("TASK-41 TASK-42 ERR-10: answers 200 in every state, and the same 404 for a foreign, a missing and an invalid id", async () => {
    const { id } = await bench.create({ ...video, prompt: scripted({ task_seconds: 600 }) });
    expect((await bench.get(`/v1/tasks/${id}`)).status).toBe(200);
    const texts = [];
    const missing = `task_${"0".repeat(26)}`;
    const asked = [
      [id, bench.otherKey],
      [missing, bench.key],
      ["nonsense", bench.key],
      ["%00", bench.key],
    ] as const;
    for (const [name, key] of asked) {
      const answer = await bench.send("GET", `/v1/tasks/${name}`, { key });
      expect(answer.status).toBe(404);
      texts.push(
        (await answer.text()).replace(decodeURIComponent(name).replace("\0", "\\u0000"), "ID"),
      );
    }
    expect(new Set(texts).size).toBe(1);
    const notFoundBody = {
      error: { code: "task_not_found", type: "not_found_error", param: "id" },
    };
    expect(JSON.parse(texts[0]!)).toMatchObject(notFoundBody);
    const cancel = await bench.send("POST", `/v1/tasks/${id}/cancel`, { key: bench.otherKey });
    expect(cancel.status).toBe(404);
    expect(await cancel.json()).toMatchObject(notFoundBody);
  });

  it("TASK-42 NVID-35 ARK-11 ALIAS-10: an id of thousands of characters is answered with 404 on every path", async () => {
    const long = "x".repeat(4000);
    const paths = [
      "/v1/tasks",
      "/v1/videos",
      "/api/v1/tasks",
      "/api/v3/contents/generations/tasks",
    ];
    const answers = await Promise.all(paths.map((path) => bench.get(`${path}/${long}`)));
    expect(answers.map(({ status }) => status)).toEqual([404, 404, 404, 404]);
    const [unified, , alias, ark] = await Promise.all(answers.map((answer) => answer.json()));
    const message = `The task ${"x".repeat(100)} is not found.`;
    expect(unified).toMatchObject({ error: { code: "task_not_found", message, param: "id" } });
    expect(alias).toMatchObject({ code: "TaskNotFound", message });
    expect(ark).toMatchObject({ error: { code: "ResourceNotFound", type: "NotFound" } });
  });

  it("MODELS-01: in Google's list a video model has no method that generates text", async () => {
    const methods = async (model: string) => {
      const answer = await bench.get(`/v1beta/models/${model}`);
      const read = (await answer.json()) as { supportedGenerationMethods: string[] };
      // Clients that are generated from Google's documents require each of these.
      expect(read).toMatchObject({
        version: "",
        displayName: model,
        inputTokenLimit: expect.any(Number),
      });
      return read.supportedGenerationMethods;
    };
    expect(await methods("sandbox/video-model-v1")).toEqual([]);
    expect(await methods("sandbox/chat")).toContain("generateContent");
  });

  it("a list has only the workspace's tasks, newest first, in pages, with filters", async () => {
    const mine = await Promise.all(
      [1, 2, 3].map(() => bench.create({ ...video, model: "sandbox/video-model-v1.5" })),
    );
    const ids = mine
      .map(({ id }) => id)
      .sort()
      .reverse();
    const list = async (query: string, key = bench.key) => {
      const answer = await bench.send("GET", `/v1/tasks?${query}`, { key });
      const body = await answer.json();
      return {
        status: answer.status,
        body: body as { data: TaskBody[]; has_more: boolean; next: string | null },
      };
    };
    const model = "model=sandbox/video-model-v1.5";
    const first = (await list(`${model}&limit=2`)).body;
    expect([first.data.map(({ id }) => id), first.has_more, first.next]).toEqual([
      ids.slice(0, 2),
      true,
      ids[1],
    ]);
    const second = (await list(`${model}&limit=2&after=${first.next}`)).body;
    expect([second.data.map(({ id }) => id), second.has_more, second.next]).toEqual([
      ids.slice(2),
      false,
      null,
    ]);
    await Promise.all(ids.map((id) => bench.until(id, "succeeded")));
    expect((await list(`${model}&status=succeeded`)).body.data).toHaveLength(3);
    expect((await list(`${model}&status=failed`)).body.data).toEqual([]);
    expect((await list("", bench.otherKey)).body.data).toEqual([]);
    expect(faults(named("TaskList"), first)).toEqual([]);
    const wrong = [
      ["status=done", "status: must be one of queued, running, "],
      ["limit=0", "limit: must be an integer from 1 to 100."],
      ["limit=101", "limit: must be"],
      ["limit=x", "limit: must be"],
      ["after=x", "after: must be the id of a task, such as the `next` of the previous page."],
      [`after=task_${"0".repeat(26)}`, "There is no task"],
      ["model=%00", "model: must be a model id of at most 256 characters."],
    ] as const;
    for (const [query, message] of wrong)
      expect(await list(query)).toMatchObject({
        status: 400,
        body: { error: { message: expect.stringContaining(message) } },
      });
    expect((await list(`after=${ids[0]}`, bench.otherKey)).status).toBe(400);
  });

  it("a revoked key is refused on every path", async () => {
    const { id } = await bench.create(video);
    expect((await bench.send("GET", `/v1/tasks/${id}`, { key: bench.otherKey })).status).toBe(404);
    // Directly in the database, so that no cache is told.
    await bench.database.query("update api_keys set status = 'revoked' where name = 'its key'");
    const paths = [`/v1/tasks/${id}`, "/v1/tasks", `/v1/videos/${id}`, `/api/v1/tasks/${id}`];
    for (const path of [...paths, `/api/v3/contents/generations/tasks/${id}`])
      expect((await bench.send("GET", path, { key: bench.otherKey })).status).toBe(401);
  });
});

describe("canceling tasks", () => {
  it.each(["application/x-www-form-urlencoded", "text/plain"])(
    "TASK-46: an empty body is accepted as no body, even with the type %s",
    async (type) => {
      const seconds = { ...video, model: "sandbox/video-model-seconds" };
      const { id } = await bench.create({ ...seconds, prompt: scripted({ task_seconds: 600 }) });
      const cancel = () =>
        fetch(`${bench.url}/v1/tasks/${id}/cancel`, {
          method: "POST",
          body: "",
          headers: { authorization: `Bearer ${bench.key}`, "content-type": type },
        });
      await expect.poll(async () => (await cancel()).status).toBe(200);
    },
  );

  it("TASK-46: works by POST and by DELETE, also repeatedly, and is refused for an ended task", async () => {
    const seconds = { ...video, model: "sandbox/video-model-seconds" };
    for (const [method, tail] of [
      ["POST", "/cancel"],
      ["DELETE", ""],
    ] as const) {
      const before = await bench.available();
      const { id } = await bench.create({ ...seconds, prompt: scripted({ task_seconds: 600 }) });
      const cancel = () => bench.send(method, `/v1/tasks/${id}${tail}`);
      await expect.poll(async () => (await cancel()).status).toBe(200);
      const task = (await (await cancel()).json()) as TaskBody;
      expect(task).toMatchObject({ status: "canceled", cost: "0", error: { code: "canceled" } });
      expect(faults(named("Task"), task)).toEqual([]);
      expect(await bench.available()).toBe(before);
    }
    const done = await bench.create(video, wait(20));
    const refused = await bench.send("POST", `/v1/tasks/${done.id}/cancel`);
    expect(refused.status).toBe(409);
    expect(await refused.json()).toMatchObject({ error: { code: "task_not_cancelable" } });
  });

  it("is refused when the vendor does not confirm, and the task goes on", async () => {
    const { id } = await bench.create({ ...video, prompt: scripted({ task_seconds: 600 }) });
    await bench.until(id, "running");
    expect((await bench.send("DELETE", `/v1/tasks/${id}`)).status).toBe(409);
    expect((await bench.read(id)).status).toBe("running");
  });
});
