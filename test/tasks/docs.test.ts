// Runs the commands of docs/tasks.md and the video of README.md; only the gateway's address and the key are replaced.
import { spawn } from "node:child_process";
import { readFileSync } from "node:fs";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { scripted, startBench, type Bench, type TaskBody } from "../task-http/support.ts";

let bench: Bench;
beforeAll(async () => {
  bench = await startBench();
});
afterAll(() => bench?.close());

const root = new URL("../../", import.meta.url);
const commandsOf = (page: string) =>
  [...readFileSync(new URL(page, root), "utf8").matchAll(/```sh\n([^]*?)```/g)].map(
    ([, text]) => text!,
  );

/** Runs a command in a shell. Returns its parsed output. */
async function run(command: string, environment: Record<string, string> = {}): Promise<unknown> {
  const text = command
    .replaceAll(/http:\/\/127\.0\.0\.1:8080/g, bench.url)
    .replaceAll("<the key>", bench.key);
  const child = spawn("sh", ["-ec", text], {
    env: { ...process.env, KEY: bench.key, ...environment },
    stdio: ["ignore", "pipe", "ignore"],
  });
  let printed = "";
  for await (const chunk of child.stdout) printed += String(chunk);
  return JSON.parse(printed);
}

describe("the commands of docs/tasks.md", () => {
  it("create, read, wait, list, repeat and cancel tasks", async () => {
    const [create, read, wait, list, again, cancel, ...more] = commandsOf("docs/tasks.md");
    expect(more).toEqual([]);
    const { id } = (await run(create!)) as TaskBody;
    await bench.until(id, "succeeded");
    expect(await run(read!, { TASK: id })).toMatchObject({ id, status: "succeeded" });
    await bench.received(/./);
    const waited = await run(wait!);
    // Once of some thousand times the task was still running after a minute, and nothing told where.
    const seen = JSON.stringify(await bench.received(/./));
    if ((waited as TaskBody).status !== "succeeded") throw new Error(`the sandbox saw ${seen}`);
    expect(waited).toMatchObject({ output: { images: [{}] } });
    const { data } = (await run(list!)) as { data: TaskBody[] };
    expect(data.map((task) => task.id)).toContain(id);
    const first = (await run(again!)) as TaskBody;
    expect(await run(again!)).toMatchObject({ id: first.id });
    const slow = { model: "sandbox/video-model-seconds", duration: 1 };
    const task = await bench.create({
      ...slow,
      prompt: scripted({ delay_ms: 300, task_seconds: 600 }),
    });
    await bench.until(task.id, "running");
    expect(await run(cancel!, { TASK: task.id })).toMatchObject({
      id: task.id,
      status: "canceled",
    });
  });
});

describe("the video of README.md", () => {
  it("succeeds", async () => {
    const command = commandsOf("README.md").find((text) => text.includes("/v1/tasks"));
    expect(await run(command!)).toMatchObject({ status: "succeeded", output: { videos: [{}] } });
  });
});
