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
  let underWay: Promise<void> | undefined;
  async function run(): Promise<void> {
    while (isAsked) {
      isAsked = false;
      await work();
    }
    underWay = undefined;
  }
  return {
    ask() {
      isAsked = true;
      underWay ??= run();
    },
    async idle() {
      await underWay;
    },
  };
}
