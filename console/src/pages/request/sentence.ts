/** What happened to a call, in sentences, from its row in the log. Pure. */

export interface Attempted {
  readonly provider: string;
  readonly outcome: string;
  readonly status: number | null;
  readonly started_ms: number;
  readonly duration_ms: number;
  /** For organization admins: the vendor's own words. */
  readonly message?: string;
}

interface Told {
  readonly status: string | null;
  readonly http_status: number | null;
  readonly provider: string | null;
  readonly error: string | undefined;
  readonly cost: string;
  readonly attempts: readonly Attempted[];
  readonly changed: number;
}

const tries = (count: number): string => (count === 1 ? "1 try" : `${count} tries`);

function outcomeOf({ status, provider, error, http_status: http, attempts }: Told): string {
  const last = attempts.at(-1);
  if (status === "succeeded") {
    const before = [...new Set(attempts.slice(0, -1).map((one) => one.provider))];
    const answered = provider === null ? "Answered" : `Answered by ${provider}`;
    return before.length === 0 ? `${answered}.` : `${answered}, after ${before.join(", ")} failed.`;
  }
  if (status === "client_closed") return "The caller left before the end.";
  if (status !== "failed") return `Ended as ${status ?? "unknown"}.`;
  const code = error ?? String(http ?? "");
  if (last === undefined) return `Refused by the gateway with ${code}: no provider was asked.`;
  return `Failed with ${code} after ${tries(attempts.length)}; the last was ${last.provider}.`;
}

/** One to three sentences: how it ended, what it cost, what was changed. */
export function sentencesOf(told: Told): string {
  const isFree = /^0(?:\.0*)?$/.test(told.cost);
  const charged = isFree ? "Nothing was charged." : `Charged ${told.cost} USD.`;
  const changed =
    told.changed === 0
      ? []
      : [
          `${told.changed === 1 ? "One parameter was" : `${told.changed} parameters were`} changed.`,
        ];
  return [outcomeOf(told), charged, ...changed].join(" ");
}
