/** Workers that hang are killed, so that their connections go to others. docs/operate.md "Workers". */
import { fork, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it, onTestFinished } from "vitest";
import { watchLiveness } from "../../src/cli/workers/liveness.ts";
import { Questions } from "../../src/cli/workers/questions.ts";
import { temporaryDirectory } from "../support/postgres.ts";

type Watched = Parameters<typeof watchLiveness>[0] & { readonly child: ChildProcess };

/** A process that answers as long as it runs. */
async function answering(): Promise<Watched> {
  const file = join(temporaryDirectory(), "answers.mjs");
  writeFileSync(file, `process.on("message", (id) => process.send(id)); process.send("up");`);
  const child = fork(file, []);
  onTestFinished(() => void child.kill("SIGKILL"));
  await once(child, "message");
  const questions = new Questions<boolean>();
  child.on("message", (id: number) => questions.answered(id, true));
  return {
    child,
    number: 2,
    ended: once(child, "exit").then(() => "ended"),
    ask: (_what, msMax) => questions.ask((id) => void child.send(id), msMax),
    kill: () => void child.kill("SIGKILL"),
  };
}

function watch(worker: Watched, everyMs: number) {
  const lines: object[] = [];
  const error = (fields: object, msg: string): void => void lines.push({ ...fields, msg });
  return { lines, over: watchLiveness(worker, { error }, { everyMs, missedMax: 3 }) };
}

it("a worker that hangs is logged and killed, and one that stops only for a moment is not", async () => {
  const worker = await answering();
  const { lines, over } = watch(worker, 400);
  worker.child.kill("SIGSTOP");
  await worker.ask("ready", 600);
  worker.child.kill("SIGCONT");
  expect(await worker.ask("ready", 20_000)).toBe(true);
  expect(lines).toEqual([]);
  worker.child.kill("SIGSTOP");
  await over;
  await worker.ended;
  expect(worker.child.signalCode).toBe("SIGKILL");
  expect(lines).toEqual([{ worker: 2, seconds: 1, msg: "a worker stands still; it is ended" }]);
});

it("a worker that ends by itself is not logged as hanging, and leaves no unhandled rejection", async () => {
  const rejections: unknown[] = [];
  const note = (reason: unknown): void => void rejections.push(reason);
  process.on("unhandledRejection", note);
  onTestFinished(() => void process.off("unhandledRejection", note));
  const worker = await answering();
  worker.child.kill("SIGSTOP");
  const { lines, over } = watch(worker, 400);
  worker.child.kill("SIGKILL");
  await over;
  expect(lines).toEqual([]);
  expect(rejections).toEqual([]);
});
