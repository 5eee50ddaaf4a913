/** The money of a workspace over the management API: credit and ledger; balances.ts has the balance. docs/management.md. */
import { wireCased } from "../../base/casing.ts";
import { Type } from "../../base/json-schema.ts";
import {
  permit,
  readEntries,
  readObject,
  workspaceKind,
  writeAudit,
  type Entry,
} from "../../admin/index.ts";
import { GatewayError, invalidValue } from "../../base/errors.ts";
import { newId } from "../../base/ids.ts";
import { amountNanoMax, formatUsd, parseUsd } from "../../base/money.ts";
import { creditIn, type CreditResult } from "../../ledger/index.ts";
import type { Queryable } from "../../storage/index.ts";
import {
  changeRow,
  changeMany,
  forgetLowBalance,
  getWorkspace,
  pageLimit,
} from "../../tenancy/index.ts";
import { orNull, timestamp, usd } from "../shapes/schema.ts";
import type { AdminServices } from "../services.ts";
import { route, type AdminRequest } from "./route.ts";
import {
  filterText,
  nullable,
  pageOfQuery,
  pageQuery,
  pageSchema,
  strict,
  periodOf,
  periodQuery,
  words,
} from "./schemas.ts";

const entryKinds = ["credit", "charge", "void", "expire"] as const;

const entry = Type.Object({
  id: Type.String(),
  object: Type.Literal("ledger_entry"),
  kind: words(...entryKinds),
  amount: usd("The credit (below 0: removed) or charge; 0 if a reservation was released."),
  balance_after: usd("Credits minus charges after this entry."),
  reference: Type.String({
    description:
      "The request, the task or the credit it belongs to. Of a credit with an `Idempotency-Key`: `credit:` and that key.",
  }),
  key_id: orNull(Type.String()),
  member_id: orNull(Type.String()),
  note: orNull(Type.String()),
  created_at: timestamp("When it was written."),
});
const entrySchema = { name: "LedgerEntry", schema: entry };

const renderEntry = ({ amountNano, heldNano: _held, balanceAfterNano, ...one }: Entry) => ({
  ...wireCased(one),
  object: "ledger_entry",
  amount: formatUsd(amountNano),
  balance_after: formatUsd(balanceAfterNano),
});

const creditBody = strict({
  amount: Type.String({
    pattern: String.raw`^-?\d{1,8}(\.\d{1,9})?$`,
    description:
      "Decimal USD, at most 10000000; all credits of a workspace together are at most 8000000000. " +
      "Below 0 it removes credit, at most the sum of all credits. `available` may then be negative; calls are refused until it is above 0 again.",
    examples: ["25.00", "-5.00"],
  }),
  note: Type.Optional(nullable(Type.String({ maxLength: 500 }))),
});

type CreditRequest = AdminRequest<{ amount: string; note?: string | null }, unknown>;

const creditReference = (key: string): string => `credit:${key}`;

/** The Idempotency-Key names the credit: the same key sent again is the same credit. */
function referenceOf({ idempotencyKey }: CreditRequest): string {
  if (idempotencyKey === undefined) return newId("credit");
  if (/^[\x20-\x7e]{1,255}$/.test(idempotencyKey)) return creditReference(idempotencyKey);
  throw invalidValue("Idempotency-Key", "must be 1 to 255 printable ASCII characters");
}

/** Adds or takes back credit, and writes the audit entry, once. */
function addCredit(request: CreditRequest): Promise<CreditResult & { reference: string }> {
  const { services, actor, params, body, requestId } = request;
  const amountNano = parseUsd(body.amount);
  if (amountNano === 0n) throw invalidValue("amount", "must not be 0");
  if (amountNano > amountNanoMax || -amountNano > amountNanoMax)
    throw invalidValue("amount", `must be at most ${formatUsd(amountNanoMax)}`);
  const reference = referenceOf(request);
  return changeMany(services.database, async (database) => {
    const context = { database, clock: services.clock };
    const workspace = await getWorkspace(context, params["id"]!);
    const place = workspaceKind.place(workspace);
    permit(actor, "workspace.add_credits", place, workspaceKind.label);
    const input = { workspaceId: workspace.id, amountNano, reference };
    const note = body.note ?? undefined;
    const credit = async (tx: Queryable) => {
      const result = await creditIn(tx, { ...input, note });
      await forgetLowBalance(tx, workspace.id);
      return result;
    };
    // Credit that is taken back may be part of an allowance for future calls. So it is announced as a change of the workspace.
    const { result } =
      amountNano > 0n
        ? { result: await credit(database) }
        : await changeRow(database, "workspaces", async (tx) => ({
            id: workspace.id,
            result: await credit(tx),
          }));
    if (result.outcome === "credited") {
      await writeAudit(context, {
        actor,
        requestId,
        action: "workspace.add_credits",
        object: { type: "workspace", id: workspace.id },
        place,
        before: null,
        after: { amount: formatUsd(amountNano), note: body.note ?? null, entry: result.entryId },
      });
    }
    return { ...result, reference };
  });
}

