/** Work that may be requested again while it runs: then it runs once more, however often it was requested. */

export interface CoalescedWork {
  /** Starts the work, or lets it run once more after the current run. */
  ask(): void;
  /** Resolves when no work is running. */
  idle(): Promise<void>;
}

/** Creates such work; `work` must not reject. */
export function coalesce(work: () => Promise<void>): CoalescedWork {
  let isAsked = false;
  let isUnderWay = false;
  let run = Promise.resolve();
  async function begin(): Promise<void> {
    isUnderWay = true;
    while (isAsked) {
      isAsked = false;
      await work();
    }
    isUnderWay = false;
  }
  return {
    ask() {
      isAsked = true;
      if (!isUnderWay) run = begin();
    },
    idle: () => run,
  };
}
