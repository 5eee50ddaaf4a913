/** The outcomes of attempts at providers in the last hour, on all gateways: counts by minute in one small table. docs/routing.md. */
import type { Queryable } from "./queryable.ts";

/** The number of attempts with one outcome. */
interface CountedOutcome {
  readonly provider: string;
  /** Why there was no answer; empty if there was one. */
  readonly outcome: string;
  readonly attempts: number;
  /** The message of the last failure. */
  readonly lastMessage: string | null;
}

/** Adds to the current minute, and deletes what is over an hour old. All gateways lock rows in the same order. */
export async function addProviderMinutes(
  database: Queryable,
  counted: readonly CountedOutcome[],
): Promise<void> {
  await database.query(
    `with old as (delete from provider_minutes where minute < now() - interval '61 minutes')
     insert into provider_minutes as m (minute, provider, outcome, attempts, last_message)
     select date_trunc('minute', now()), x.provider, x.outcome, x.attempts, x."lastMessage"
     from jsonb_to_recordset($1::jsonb) as x (provider text, outcome text, attempts bigint, "lastMessage" text)
     order by x.provider, x.outcome
     on conflict (minute, provider, outcome) do update
     set attempts = m.attempts + excluded.attempts, last_message = coalesce(excluded.last_message, m.last_message)`,
    [JSON.stringify(counted)],
  );
}

/** Returns the sums of the last hour. */
export function readProviderHour(database: Queryable): Promise<CountedOutcome[]> {
  return database.query<CountedOutcome>(
    `select provider, outcome, sum(attempts)::float8 as attempts,
       (array_agg(last_message order by minute desc) filter (where last_message is not null))[1] as "lastMessage"
     from provider_minutes where minute > now() - interval '60 minutes' group by provider, outcome`,
    [],
  );
}
