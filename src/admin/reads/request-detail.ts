/** One call, with the details that the list of calls leaves out. docs/management.md. */
import { errorCatalogue, GatewayError } from "../../base/errors.ts";
import { idMs, latePart } from "../../base/ids.ts";
import { formatUsd } from "../../base/money.ts";
import { readBodies, type Bodies } from "../../request-log/index.ts";
import type { Queryable } from "../../storage/index.ts";
import { notFound, type Sealing, type Visibility } from "../../tenancy/index.ts";
import type { Catalog } from "../../catalog/index.ts";
import { changesOf } from "./changes.ts";
import { readEntries, type Entry } from "./entries.ts";
import { chargeLines } from "./price-lines.ts";
import { readRows, renderRequest, type RequestLogRow } from "./requests.ts";
import { requestTable } from "./log-tables.ts";
import { findVisible } from "./visible-ids.ts";

/** The error for an id from before the log begins. It says since when the log is kept, but not whether such a call existed. */
async function droppedError(database: Queryable, id: string): Promise<GatewayError | undefined> {
  const [row] = await database.query<{ id_time: string }>("select id_time from request_log_start");
  const madeMs = idMs(id.slice(id.indexOf("_") + 1));
  const startMs = row && idMs(row.id_time);
  if (madeMs === undefined || startMs === undefined || madeMs >= startMs) return undefined;
  const since = new Date(startMs).toISOString();
  return new GatewayError(
    "not_found",
    `The request log is kept from ${since} on, and this call was earlier. Usage and the ledger still have it.`,
  );
}

/** The entry that ended a call's hold. `late`: the later charge, if the hold expired while the call ran. */
async function entriesOf(database: Queryable, workspaceId: string, id: string) {
  const entryOf = async (reference: string): Promise<Entry | undefined> =>
    (await readEntries(database, workspaceId, { references: [reference], limit: 1 })).entries[0];
  const ended = await entryOf(id);
  return { ended, late: ended?.kind === "expire" ? await entryOf(id + latePart) : undefined };
}

/** The current names of a call's workspace and key. */
async function namesOf(
  database: Queryable,
  { workspaceId }: { workspaceId: string },
  key: string | null,
) {
  const [names] = await database.query<{
    workspace_name: string;
    key_name: string | null;
    key_last4: string | null;
  }>(
    `select w.name as workspace_name, k.name as key_name, k.key_last4
     from workspaces w left join api_keys k on k.workspace_id = w.id and k.id = $2 where w.id = $1`,
    [workspaceId, key],
  );
  return names;
}

/** Returns one log row with its ledger entry and its price lines. @throws GatewayError `not_found` */
export async function getRequest(
  { database, catalog }: { readonly database: Queryable; readonly catalog?: () => Catalog },
  id: string,
  visibility: Visibility,
): Promise<object> {
  const name = await findVisible(database, requestTable, id, visibility).catch(
    async (error: unknown) => {
      throw (await droppedError(database, id)) ?? error;
    },
  );
  const [row] = await readRows(database, [name]);
  const entries = await entriesOf(database, name.workspaceId, id);
  return {
    ...renderRequest(row!, visibility.everything),
    ...renderDetail(row!, entries),
    ...(await namesOf(database, name, row!.key_id)),
    ...chargeLines(row!, catalog?.()),
  };
}

/** Returns the stored bodies of a call. @throws GatewayError `not_found`, both for a call of others and for one without stored bodies */
export async function getRequestBody(
  { database, secrets }: { readonly database: Queryable; readonly secrets: Sealing },
  id: string,
  visibility: Visibility,
): Promise<Bodies & { readonly keptUntil: Date }> {
  const name = await findVisible(database, requestTable, id, visibility);
  const bodies = await readBodies(database, secrets, name);
  if (bodies === undefined) throw notFound(requestTable.label);
  return bodies;
}

function renderDetail(
  row: RequestLogRow,
  { ended, late = ended }: Awaited<ReturnType<typeof entriesOf>>,
): object {
  const { error, reserved_nano: told } = row.explanation ?? {};
  const reserved = ended?.heldNano ?? told;
  return {
    stream: row.stream,
    error: error == null ? null : { ...describe(error), code: error, message: row.error_message },
    reserved: reserved === undefined ? null : formatUsd(BigInt(reserved)),
    ledger_entry_id: late?.id ?? null,
    changes: changesOf(row.dropped ?? [], row.notes ?? []),
  };
}

const known: ReadonlyMap<string, { readonly type: string; readonly meaning: string }> = new Map(
  Object.entries(errorCatalogue),
);

/** The error catalogue's type and meaning of a code; null for a code that this version does not know. */
function describe(code: string) {
  const entry = known.get(code);
  return { type: entry?.type ?? null, meaning: entry?.meaning ?? null };
}
