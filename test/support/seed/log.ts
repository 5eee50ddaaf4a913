/**
 * A log of many rows, written by SQL into parts by day. The rows are besides the calls of `seedCalls`, use their heads, and are
 * not in the ledger.
 */
import { idTime } from "../../../src/base/ids.ts";
import type { Database } from "../../../src/storage/index.ts";
import { timePart } from "./calls.ts";

const dayMs = 86_400_000;

const nameOf = (ms: number): string => new Date(ms).toISOString().slice(0, 10).replaceAll("-", "");

/**
 * Makes the parts of the days before `end` that a fresh database does not have, as if it had run then. A database made before
 * midnight already has the last of them.
 */
export async function seedParts(database: Database, end: number, days: number): Promise<void> {
  const first = end - days * dayMs;
  await database.query("alter table requests detach partition requests_before");
  for (let ms = first; ms < end; ms += dayMs)
    await database.query(
      `create table if not exists requests_req_${nameOf(ms)}_${nameOf(ms + dayMs)} partition of requests
         for values from ('req_${idTime(ms)}') to ('req_${idTime(ms + dayMs)}')`,
    );
  await database.query(
    `alter table requests attach partition requests_before for values from (minvalue) to ('req_${idTime(first)}')`,
  );
}

interface LogSize {
  readonly rows: number;
  readonly days: number;
  /** The day after the last one. */
  readonly end: number;
}

/** Writes about `rows` rows, the same number each day, and a fiftieth of them in the days before. */
export async function seedLog(database: Database, { rows, days, end }: LogSize): Promise<void> {
  const heads = await database.query<{ workspace_id: string; id: string }>(
    "select workspace_id, id from request_heads order by random() limit 500",
    [],
  );
  const write = async (day: number, count: number, salt: number): Promise<void> => {
    await database.transaction(
      async (tx) => {
        await tx.query("set local statement_timeout = 0");
        await tx.query(
          `insert into requests (workspace_id, head, id, created_at, cost_nano, duration_ms, first_token_ms, usage_counts,
             attempt_started_ms, attempt_duration_ms)
           select ($1::text[])[1 + c.n % $3], ($2::uuid[])[1 + c.n % $3],
             'req_' || ${timePart("c.ms")} || substr(md5((c.n + $6)::text), 1, 16), to_timestamp(c.ms / 1000.0),
             1000 + c.n % 5000, 300 + c.n % 3000, 100 + c.n % 400, c.n % 4000 || ',' || c.n % 1500, 2, 298 + c.n % 3000
           from (select n, $4::bigint + n * ${dayMs}::bigint / $5 as ms from generate_series(0, $5::integer - 1) n) c`,
          [
            heads.map((head) => head.workspace_id),
            heads.map((head) => head.id),
            heads.length,
            day,
            count,
            salt,
          ],
        );
      },
      { msMax: 3_600_000 },
    );
  };
  const perDay = Math.ceil((rows * 49) / 50 / days);
  const waiting = Array.from({ length: days }, (_, place) => place);
  const work = async (): Promise<void> => {
    for (let place = waiting.pop(); place !== undefined; place = waiting.pop())
      await write(end - (place + 1) * dayMs, perDay, place * perDay);
  };
  await Promise.all([work(), work()]);
  await write(end - (days + 1) * dayMs, Math.ceil(rows / 50), days * perDay);
}
