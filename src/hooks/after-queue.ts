/**
 * The queue of ended calls for the after hooks, off the caller's path. Each hook has a bounded number of requests in flight and
 * waiting: a dead hook takes no room of others. Events that do not fit are dropped and counted. The charge was settled before and
 * waits for none of this.
 */
import { setTimeout as sleep } from "node:timers/promises";
import type { BytePart } from "../base/byte-budget.ts";
import { afterEvent } from "./events.ts";
import type { EndedCall } from "./types.ts";
import type { OpenHook, HookObservers } from "./observers.ts";

/** The most events waiting for or in flight to one hook. */
const waitingMax = 1_000;
/** The most requests in flight to one hook. */
const underWayMax = 8;
/** Limit in bytes for the answer of an after hook, which is ignored. */
const answerBytesMax = 64 * 1024;
/** How long, in ms, a stop of the gateway waits for undelivered events. */
const closeMs = 3_000;

interface Waiting {
  readonly hook: OpenHook;
  readonly id: string;
  readonly text: string;
}

/** The events of one hook, waiting and in flight. */
interface Line {
  readonly waiting: Waiting[];
  underWay: number;
  /** Events waiting and in flight together. */
  count: number;
  characters: number;
}

/** Creates an empty queue for these hooks, which share `room` evenly. `add` returns at once and never throws. */
export function createAfterQueue(
  hooks: readonly OpenHook[],
  { observe, failed }: HookObservers,
  room: Pick<BytePart, "bytesMax" | "tryTake" | "give">,
) {
  const fresh = (): Line => ({ waiting: [], underWay: 0, count: 0, characters: 0 });
  const lines = new Map(hooks.map((hook) => [hook, fresh()]));
  const charactersMax = room.bytesMax / Math.max(1, hooks.length);
  let count = 0;
  let emptied: (() => void) | undefined;

  async function tell({ hook, id, text }: Waiting): Promise<void> {
    const { settings, transport } = hook;
    const beganMs = performance.now();
    try {
      await transport.ask({ id, text, timeoutMs: settings.timeoutMs, answerBytesMax });
      observe(settings, "heard", performance.now() - beganMs);
    } catch (error) {
      observe(settings, "failed", performance.now() - beganMs);
      failed(settings, error, id);
    }
  }

  function next(line: Line): void {
    while (line.underWay < underWayMax && line.waiting.length > 0) {
      const one = line.waiting.shift()!;
      line.underWay += 1;
      void tell(one).finally(() => {
        line.underWay -= 1;
        line.count -= 1;
        line.characters -= one.text.length;
        room.give(one.text.length);
        count -= 1;
        next(line);
        if (count === 0) emptied?.();
      });
    }
  }

  return {
    add(hook: OpenHook, ended: EndedCall): void {
      const line = lines.get(hook)!;
      if (line.count >= waitingMax || line.characters >= charactersMax)
        return observe(hook.settings, "dropped");
      const text = afterEvent(hook.settings.name, ended);
      if (!room.tryTake(text.length)) return observe(hook.settings, "dropped");
      count += 1;
      line.count += 1;
      line.characters += text.length;
      line.waiting.push({ hook, id: ended.id, text });
      next(line);
    },
    async close(): Promise<void> {
      if (count === 0) return;
      const empty = new Promise<void>((resolve) => (emptied = resolve));
      await Promise.race([empty, sleep(closeMs, undefined, { ref: false })]);
    },
  };
}
