/**
 * Removes an erased end user's id from texts in the log: tags, and vendors' messages. It changes values, never the text of their JSON, in
 * which an id such as `,` stands between any two strings.
 */
import type { Queryable } from "../storage/index.ts";

/** Shorter ids are parts of other words, so they are not replaced in messages. */
const wordMin = 4;

export interface Renaming {
  readonly workspaceId: string;
  readonly ids: readonly string[];
  readonly endUser: string;
  readonly token: string;
}

interface Row {
  readonly id: string;
  readonly tags: Readonly<Record<string, string>> | null;
  readonly attempts: readonly { readonly message?: string }[] | null;
  readonly error_message: string | null;
}

/** May find more rows than have the id: it searches for the id in its JSON spelling. */
const rowsSql = `
  select id, tags, attempts, error_message from requests
  where workspace_id = $1 and id = any($2::text[])
    and strpos(concat(tags::text, attempts::text, to_json(error_message)::text), btrim(to_json($3::text)::text, '"')) > 0`;

const renameSql = `
  update requests r set tags = n.tags, attempts = n.attempts, error_message = n.error_message
  from json_to_recordset($2::json) as n (id text, tags json, attempts json, error_message text)
  where r.workspace_id = $1 and r.id = n.id`;

/** Replaces the id by the token: in tags only whole names and values, in messages everywhere. */
export async function renameInTexts(tx: Queryable, renaming: Renaming): Promise<void> {
  const { workspaceId, ids, endUser, token } = renaming;
  const whole = (text: string): string => (text === endUser ? token : text);
  const within = (text: string): string =>
    endUser.length < wordMin ? text : text.replaceAll(endUser, token);
  const rows = await tx.query<Row>(rowsSql, [workspaceId, ids, endUser]);
  if (rows.length === 0) return;
  const renamed = rows.map(({ id, tags, attempts, error_message: message }) => ({
    id,
    tags:
      tags &&
      Object.fromEntries(Object.entries(tags).map(([name, value]) => [whole(name), whole(value)])),
    attempts: attempts?.map((one) =>
      one.message === undefined ? one : { ...one, message: within(one.message) },
    ),
    error_message: message && within(message),
  }));
  await tx.query(renameSql, [workspaceId, JSON.stringify(renamed)]);
}
