/**
 * The steps under way of one kind of task: which are begun, so that the thousands of one workspace do not keep back the one of
 * another. docs/tasks.md.
 */
import type { TaskServices } from "./engine.ts";
import { claimDue, findDue } from "./lease.ts";
import { createPlaces } from "./places.ts";
import type { Contact } from "./right.ts";
import type { Job } from "./rows.ts";

/** Half of them are the most that one workspace has. */
const stepsMax = 128;
const lookedAtMax = 2 * stepsMax;
/** A look past the workspaces that are full reads over all that they have due: it comes no more often than that. */
const pastFullMs = 100;

interface LaneOptions {
  /** All that this process works on. */
  readonly underWay: () => Job[];
  readonly contact: Contact;
  /** Takes one step; never rejects. */
  readonly take: (job: Job) => Promise<void>;
}

export interface Lane {
  readonly jobs: Map<Job, Promise<void>>;
  /** Claims what is due, as far as there is room, and takes the steps; `again` asks for another look, in so many milliseconds. */
  fill(again: (ms: number) => void): Promise<void>;
}

/** A lane without a step under way. */
export function createLane(
  services: TaskServices,
  status: "queued" | "running",
  { underWay, contact, take }: LaneOptions,
): Lane {
  const jobs = new Map<Job, Promise<void>>();
  const places = createPlaces({ total: stepsMax });
  let pastFullAtMs = -Infinity;

  function begin(job: Job, again: (ms: number) => void): void {
    const step = take(job).finally(() => {
      jobs.delete(job);
      if (places.leave(job)) again(0);
    });
    jobs.set(job, step);
  }

  /** How long a look past these full workspaces has to wait. */
  function waitMs(fullWorkspaces: readonly string[]): number {
    if (fullWorkspaces.length === 0) return 0;
    const nowMs = performance.now();
    const ms = pastFullAtMs + pastFullMs - nowMs;
    if (ms <= 0) pastFullAtMs = nowMs;
    return ms;
  }

  return {
    jobs,
    async fill(again) {
      while (places.hasRoom()) {
        const { fullWorkspaces } = places.full();
        const ms = waitMs(fullWorkspaces);
        if (ms > 0) return again(ms);
        const takesAbandoned = contact.isSteady();
        const found = await findDue(services, {
          status,
          limit: lookedAtMax,
          fullWorkspaces,
          underWay: underWay(),
          takesAbandoned,
        });
        const chosen = places.take(found);
        if (chosen.length === 0) return;
        const claimed = new Set<string>();
        try {
          for (const job of await claimDue(services, chosen, { status, takesAbandoned })) {
            claimed.add(job.id);
            begin(job, again);
          }
        } finally {
          for (const one of chosen) if (!claimed.has(one.id)) places.leave(one);
        }
        if (chosen.length === found.length && found.length < lookedAtMax) return;
      }
    },
  };
}
