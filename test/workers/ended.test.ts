// What the log says of a worker's end: who killed it or what it lacked, and what helps. docs/troubleshooting.md.
import { expect, it, onTestFinished } from "vitest";
import { adviceOnEnd } from "../../src/cli/workers/ended.ts";
import { eventually } from "../support/patience.ts";
import { startWorkers, workersOf } from "./support.ts";

it.skipIf(process.platform !== "linux")(
  "a worker that was killed or ran out of heap is named with what helps, and is back",
  async () => {
    const gateway = await startWorkers();
    onTestFinished(() => gateway.kill());
    const [first, second] = workersOf(gateway.child.pid!);
    process.kill(first!, "SIGKILL");
    // As V8 ends a process whose heap is full.
    process.kill(second!, "SIGABRT");
    const ended = await eventually(() => {
      const lines = gateway.printed().split("\n");
      const found = lines.filter((line) => line.includes("a worker ended; it is started again"));
      return found.length === 2 ? found.map((line) => JSON.parse(line) as object) : undefined;
    }, "both ends to be told");
    expect(ended).toContainEqual(
      expect.objectContaining({ how: "SIGKILL", fix: expect.stringMatching(/dmesg/) as string }),
    );
    expect(ended).toContainEqual(
      expect.objectContaining({
        how: "SIGABRT",
        fix: expect.stringMatching(/heap out of memory.*--max-old-space-size/) as string,
      }),
    );
    await eventually(
      () => gateway.printed().split("the worker is back").length === 3 || undefined,
      "both to be back",
    );
  },
);

it.each(["code 1", "ended by its supervisor"])(
  "of %s the lines before it say what is to be said",
  (how) => {
    expect(adviceOnEnd(how)).toEqual({});
  },
);
