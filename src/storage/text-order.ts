/**
 * How a database puts text in order. Identifiers begin with their time, so their order as bytes is that of time: the parts of the log,
 * the folding of usage, retention and the pages of lists go by it. A language may have another one (in Czech `ch` comes after `h`), and
 * where it agrees it takes longer than bytes do. docs/operate.md "PostgreSQL".
 */
import { idAlphabet } from "../base/ids.ts";
import type { Queryable } from "./queryable.ts";

export interface TextOrder {
  /** The rules the database was made with, in the server's name for them, such as `en_US.UTF-8` or `cs`. */
  readonly locale: string;
  /** Bytes are compared, and no rules of a language. */
  readonly isBytes: boolean;
  /** Of two identifiers the earlier one is the smaller text. */
  readonly keepsTime: boolean;
}

/** The same in all versions of PostgreSQL, which name the locale of ICU differently. */
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

/** What is wrong with a database that does not keep identifiers in the order of time; undefined where it does. */
export function wrongOrder({ locale, keepsTime }: TextOrder): string | undefined {
  if (keepsTime) return undefined;
  return `The database puts text in the order of a language (${locale}), in which ids are not in the order of their time.`;
}

export const orderFix =
  "Make a database with LC_COLLATE 'C' (docs/operate.md \"PostgreSQL\"); tollgate backup and restore take what is there along.";
