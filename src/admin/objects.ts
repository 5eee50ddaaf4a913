/**
 * How every object of the management API is read and changed: the right is checked on the very row that is read, and a
 * change is one transaction with its precondition and its audit entry.
 */
import { changeTogether, type ChangeContext, type ChangeDatabase } from "../tenancy/index.ts";
import type { Actor } from "./actor.ts";
import { writeAudit } from "./audit.ts";
import { checkIfMatch } from "./etag.ts";
import { permit, type Place } from "./guard.ts";
import type { Action } from "./rights.ts";

/** What is the same for all objects of a kind. */
export interface Kind<Row> {
  /** In the log of changes, such as `api_key`. */
  readonly type: string;
  /** In messages, such as `API key`. */
  readonly what: string;
  id(row: Row): string;
  place(row: Row): Place;
  /** Its settings as they go over the wire, without what changes by itself and without secrets. */
  view(row: Row): object;
}

/** Who asks for what. */
export interface Asked {
  readonly actor: Actor;
  readonly requestId: string;
  readonly ifMatch: string | undefined;
}

/** An object that may be read, or `not_found`. */
export async function readObject<Row>(
  kind: Kind<Row>,
  asked: Pick<Asked, "actor">,
  action: Action,
  load: () => Promise<Row>,
): Promise<Row> {
  const row = await load();
  permit(asked.actor, action, kind.place(row), kind.what);
  return row;
}

/** What a change runs in: the shared transaction. */
export interface WithinChange extends ChangeContext {
  readonly database: ChangeDatabase;
}

interface ObjectChange<Row> {
  readonly action: Action;
  /** What the log of changes calls it, where that is not the right's own name. */
  readonly entry?: string;
  /** Reads the row and locks it. @throws GatewayError `not_found` */
  load(context: WithinChange): Promise<Row>;
  /** Changes it, and gives what is stored then; the same row where nothing is to change. */
  apply(context: WithinChange, row: Row): Promise<Row>;
  /** It removes the row. */
  readonly removes?: boolean;
}

/**
 * Changes an object: lock, right, precondition, change, audit entry; all of it or nothing.
 * @throws GatewayError `not_found`, `insufficient_permissions`, `precondition_failed`, and what `apply` throws
 */
export function changeObject<Row>(
  context: ChangeContext,
  kind: Kind<Row>,
  asked: Asked,
  change: ObjectChange<Row>,
): Promise<Row> {
  return changeTogether(context.database, async (database) => {
    const within = { ...context, database };
    const row = await change.load(within);
    const place = kind.place(row);
    permit(asked.actor, change.action, place, kind.what);
    const before = kind.view(row);
    checkIfMatch(asked.ifMatch, before);
    const changed = await change.apply(within, row);
    await writeAudit(within, {
      actor: asked.actor,
      requestId: asked.requestId,
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
  /** Where it is to be made, and what that is called when the actor may not see it. */
  place(context: WithinChange): Promise<{ readonly place: Place; readonly what: string }>;
  create(context: WithinChange): Promise<Made>;
  /** The row in what was made, which may hold a secret beside it. */
  row(made: Made): Row;
}

/** Makes an object: right, creation, audit entry; all of it or nothing. @throws GatewayError as {@link changeObject} */
export function createObject<Made, Row>(
  context: ChangeContext,
  kind: Kind<Row>,
  asked: Asked,
  creation: ObjectCreation<Made, Row>,
): Promise<Made> {
  return changeTogether(context.database, async (database) => {
    const within = { ...context, database };
    const { place, what } = await creation.place(within);
    permit(asked.actor, creation.action, place, what);
    const made = await creation.create(within);
    const row = creation.row(made);
    await writeAudit(within, {
      actor: asked.actor,
      requestId: asked.requestId,
      action: creation.action,
      before: null,
      after: kind.view(row),
      place: kind.place(row),
      object: { type: kind.type, id: kind.id(row) },
    });
    return made;
  });
}
