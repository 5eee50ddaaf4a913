/** Keys with headroom that nobody may need any more: looks again after a while, and reports those whose headroom may go back. */
import { lingerMs, type KeyUse } from "./key-use.ts";
import type { LaneClock } from "./lane-clock.ts";

export class IdleKeys {
  private readonly clock: LaneClock;
  private readonly onIdle: (key: KeyUse) => void;
  private readonly watched = new Set<KeyUse>();
  private isTimed = false;

  /** `onIdle` gets a key when its headroom is unused for `lingerMs`. */
  constructor(clock: LaneClock, onIdle: (key: KeyUse) => void) {
    this.clock = clock;
    this.onIdle = onIdle;
  }

  /** Watches a key as long as it has headroom. */
  watch(key: KeyUse): void {
    if (key.free <= 0n) return;
    this.watched.add(key);
    if (this.isTimed) return;
    this.isTimed = true;
    this.clock.later(() => this.look(), lingerMs);
  }

  /** Another lane watches this key from now on. */
  forget(key: KeyUse): void {
    this.watched.delete(key);
  }

  private look(): void {
    this.isTimed = false;
    const nowMs = this.clock.now();
    const watched = [...this.watched];
    this.watched.clear();
    for (const key of watched) {
      if (key.hasIdle(nowMs)) this.onIdle(key);
      else this.watch(key);
    }
  }
}
