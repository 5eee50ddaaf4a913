/**
 * Calls that are over, on their way to the hooks that hear of them: off the caller's path, a bounded number at a time, and a
 * bounded number waiting. What does not fit is dropped and counted. Money was settled before, and waits for none of this.
 */
import { setTimeout as sleep } from "node:timers/promises";
import { afterEvent } from "./events.ts";
import type { EndedCall } from "./types.ts";
import type { OpenHook, Watching } from "./watching.ts";

const waitingMax = 1_000;
const waitingCharactersMax = 32 * 1024 * 1024;
/** Questions to one hook at a time. */
const underWayMax = 8;
/** What a hook after a call answers is not looked at. */
const answerBytesMax = 64 * 1024;
/** So long the end of the gateway waits for what was not heard yet. */
const closeMs = 3_000;

interface Waiting {
  readonly hook: OpenHook;
  readonly id: string;
  readonly text: string;
}

/** An empty queue. `add` returns at once and never throws. */
export function createAfterQueue({ observe, failed }: Watching) {
  const lines = new Map<OpenHook, { waiting: Waiting[]; underWay: number }>();
  let characters = 0;
  let count = 0;
  let emptied: (() => void) | undefined;

  const lineOf = (hook: OpenHook) => {
    let line = lines.get(hook);
    if (line === undefined) lines.set(hook, (line = { waiting: [], underWay: 0 }));
    return line;
  };

  async function tell({ hook, id, text }: Waiting): Promise<void> {
    const { settings, asker } = hook;
    const beganMs = performance.now();
    try {
      await asker.ask({ id, text, timeoutMs: settings.timeoutMs, answerBytesMax });
      observe(settings, "heard", performance.now() - beganMs);
    } catch (error) {
      observe(settings, "failed", performance.now() - beganMs);
      failed(settings, error, id);
    }
  }

  function next(hook: OpenHook): void {
    const line = lineOf(hook);
    while (line.underWay < underWayMax && line.waiting.length > 0) {
      const one = line.waiting.shift()!;
      line.underWay += 1;
      void tell(one).finally(() => {
        line.underWay -= 1;
        count -= 1;
        characters -= one.text.length;
        next(hook);
        if (count === 0) emptied?.();
      });
    }
  }

  return {
    add(hook: OpenHook, ended: EndedCall): void {
      if (count >= waitingMax || characters >= waitingCharactersMax)
        return observe(hook.settings, "dropped", 0);
      const text = afterEvent(hook.settings.name, ended);
      count += 1;
      characters += text.length;
      lineOf(hook).waiting.push({ hook, id: ended.id, text });
      next(hook);
    },
    async close(): Promise<void> {
      if (count === 0) return;
      const empty = new Promise<void>((resolve) => (emptied = resolve));
      await Promise.race([empty, sleep(closeMs, undefined, { ref: false })]);
    },
  };
}
