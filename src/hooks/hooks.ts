/**
 * The operator's hooks: which ones are asked about a call, in which order, and the effect of their answers. A failed hook is always
 * counted and logged, and the call continues or is refused as the operator configured. docs/hooks.md.
 */
import type { BytePart } from "../base/byte-budget.ts";
import { GatewayError } from "../base/errors.ts";
import type { Log } from "../base/log.ts";
import type { HookSettings } from "../catalog/index.ts";
import { createAfterQueue } from "./after-queue.ts";
import { HookFailedError, readAnswer, type HookAnswer } from "./answer.ts";
import { beforeEvent } from "./events.ts";
import { Draft } from "./draft.ts";
import type { AskedCall, CallFacts, ChangedCall, HookOutcome, Hooks } from "./types.ts";
import {
  failureLog,
  type Note,
  type Observe,
  type OpenHook,
  type HookObservers,
} from "./observers.ts";

interface HooksOptions {
  readonly hooks: readonly OpenHook[];
  readonly log: Log;
  readonly observe: Observe;
  readonly note: Note;
  /** The room for events of ended calls that after hooks have not received yet. */
  readonly room: BytePart;
}

/** A change may double a request and add this many bytes; a longer answer is refused. */
const growthBytesMax = 1024 * 1024;
const retryAfterSeconds = 1;

/** Creates the hooks from the open ones, in the order of the file. */
export function createHooks({ hooks, log, observe, note, room }: HooksOptions): Hooks {
  const before = hooks.filter(({ settings }) => settings.at === "before");
  const after = hooks.filter(({ settings }) => settings.at === "after");
  const failed = failureLog(log, note);
  const queue = createAfterQueue(after, { observe, failed }, room);
  return {
    before(asked) {
      const applicable = before.filter(({ settings }) => appliesTo(settings, asked));
      return applicable.length === 0 ? undefined : askAll(applicable, asked, { observe, failed });
    },
    asks: (call) => before.some(({ settings }) => appliesTo(settings, call)),
    notifies: (call) => after.some(({ settings }) => appliesTo(settings, call)),
    after(ended) {
      for (const hook of after) if (appliesTo(hook.settings, ended)) queue.add(hook, ended);
    },
    async close() {
      await queue.close();
      await Promise.all(hooks.map(({ transport }) => transport.close()));
    },
  };
}

const appliesTo = (
  { endpoints, workspaces, keys }: HookSettings,
  { endpoint, caller }: Pick<CallFacts, "endpoint" | "caller">,
): boolean =>
  endpoints?.includes(endpoint) !== false &&
  workspaces?.includes(caller.workspaceId) !== false &&
  keys?.includes(caller.keyId) !== false;

/** Asks one hook after the other; each sees the changes of earlier ones. @throws GatewayError */
async function askAll(
  hooks: readonly OpenHook[],
  asked: AskedCall,
  observers: HookObservers,
): Promise<ChangedCall | undefined> {
  const draft = new Draft(asked);
  try {
    for (const hook of hooks) {
      const { name } = hook.settings;
      const said = await askOne(hook, draft, observers);
      asked.noted?.({ hook: name, ...outcomeOf(said) });
      if (said instanceof HookFailedError) {
        if (hook.settings.onFailure === "refuse") throw notAnswered();
      } else if (said.action === "refuse") throw refusal(said);
    }
  } catch (error) {
    const changed = draft.changed();
    if (changed !== undefined) asked.refused?.(changed);
    throw error;
  }
  return draft.changed();
}

const outcomes = {
  allow: "allowed",
  refuse: "refused",
  change: "changed",
} as const satisfies Record<HookAnswer["action"], HookOutcome["outcome"]>;

/** The form for the request log. */
function outcomeOf(said: HookAnswer | HookFailedError): Omit<HookOutcome, "hook"> {
  if (said instanceof HookFailedError) return { outcome: "failed" };
  const code = said.action === "refuse" ? said.code : undefined;
  return { outcome: outcomes[said.action], ...(code !== undefined && { code }) };
}

/** Asks one hook, and applies its change. Returns the hook's error instead of throwing it. */
async function askOne(
  { settings, transport }: OpenHook,
  draft: Draft,
  { observe, failed }: HookObservers,
): Promise<HookAnswer | HookFailedError> {
  const turn = draft.asked.lease.turn();
  if (turn !== undefined) await turn;
  // Waiting for a turn is no time of the hook.
  const beganMs = performance.now();
  const { name: hook, timeoutMs } = settings;
  try {
    const text = beforeEvent(hook, draft);
    const answerBytesMax = Buffer.byteLength(text) * 2 + growthBytesMax;
    const { id } = draft.asked;
    const said = readAnswer(await transport.ask({ id, text, timeoutMs, answerBytesMax }));
    if (said.action === "change") draft.change(hook, said);
    observe(settings, outcomes[said.action], performance.now() - beganMs);
    return said;
  } catch (error) {
    // The gateway is overloaded: not the hook's fault.
    if (error instanceof GatewayError && error.code === "overloaded") throw error;
    observe(settings, "failed", performance.now() - beganMs);
    failed(settings, error, draft.asked.id);
    if (error instanceof HookFailedError) return error;
    return new HookFailedError("it failed", { cause: error });
  }
}

const refusal = ({ message, code }: Extract<HookAnswer, { action: "refuse" }>): GatewayError =>
  new GatewayError("hook_refused", message, {
    shouldRetry: false,
    ...(code !== undefined && {
      headers: { "x-gw-hook-code": code },
      details: { hook_code: code },
    }),
  });

const notAnswered = (): GatewayError =>
  new GatewayError(
    "hook_failed",
    "A check that this gateway's operator requires gave no answer. Nothing was charged.",
    { retryAfterSeconds },
  );
