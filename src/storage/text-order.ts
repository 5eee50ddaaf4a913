/**
 * The collation of a database. Identifiers begin with their time, so their byte order is that of time. The parts of the request log, the
 * fold of usage, retention and the pages of lists depend on it. A language may sort differently (in Czech `ch` comes after `h`). Even where
 * it sorts the same, it is slower than comparing bytes. docs/database.md "PostgreSQL".
 */
import { idAlphabet } from "../base/ids.ts";
import type { Queryable } from "./queryable.ts";

export interface TextOrder {
  /** The locale of the database, as the server names it, such as `en_US.UTF-8` or `cs`. */
  readonly locale: string;
  /** True if text is compared by bytes, not by the rules of a language. */
  readonly isBytes: boolean;
  /** True if the earlier of two identifiers always sorts first. */
  readonly keepsTime: boolean;
}

/** Works in all versions of PostgreSQL, which name the column of the ICU locale differently. */
const orderSql = `
  with made as (
    select coalesce(to_jsonb(d) ->> 'datlocale', to_jsonb(d) ->> 'daticulocale', d.datcollate) as locale,
      d.datlocprovider = 'b' or d.datlocprovider = 'c' and lower(d.datcollate) in ('c', 'posix', 'c.utf8', 'c.utf-8') as is_bytes
    from pg_database d where d.datname = current_database()
  ),
  letters as (select * from regexp_split_to_table($1, '') as letter),
  -- Two letters can be one in a language.
  texts as (select 'req_' || a.letter || b.letter as t from letters a cross join letters b)
  select locale, is_bytes as "isBytes",
    (select array_agg(t order by t) = array_agg(t order by t collate "C") from texts) as "keepsTime"
  from made`;

export async function readTextOrder(database: Queryable): Promise<TextOrder> {
  const [order] = await database.query<TextOrder>(orderSql, [idAlphabet]);
  return order!;
}

/** Returns the problem of a database that does not sort identifiers by time; undefined if it does. */
export function wrongOrder({ locale, keepsTime }: TextOrder): string | undefined {
  if (keepsTime) return undefined;
  return `The database puts text in the order of a language (${locale}), in which ids are not in the order of their time.`;
}

export const orderFix =
  "Make a database with LC_COLLATE 'C' (docs/database.md \"PostgreSQL\"); tollgate backup and restore take what is there along.";
