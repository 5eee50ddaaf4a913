/** One call with what the list of calls leaves out. docs/management.md. */
import { errorCatalogue } from "../../base/errors.ts";
import { formatUsd } from "../../base/money.ts";
import type { Entry, Ledger } from "../../ledger/index.ts";
import type { Queryable } from "../../storage/index.ts";
import type { Visibility } from "../../tenancy/index.ts";
import { changesOf } from "./changes.ts";
import { readRows, renderRequest, type RequestLogRow } from "./requests.ts";
import { findVisible, requestTrail } from "./visible-ids.ts";

/** One call: its row with what is said of it alone, and what its charge is explained by. */
interface ReadRequest {
  readonly record: object;
  readonly charged: {
    readonly model: string | null;
    readonly provider: string | null;
    readonly usage: object | null;
    /** Nano-USD. */
    readonly costNano: bigint;
  };
}

interface Read {
  readonly database: Queryable;
  readonly ledger: Ledger;
}

/** One log row and its entry of the ledger. @throws GatewayError `not_found` */
export async function getRequest(
  { database, ledger }: Read,
  id: string,
  visibility: Visibility,
): Promise<ReadRequest> {
  const name = await findVisible(database, requestTrail, id, visibility);
  const [row] = await readRows(database, [name]);
  const { entries } = await ledger.entries(name.workspaceId, { reference: id, limit: 1 });
  const { model, provider, usage, cost_nano: costNano } = row!;
  return {
    record: { ...renderRequest(row!, visibility.everything), ...renderDetail(row!, entries[0]) },
    charged: { model, provider, usage, costNano },
  };
}

function renderDetail(row: RequestLogRow, entry: Entry | undefined): object {
  const { error, reserved_nano: told } = row.explanation ?? {};
  const reserved = entry?.heldNano ?? told;
  return {
    stream: row.stream,
    error: error == null ? null : { type: typeOf(error), code: error, message: row.error_message },
    reserved: reserved === undefined ? null : formatUsd(BigInt(reserved)),
    ledger_entry_id: entry?.id ?? null,
    changes: changesOf(row.dropped ?? [], row.notes ?? []),
  };
}

const types = new Map(Object.entries(errorCatalogue).map(([code, { type }]) => [code, type]));
const typeOf = (code: string): string | null => types.get(code) ?? null;
