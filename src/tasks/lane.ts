/**
 * The steps under way of one kind: which are begun, so that the thousands of one workspace do not keep back the one of
 * another. docs/tasks.md.
 */
import type { TaskServices } from "./engine.ts";
import { accountOf, claimDue, findDue, type DueTask, type LaneName } from "./lease.ts";
import { createPlaces, type Placed, type Places } from "./places.ts";
import type { PollPace } from "./poll-pace.ts";
import type { Contact } from "./right.ts";
import type { Job } from "./rows.ts";

/** Half of them are the most that one workspace has. */
const stepsMax = 128;
const lookedAtMax = 2 * stepsMax;
/** A look past workspaces and accounts that are full reads over all that they have due: it comes no more often than that. */
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

/** Of what was found what may begin now, with its place taken; and whether something waits for its account's turn. */
function choose(
  found: readonly DueTask[],
  places: Places<Placed>,
  pollPace: PollPace,
): { readonly chosen: DueTask[]; readonly isPaced: boolean } {
  let isPaced = false;
  const chosen = found.filter((one) => {
    if (places.take([one]).length === 0) return false;
    if (one.account === null || pollPace.begin(one.account, one)) return true;
    places.leave(one);
    isPaced = true;
    return false;
  });
  return { chosen, isPaced };
}

/** How long a look past so many workspaces and accounts has to wait. */
function createPastFull(): (count: number) => number {
  let atMs = -Infinity;
  return (count) => {
    if (count === 0) return 0;
    const nowMs = performance.now();
    const ms = atMs + pastFullMs - nowMs;
    if (ms <= 0) atMs = nowMs;
    return ms;
  };
}

/** A lane without a step under way. */
export function createLane(
  services: TaskServices,
  lane: LaneName,
  { underWay, contact, take }: LaneOptions,
): Lane {
  const jobs = new Map<Job, Promise<void>>();
  const places = createPlaces({ total: stepsMax });
  const { pollPace } = services;
  const waitMs = createPastFull();

  function begin(job: Job, again: (ms: number) => void): void {
    const step = take(job).finally(() => {
      jobs.delete(job);
      const isAwaited = pollPace.end(accountOf(job), job.id);
      if (places.leave(job) || isAwaited) again(0);
    });
    jobs.set(job, step);
  }

  /** It was not claimed, and nothing of it begins. */
  function giveBack(one: DueTask): void {
    places.leave(one);
    if (one.account !== null) pollPace.end(one.account, one.id);
  }

  /** Looks again once the next account may be asked. */
  function lookAfterRest(again: (ms: number) => void): void {
    const ms = lane === "poll" ? pollPace.waitMs() : undefined;
    if (ms !== undefined) again(ms);
  }

  return {
    jobs,
    async fill(again) {
      while (places.hasRoom()) {
        const { fullWorkspaces } = places.full();
        const passedOver = lane === "poll" ? [...pollPace.resting(), ...pollPace.full()] : [];
        const ms = waitMs(fullWorkspaces.length + passedOver.length);
        if (ms > 0) return again(ms);
        const takesAbandoned = contact.isSteady();
        lookAfterRest(again);
        const found = await findDue(services, {
          lane,
          limit: lookedAtMax,
          fullWorkspaces,
          passedOver,
          underWay: underWay(),
          takesAbandoned,
        });
        const { chosen, isPaced } = choose(found, places, pollPace);
        if (isPaced) lookAfterRest(again);
        if (chosen.length === 0 && !isPaced) return;
        const claimed = new Set<string>();
        try {
          for (const job of await claimDue(services, chosen, { lane, takesAbandoned })) {
            claimed.add(job.id);
            begin(job, again);
          }
        } finally {
          for (const one of chosen) if (!claimed.has(one.id)) giveBack(one);
        }
        if (chosen.length === found.length && found.length < lookedAtMax) return;
      }
    },
  };
}
