/** Log lines for a vendor that does not answer polls: when it begins, continues and ends, not for each poll. docs/tasks.md. */
import { expect, it } from "vitest";
import { createPollTroubles } from "../../src/tasks/poll-troubles.ts";
import { pollStep } from "../../src/tasks/poll-step.ts";
import { running, rowOf, useWorld } from "./steps-support.ts";
import { says } from "./support.ts";

const world = useWorld();

interface Line {
  readonly level: "info" | "warn" | "error";
  readonly message: string;
  readonly outcome: unknown;
}

/** A task that its vendor has accepted. */
const acceptedTask = () =>
  running(world, {
    attempts: JSON.stringify([
      {
        provider: "one",
        credential: "default",
        upstream_model: "m",
        started_at: new Date().toISOString(),
        outcome: "taken",
      },
    ]),
  });

/** Services whose log keeps its lines, and whose poll troubles have a manual clock. */
function collectingServices() {
  const lines: Line[] = [];
  const to = (level: Line["level"]) => (fields: object, message: string) =>
    void lines.push({ level, message, outcome: "outcome" in fields ? fields.outcome : undefined });
  let nowMs = 0;
  return {
    lines,
    advance: (ms: number) => void (nowMs += ms),
    services: {
      ...world.services,
      log: { debug: () => undefined, info: to("info"), warn: to("warn"), error: to("error") },
      pollTroubles: createPollTroubles(() => nowMs),
    },
  };
}

it("T80: a vendor that is down is logged once for all polls of all its tasks, and once when it answers again", async () => {
  const { lines, advance, services } = collectingServices();
  const jobs = [await acceptedTask(), await acceptedTask(), await acceptedTask()];
  const pollAll = async (): Promise<void> => {
    for (const { id } of jobs) {
      await world.database.query("update tasks set lease_token = 'mine' where id = $1", [id]);
      await pollStep(services, await rowOf(world, id));
      advance(1_000);
    }
  };
  world.vendor.plan("GET", says.closed);
  for (let times = 0; times < 10; times += 1) await pollAll();
  const down = {
    level: "warn",
    message: "an attempt at a provider failed",
    outcome: "unreachable",
  };
  expect(lines).toEqual([down]);
  advance(600_000);
  await pollAll();
  expect(lines).toEqual([down, down]);
  world.vendor.plan("GET", says.running);
  advance(60_000);
  await pollAll();
  const again = "a provider answers polls of its tasks again";
  expect(lines.slice(2)).toEqual([{ level: "info", message: again, outcome: undefined }]);
});

it("T80: each kind of refusal is logged once, and each failed job has its own line", async () => {
  const { lines, services } = collectingServices();
  const pollNew = async (): Promise<void> => pollStep(services, await acceptedTask());
  for (const reply of [says.refused(503), says.refused(503), says.refused(429)]) {
    world.vendor.plan("GET", reply);
    await pollNew();
  }
  expect(lines.map(({ outcome }) => outcome)).toEqual(["refused", "refused"]);
  world.vendor.plan(
    "GET",
    (response) => void response.end('{"status":"failed","error":{"message":"No."}}'),
  );
  await pollNew();
  await pollNew();
  expect(lines.slice(2).map(({ outcome }) => outcome)).toEqual(["failed", "failed"]);
});

it("trouble that comes and goes within a minute is logged once, and again after a long time without it", () => {
  let nowMs = 0;
  const troubles = createPollTroubles(() => nowMs);
  const loggedAtMs: number[] = [];
  for (; nowMs < 600_000; nowMs += 10_000) {
    if (troubles.shouldLogStart("one unreachable")) loggedAtMs.push(nowMs);
    expect(troubles.shouldLogRecovery("two unreachable")).toBe(false);
    expect(nowMs < 60_000 && troubles.shouldLogRecovery("one unreachable")).toBe(false);
  }
  expect(loggedAtMs).toEqual([0]);
  nowMs += 600_000;
  expect(troubles.shouldLogStart("one unreachable")).toBe(true);
});
