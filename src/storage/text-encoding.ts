/** The encoding of a database. Most encodings are for some languages only, and refuse the texts of others. docs/database.md "PostgreSQL". */
import type { Queryable } from "./queryable.ts";

/** Encodings that store any text. SQL_ASCII stores bytes unchecked. */
const universal = ["UTF8", "SQL_ASCII"];

/** Returns the problem of a database that cannot store every text; undefined if it can. */
export async function wrongEncoding(database: Queryable): Promise<string | undefined> {
  const [row] = await database.query<{ encoding: string }>(
    "select current_setting('server_encoding') as encoding",
  );
  const { encoding } = row!;
  if (universal.includes(encoding)) return undefined;
  return `The database has the encoding ${encoding}, which lacks most of the characters that callers send.`;
}

export const encodingFix =
  "Make a database with ENCODING 'UTF8' (docs/database.md \"PostgreSQL\"); tollgate backup and restore take what is there along.";
