/** Opens the hooks of a configuration. Modules are loaded at once, so that an error in one is found at the start. */
import type { BytePart } from "../base/byte-budget.ts";
import type { Clock } from "../base/clock.ts";
import type { Log } from "../base/log.ts";
import type { HookSettings } from "../catalog/index.ts";
import type { Pools } from "../upstream/index.ts";
import type { HookTransport } from "./transport.ts";
import { createHooks } from "./hooks.ts";
import { httpHook } from "./http-hook.ts";
import { moduleHook } from "./module-hook.ts";
import type { Hooks } from "./types.ts";
import type { Note, Observe, OpenHook } from "./observers.ts";

interface OpenOptions {
  readonly hooks: readonly HookSettings[];
  readonly pools: Pools;
  readonly clock: Clock;
  readonly log: Log;
  readonly observe: Observe;
  readonly note: Note;
  readonly room: BytePart;
}

/** Opens the hooks; undefined if none is configured. @throws Error naming the hook whose module cannot be loaded */
export async function openHooks(options: OpenOptions): Promise<Hooks | undefined> {
  if (options.hooks.length === 0) return undefined;
  const open: OpenHook[] = [];
  try {
    for (const settings of options.hooks)
      open.push({ settings, transport: await transportOf(settings, options) });
  } catch (error) {
    for (const { transport } of open) await transport.close();
    throw error;
  }
  return createHooks({ ...options, hooks: open });
}

function transportOf(
  { name, at, target }: HookSettings,
  { pools, clock, log }: OpenOptions,
): HookTransport | Promise<HookTransport> {
  if ("url" in target) return httpHook({ ...target, name, at, pools, clock });
  return moduleHook({ name, at, path: target.path, log });
}
