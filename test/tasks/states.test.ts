// The six states in the database: a trigger records every change, and the table of states must allow each.
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { taskStates, type TaskStatus } from "../../src/tasks/index.ts";
import { eventually } from "../money/support.ts";
import { scripted, startBench, type Bench, type TaskBody } from "../task-http/support.ts";
import { startRecorder } from "../support/recorder.ts";

let bench: Bench;
beforeAll(async () => {
  bench = await startBench();
  await bench.credit("1000");
  await bench.database.query(`
    create table seen (id text, old_status text, new_status text, changed boolean);
    create function see() returns trigger language plpgsql as $$
    begin
      insert into seen values (new.id, old.status, new.status, old.* is distinct from new.*);
      return new;
    end $$;
    create trigger see after update on tasks for each row execute function see();`);
});
afterAll(() => bench?.close());

const kinds = {
  image: { model: "sandbox/image-model-c", prompt: "A boat" },
  video: { model: "sandbox/video-model-seconds", prompt: "A boat", duration: 1 },
};
const scripts = {
  succeeded: { delay_ms: 100, task_seconds: 0.3 },
  failed: { task_outcome: "failed" },
  refused: { status: 400, error: "no" },
  expired: { task_outcome: "expired" },
  canceled: { task_seconds: 600 },
} as const;

/** Runs a task until it has ended. */
async function run(body: object, script: keyof typeof scripts): Promise<TaskBody> {
  const { id } = await bench.create({ ...body, prompt: scripted(scripts[script]) });
  if (script === "canceled") {
    const cancel = async () => (await bench.send("POST", `/v1/tasks/${id}/cancel`)).status;
    await eventually(async () => ((await cancel()) === 200 ? true : undefined), "its cancellation");
  }
  return bench.until(id, "succeeded", "failed", "expired", "canceled");
}

const changes = () =>
  bench.database.query<{ old_status: TaskStatus; new_status: TaskStatus; changed: boolean }>(
    "select old_status, new_status, bool_or(changed) as changed from seen group by 1, 2",
  );

describe("the states of tasks", () => {
  it("TASK-44: image tasks have the states of video tasks", async () => {
    for (const kind of [kinds.image, kinds.video]) {
      const slow = { ...kind, prompt: scripted({ delay_ms: 200, task_seconds: 0.5 }) };
      const { id, status } = await bench.create(slow);
      expect(status).toBe("queued");
      await bench.until(id, "running");
      await bench.until(id, "succeeded");
      expect((await run(kind, "failed")).status).toBe("failed");
      expect((await run(kind, "canceled")).status).toBe("canceled");
      const long = await bench.create({ ...kind, prompt: scripted({ task_seconds: 600 }) });
      await bench.until(long.id, "running");
      await bench.database.query(
        "update tasks set expires_at = now(), due_at = now() where id = $1",
        [long.id],
      );
      await bench.until(long.id, "expired");
    }
  });

  it("TASK-43 TASK-36: every change is one that the table allows, and no request changes a task that has ended", async () => {
    const ended: TaskBody[] = [];
    for (const script of ["succeeded", "failed", "refused", "canceled"] as const)
      ended.push(await run(kinds.video, script));
    const first = { model: "sandbox/video-model-v1", duration: 1 };
    ended.push(await run(first, "expired"));
    for (const task of ended) {
      await bench.send("POST", `/v1/tasks/${task.id}/cancel`);
      await bench.send("DELETE", `/api/v3/contents/generations/tasks/${task.id}`);
      expect(await bench.read(task.id)).toEqual(task);
    }
    const seen = await changes();
    for (const { old_status: from, new_status: to } of seen.filter(
      ({ old_status, new_status }) => old_status !== new_status,
    ))
      expect(`${from}: ${taskStates[from].next.join(" ")}`).toContain(` ${to}`);
    expect(seen.filter(({ old_status: from }) => taskStates[from].terminal)).toEqual([]);
    expect(new Set(seen.map(({ new_status: to }) => to))).toEqual(new Set(Object.keys(taskStates)));
  });
});

describe("a vendor that does not know its task", () => {
  it("ALIAS-07: its state UNKNOWN is never passed on: the last known state is shown", async () => {
    const vendor = await startRecorder((request, response) => {
      const output = {
        task_id: "job",
        task_status: request.method === "POST" ? "PENDING" : "UNKNOWN",
      };
      response.end(JSON.stringify({ request_id: "r", output }));
    });
    const one = await startBench({
      config: `
providers:
  - { id: wan, dialect: dashscope, base_url: "${vendor.url}/api/v1", api_key: none }
models:
  - id: acme/clip
    kind: video
    family: video-seconds
    offers:
      - { provider: wan, upstream_model: wan3-clip, price: { output_second: { 480p: "0.05", 720p: "0.1", 1080p: "0.15" }, input_image: "0" } }
`,
    });
    try {
      await one.credit("10");
      const { id } = await one.create({ model: "acme/clip", prompt: "A boat", duration: 1 });
      const asked = () => vendor.requests.filter(({ method }) => method === "GET").length;
      await expect.poll(asked).toBeGreaterThan(2);
      const rendered = (await (await one.get(`/api/v1/tasks/${id}`)).json()) as { output: object };
      expect(rendered.output).toEqual({ task_id: id, task_status: "PENDING" });
      expect((await one.read(id)).status).toBe("running");
    } finally {
      await one.close();
      await vendor.close();
    }
  });
});