const headers = { "idempotent-replayed": "true" };

/** Returns the entry that an Idempotency-Key made before, as in the ledger: this request may have another note. */
async function standing(
  { database }: AdminServices,
  workspaceId: string,
  { reference, entryId }: CreditResult & { reference: string },
): Promise<object> {
  const { entries } = await readEntries(database, workspaceId, {
    references: [reference],
    limit: 1,
  });
  const entry = entries.find(({ id }) => id === entryId);
  if (entry === undefined) throw new GatewayError("not_found", "There is no such entry any more.");
  return renderEntry(entry);
}

function otherAmount({ amountNano, createdAt }: CreditResult): GatewayError {
  const [amount, at] = [formatUsd(amountNano), createdAt.toISOString()];
  return new GatewayError(
    "idempotency_key_reuse",
    `This Idempotency-Key counted another amount before: ${amount}, at ${at}. Nothing was counted now; another credit needs another key.`,
    { param: "Idempotency-Key" },
  );
}

const credits = route({
  method: "POST",
  path: "/workspaces/{id}/credits",
  operationId: "addCredits",
  summary: "Add credit to a workspace, or remove it",
  description:
    "With an `Idempotency-Key` the credit is added once, however often the request is sent. A negative `amount` removes credit; calls that begin after the answer cannot spend it.",
  action: "workspace.add_credits",
  body: creditBody,
  example: { amount: "25.00", note: "November" },
  answer: entrySchema,
  status: 201,
  replays: "Already added under this `Idempotency-Key`: the existing entry.",
  errors: ["not_found", "insufficient_permissions", "conflict", "idempotency_key_reuse"],
  async handle(request) {
    const result = await addCredit(request);
    if (result.amountNano !== parseUsd(request.body.amount)) throw otherAmount(result);
    if (result.outcome === "already_credited") {
      const { services, params } = request;
      return { body: await standing(services, params["id"]!, result), status: 200, headers };
    }
    const body = renderEntry({
      id: result.entryId,
      kind: "credit",
      amountNano: result.amountNano,
      heldNano: 0n,
      balanceAfterNano: result.balanceAfterNano,
      reference: result.reference,
      keyId: null,
      memberId: null,
      note: request.body.note ?? null,
      createdAt: result.createdAt,
    });
    return { body };
  },
});

const ledger = route({
  method: "GET",
  path: "/workspaces/{id}/ledger",
  operationId: "listLedgerEntries",
  summary: "The ledger of a workspace, newest first",
  description:
    "`from` is inclusive, `to` exclusive. A page scans at most 50,000 entries. If few match, it may have fewer than `limit`; `has_more` says that there are older entries to scan.",
  action: "ledger.read",
  query: strict({
    kind: Type.Optional(words(...entryKinds)),
    key_id: filterText,
    member_id: filterText,
    reference: Type.Optional(
      Type.String({
        minLength: 1,
        maxLength: 300,
        description: "A `reference`; of a credit also its `Idempotency-Key` alone.",
      }),
    ),
    ...periodQuery,
    ...pageQuery,
  }),
  answer: { name: "LedgerEntries", schema: pageSchema(entry) },
  csv: [
    "id",
    "created_at",
    "kind",
    "amount",
    "balance_after",
    "reference",
    "key_id",
    "member_id",
    "note",
  ],
  errors: ["not_found", "insufficient_permissions"],
  async handle({ services, actor, params, query }) {
    const { id } = await readObject(workspaceKind, { actor }, "ledger.read", () =>
      getWorkspace(services, params["id"]!),
    );
    const { limit, cursor } = pageOfQuery(query);
    const wanted = {
      limit: pageLimit(limit),
      ...(cursor !== undefined && { cursor }),
      kind: query.kind,
      keyId: query.key_id,
      memberId: query.member_id,
      references:
        query.reference === undefined
          ? undefined
          : [query.reference, creditReference(query.reference)],
      ...periodOf(query),
    };
    // A replica must not miss a row between two pages, or the entry that the caller searches.
    const exact = cursor !== undefined || query.reference !== undefined;
    const page = await services.reads.read((database) => readEntries(database, id, wanted), {
      exact,
    });
    const data = page.entries.map(renderEntry);
    return { body: { data, has_more: page.nextCursor !== null, next_cursor: page.nextCursor } };
  },
});

export const moneyRoutes = [credits, ledger];
