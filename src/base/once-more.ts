/** Work that is asked for again while it is under way: it is done once more then, however often that was. */

export interface OnceMore {
  /** Begins the work; where it is under way, it follows itself. */
  ask(): void;
  /** Resolves when nothing is under way. */
  idle(): Promise<void>;
}

/** `work` must not reject. */
export function onceMore(work: () => Promise<void>): OnceMore {
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
