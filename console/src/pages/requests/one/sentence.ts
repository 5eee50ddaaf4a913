/** Describes a call in sentences, from its log row. Pure. */

export interface Attempted {
  readonly provider: string;
  readonly outcome: string;
  /** Absent in a task's attempts if the vendor gave none. */
  readonly status?: number | null;
  readonly started_ms?: number;
  readonly duration_ms?: number;
  /** Set in a task's attempts, in place of the two fields before. */
  readonly started_at?: string;
  /** For organization admins: the vendor's own words. */
  readonly message?: string;
}

/** True if the provider answered: a call, or a task to its end. */
export const isAnswered = ({ outcome }: Attempted): boolean =>
  outcome === "ok" || outcome === "succeeded";

/** Milliseconds from the start of the call to the start of the attempt. */
export const attemptStartMs = (
  { started_ms: ms, started_at: at }: Attempted,
  callAt: string,
): number => ms ?? Math.max(0, Date.parse(at ?? callAt) - Date.parse(callAt));

interface CallFacts {
  readonly status: string | null;
  readonly http_status: number | null;
  readonly provider: string | null;
  readonly error: string | undefined;
  readonly cost: string;
  readonly attempts: readonly Attempted[];
  readonly changed: number;
  /** The outcomes of the operator's hooks, in order. */
  readonly hooks?: readonly { readonly hook: string; readonly outcome: string }[] | undefined;
  /** The key's response cache answered it. */
  readonly isCached?: boolean;
}

const attemptsText = (count: number): string => (count === 1 ? "1 attempt" : `${count} attempts`);

/** The sentence for a refusal by a hook, or a failed hook; undefined for other failures. */
function hookSentence({ error, hooks = [] }: CallFacts): string | undefined {
  const { hook } = hooks.at(-1) ?? {};
  const name = hook === undefined ? "a hook" : `the hook ${hook}`;
  if (error === "hook_refused") return `Refused by ${name}: no provider was asked.`;
  if (error !== "hook_failed") return undefined;
  return `Refused because ${name} gave no answer: no provider was asked.`;
}

function outcomeOf(call: CallFacts): string {
  const { status, provider, error, http_status: http, attempts, isCached = false } = call;
  const last = attempts.at(-1);
  if (isCached && status === "succeeded") {
    const from = provider === null ? "" : `, with an earlier answer of ${provider}`;
    return `Answered from the cache of its key${from}.`;
  }
  if (status === "succeeded") {
    const before = [...new Set(attempts.slice(0, -1).map((one) => one.provider))];
    const answered = provider === null ? "Answered" : `Answered by ${provider}`;
    return before.length === 0 ? `${answered}.` : `${answered}, after ${before.join(", ")} failed.`;
  }
  if (status === "client_closed") return "The caller disconnected before the end.";
  if (status !== "failed") return `Ended as ${status ?? "unknown"}.`;
  const code = error ?? String(http ?? "");
  const stopped = hookSentence(call);
  if (stopped !== undefined) return stopped;
  if (last === undefined) return `Refused by the gateway with ${code}: no provider was asked.`;
  return `Failed with ${code} after ${attemptsText(attempts.length)}; the last was ${last.provider}.`;
}

/** Two to three sentences: the outcome, the charge, and changed parameters. */
export function sentencesOf(call: CallFacts): string {
  const isFree = /^0(?:\.0*)?$/.test(call.cost);
  const charged = isFree ? "Nothing was charged." : `Charged ${call.cost} USD.`;
  const changed =
    call.changed === 0
      ? []
      : [
          `${call.changed === 1 ? "One parameter was" : `${call.changed} parameters were`} changed.`,
        ];
  return [outcomeOf(call), charged, ...changed].join(" ");
}
