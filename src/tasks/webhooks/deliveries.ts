/**
 * The delivery log for a workspace's administrators, and their actions: send an event again, and test an address.
 * Requirements: HOOK; docs/management.md. The caller checks the rights.
 */
import { camelCased, type SnakeCased } from "../../base/casing.ts";
import type { Clock } from "../../base/clock.ts";
import { newId } from "../../base/ids.ts";
import type { Queryable } from "../../storage/index.ts";
import { lockClause, onlyRow, type ReadOptions, type RowContext } from "../../tenancy/index.ts";
import { eventText, testType } from "./events.ts";

export interface DeliveryTry {
  readonly attempt: number;
  readonly startedAt: Date;
  readonly durationMs: number;
  /** The receiver's status; null if there was no answer, and then `error` says why. */
  readonly httpStatus: number | null;
  readonly error: string | null;
}

export interface Delivery {
  readonly workspaceId: string;
  /** The event's id. */
  readonly id: string;
  /** Null for an event without a task: a test or an alert. */
  readonly taskId: string | null;
  /** The member whose key made the task; null if there is none. */
  readonly memberId: string | null;
  readonly type: string;
  readonly url: string;
  readonly status: "pending" | "delivered" | "failed";
  /** The time of the next try; null if there is none. */
  readonly dueAt: Date | null;
  readonly createdAt: Date;
  readonly updatedAt: Date;
  /** The last 100 of its known tries, oldest first. A try whose process died is missing. */
  readonly tries: readonly DeliveryTry[];
}

type DeliveryRow = SnakeCased<Omit<Delivery, "tries">>;

type TryRow = SnakeCased<DeliveryTry> & {
  readonly workspace_id: string;
  readonly delivery_id: string;
};

const columns = `d.workspace_id, d.id, d.task_id, d.type, d.url, d.status, d.due_at, d.created_at, d.updated_at,
  (select t.member_id from tasks t where t.workspace_id = d.workspace_id and t.id = d.task_id) as member_id`;

/** An event may be sent again without end. */
const maxTries = 100;

async function withTries(database: Queryable, rows: readonly DeliveryRow[]): Promise<Delivery[]> {
  const tries = await database.query<TryRow>(
    `select a.* from (select distinct * from unnest($1::text[], $2::text[])) d (workspace_id, id)
     cross join lateral (
       select * from webhook_attempts where workspace_id = d.workspace_id and delivery_id = d.id order by attempt desc limit $3
     ) a order by a.attempt`,
    [rows.map((row) => row.workspace_id), rows.map((row) => row.id), maxTries],
  );
  return rows.map((row) => ({
    ...camelCased(row),
    tries: tries
      .filter((one) => one.workspace_id === row.workspace_id && one.delivery_id === row.id)
      .map(({ workspace_id: _workspace, delivery_id: _delivery, ...one }) => camelCased(one)),
  }));
}

async function onlyDelivery(database: Queryable, rows: readonly DeliveryRow[]): Promise<Delivery> {
  const [delivery] = await withTries(database, [onlyRow(rows, "delivery")]);
  return onlyRow(delivery === undefined ? [] : [delivery], "delivery");
}

/** The deliveries with these names, in that order; unknown names are left out. */
export async function readDeliveries(
  { database }: { readonly database: Queryable },
  names: readonly { readonly workspaceId: string; readonly id: string }[],
): Promise<Delivery[]> {
  const rows = await database.query<DeliveryRow>(
    `select ${columns} from unnest($1::text[], $2::text[]) with ordinality n (workspace_id, id, place)
     join webhook_deliveries d on d.workspace_id = n.workspace_id and d.id = n.id order by n.place`,
    [names.map((name) => name.workspaceId), names.map((name) => name.id)],
  );
  return withTries(database, rows);
}

/** A delivery of any workspace, for a check of who may see it. @throws GatewayError `not_found` */
export async function getDelivery(
  { database }: { readonly database: Queryable },
  id: string,
  options?: ReadOptions,
): Promise<Delivery> {
  const rows = await database.query<DeliveryRow>(
    `select ${columns} from webhook_deliveries d where d.id = $1${lockClause(options)}`,
    [id],
  );
  return onlyDelivery(database, rows);
}

/**
 * Sends an event again at once, even a delivered one: same id, same text, and the schedule from its beginning. Does not wait
 * for a try in flight. Wake the deliverer afterwards. @throws GatewayError `not_found`
 */
export async function redeliver(
  { database, clock }: RowContext,
  reference: { readonly workspaceId: string; readonly id: string },
): Promise<Delivery> {
  const rows = await database.query<DeliveryRow>(
    `update webhook_deliveries d
     set status = 'pending', due_at = $3, attempts_before = attempts, lease_token = null, lease_until = null, updated_at = $3
     where workspace_id = $1 and id = $2 returning ${columns}`,
    [reference.workspaceId, reference.id, new Date(clock.now())],
  );
  return onlyDelivery(database, rows);
}

/**
 * Sends a `webhook.test` event, signed like any other, once. Wake the deliverer afterwards; the outcome is in the delivery
 * log. The address is checked when it is sent, and a refusal is an outcome. @throws GatewayError `not_found` (workspace)
 */
export async function sendTest(
  { database, clock }: { readonly database: Queryable; readonly clock: Clock },
  target: { readonly workspaceId: string; readonly url: string },
): Promise<Delivery> {
  const createdAt = new Date(clock.now());
  const id = newId("evt", createdAt.getTime());
  const text = eventText({ id, type: testType, createdAt }, { workspace_id: target.workspaceId });
  const rows = await database.query<DeliveryRow>(
    `insert into webhook_deliveries as d (workspace_id, id, type, url, body, due_at, created_at, updated_at)
     select id, $2, $3, $4, $5, $6, $6, $6 from workspaces where id = $1 returning ${columns}`,
    [target.workspaceId, id, testType, target.url, text, createdAt],
  );
  onlyRow(rows, "workspace");
  return onlyDelivery(database, rows);
}
