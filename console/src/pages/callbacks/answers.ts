/** Summarizes the results of callback attempts. Pure. */

export const statuses = ["pending", "delivered", "failed"] as const;
export type Status = (typeof statuses)[number];

interface CallbackAttempt {
  readonly http_status: number | null;
  readonly error: string | null;
}

/** The results of attempts in order, with equal neighbours counted: ["3 x 503", "200"]. */
export function attemptResults(attempts: readonly CallbackAttempt[]): readonly string[] {
  const met: { text: string; count: number }[] = [];
  for (const { http_status: status, error } of attempts) {
    const text = String(status ?? error ?? "no answer");
    const last = met.at(-1);
    if (last?.text === text) last.count += 1;
    else met.push({ text, count: 1 });
  }
  return met.map(({ text, count }) => (count === 1 ? text : `${count} \u00D7 ${text}`));
}
