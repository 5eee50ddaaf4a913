/**
 * Reads and changes objects of the management API. The right is checked on the row that is read. A change is one transaction with
 * its precondition and its audit entry.
 */
import { changeMany, type ChangeContext, type ChangeDatabase } from "../tenancy/index.ts";
import type { Actor } from "./actor.ts";
import { writeAudit } from "./audit.ts";
import { checkIfMatch } from "./etag.ts";
import { permit, type Place } from "./guard.ts";
import type { Action } from "./rights.ts";

/** The traits that all objects of a kind share. */
export interface ObjectKind<Row> {
  /** Name in the audit log, such as `api_key`. */
  readonly type: string;
  /** Name in messages, such as `API key`. */
  readonly label: string;
  id(row: Row): string;
  place(row: Row): Place;
  /** The settings as sent on the wire, without secrets and without values that change by themselves. */
  view(row: Row): object;
}

/** The actor and headers of a request. */
export interface RequestContext {
  readonly actor: Actor;
  readonly requestId: string;
  readonly ifMatch: string | undefined;
}

/** Loads an object that the actor may read, or throws `not_found`. */
export async function readObject<Row>(
  kind: ObjectKind<Row>,
  request: Pick<RequestContext, "actor">,
  action: Action,
  load: () => Promise<Row>,
): Promise<Row> {
  const row = await load();
  permit(request.actor, action, kind.place(row), kind.label);
  return row;
}

/** The context within a change: its shared transaction. */
export interface WithinChange extends ChangeContext {
  readonly database: ChangeDatabase;
}

interface ObjectChange<Row> {
  readonly action: Action;
  /** The action's name in the audit log, if it differs from the right. */
  readonly entry?: string;
  /** Reads the row and locks it. @throws GatewayError `not_found` */
  load(context: WithinChange): Promise<Row>;
  /** Applies the change and returns the stored row; the same row if nothing changes. */
  apply(context: WithinChange, row: Row): Promise<Row>;
  /** True if the change removes the row. */
  readonly removes?: boolean;
}

/**
 * Changes an object in one transaction: lock, right, precondition, change, audit entry.
 * @throws GatewayError `not_found`, `insufficient_permissions`, `precondition_failed`, and what `apply` throws
 */
export function changeObject<Row>(
  context: ChangeContext,
  kind: ObjectKind<Row>,
  request: RequestContext,
  change: ObjectChange<Row>,
): Promise<Row> {
  return changeMany(context.database, async (database) => {
    const within = { ...context, database };
    const row = await change.load(within);
    const place = kind.place(row);
    permit(request.actor, change.action, place, kind.label);
    const before = kind.view(row);
    checkIfMatch(request.ifMatch, before);
    const changed = await change.apply(within, row);
    await writeAudit(within, {
      actor: request.actor,
      requestId: request.requestId,
      action: change.entry ?? change.action,
      place,
      before,
      after: change.removes === true ? null : kind.view(changed),
      object: { type: kind.type, id: kind.id(row) },
    });
    return changed;
  });
}

interface ObjectCreation<Made, Row> {
  readonly action: Action;
  /** The place of the new object, and what to call that place if the actor may not see it. */
  place(context: WithinChange): Promise<{ readonly place: Place; readonly label: string }>;
  create(context: WithinChange): Promise<Made>;
  /** Extracts the row from the result, which may also hold a secret. */
  row(made: Made): Row;
}

/** Creates an object in one transaction: right, creation, audit entry. @throws GatewayError as {@link changeObject} */
export function createObject<Made, Row>(
  context: ChangeContext,
  kind: ObjectKind<Row>,
  request: RequestContext,
  creation: ObjectCreation<Made, Row>,
): Promise<Made> {
  return changeMany(context.database, async (database) => {
    const within = { ...context, database };
    const { place, label } = await creation.place(within);
    permit(request.actor, creation.action, place, label);
    const made = await creation.create(within);
    const row = creation.row(made);
    await writeAudit(within, {
      actor: request.actor,
      requestId: request.requestId,
      action: creation.action,
      before: null,
      after: kind.view(row),
      place: kind.place(row),
      object: { type: kind.type, id: kind.id(row) },
    });
    return made;
  });
}
