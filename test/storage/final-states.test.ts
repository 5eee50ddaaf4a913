/** The database refuses to undo what is final, and rows that no version writes: also by hand. storage/migrations/0059_final_states.sql. */
import { expect, it } from "vitest";
import { describeDatabase } from "../support/postgres.ts";

/** A key, a revoked key and token, an ended task, an event that was sent, and idempotency keys of a task and a call. */
const rows = `
  insert into workspaces (id, name) values ('w', 'w');
  insert into api_keys (workspace_id, id, name, lookup, key_prefix, key_last4, rotations, status, revoked_at) values
    ('w', 'active', 'k', '\\x01', 'gw_', 'last', 2, 'active', null), ('w', 'revoked', 'k', '\\x02', 'gw_', 'last', 2, 'revoked', now());
  insert into admin_tokens (id, user_id, name, lookup, revoked_at) values ('t', 'u', 't', '\\x03', now());
  insert into tasks (workspace_id, id, key_id, kind, family, model, form, status, request, plan, reserved_nano, cost_nano, due_at,
      expires_at, created_at, updated_at)
    select 'w', status, 'k', 'image', 'f', 'm', 'tasks', status, '{}', '{}', 5, cost, due, now(), now(), now() from (values
      ('running', 0, now()), ('failed', 0, null), ('succeeded', 3, null)) as t (status, cost, due);
  insert into webhook_deliveries (workspace_id, id, type, url, body, due_at, created_at, updated_at) values
    ('w', 'new', 't', 'https://r.example', null, now(), now(), now()), ('w', 'sent', 't', 'https://r.example', '{}', now(), now(), now());
  insert into idempotency_keys (workspace_id, key, fingerprint, task_id, call_id, created_at) values
    ('w', 'task', 'f', 'task_1', null, now()), ('w', 'call', 'f', null, 'req_1', now());`;

const hold = (kind: string) =>
  `insert into ledger_holds (workspace_id, id, key_id, kind, amount_nano, lease_until, created_at)
   values ('w', '${kind}', 'k', '${kind}', 1, now(), now())`;
const key = (taskId: string, callId: string) =>
  `insert into idempotency_keys (workspace_id, key, fingerprint, task_id, call_id, created_at)
   values ('w', 'other', 'f', ${taskId}, ${callId}, now())`;

const refused: readonly (readonly [what: string, words: string, sql: string])[] = [
  ...["active", "disabled"].map(
    (status) =>
      [
        `a revoked key becomes ${status}`,
        "a revoked key never",
        `update api_keys set status = '${status}' where id = 'revoked'`,
      ] as const,
  ),
  [
    "a revoked key gets another value",
    "a revoked key never",
    "update api_keys set lookup = '\\x04', rotations = 3 where id = 'revoked'",
  ],
  [
    "a rotation is undone",
    "a rotation is never undone",
    "update api_keys set rotations = 1, lookup = '\\x05' where id = 'active'",
  ],
  [
    "a revoked token works again",
    "a revoked token stays",
    "update admin_tokens set revoked_at = null",
  ],
  [
    "a failed task runs again",
    "ended task",
    "update tasks set status = 'running', due_at = now() where id = 'failed'",
  ],
  [
    "a failed task succeeds",
    "ended task",
    "update tasks set status = 'succeeded', cost_nano = 1 where id = 'failed'",
  ],
  [
    "a task that ended costs more",
    "ended task",
    "update tasks set cost_nano = 4 where id = 'succeeded'",
  ],
  [
    "a sent event changes",
    "an event",
    "update webhook_deliveries set body = '[]' where id = 'sent'",
  ],
  ["a hold of another kind", 'ledger_holds_kind"', hold("text")],
  ["an idempotency key of task and call", 'idempotency_keys_owner"', key("'task_2'", "'req_2'")],
  ["an idempotency key of neither", 'idempotency_keys_owner"', key("null", "null")],
  [
    "an answer of a task",
    'idempotency_keys_answer"',
    "update idempotency_keys set answer = 'a' where key = 'task'",
  ],
];

const accepted: readonly string[] = [
  "update api_keys set name = 'old', ciphertext = '\\x06', status = 'revoked' where id = 'revoked'",
  "update api_keys set status = 'disabled', rotations = 3, lookup = '\\x07' where id = 'active'",
  "update api_keys set status = 'revoked' where id = 'active'",
  "update admin_tokens set revoked_at = coalesce(revoked_at, now()), last_used_at = now()",
  "update tasks set status = 'succeeded', due_at = null, cost_nano = 4 where id = 'running'",
  "update tasks set artifacts = '[]', status = status, updated_at = now() where id = 'succeeded'",
  "update webhook_deliveries set body = '{}' where id = 'new'",
  "update webhook_deliveries set status = 'delivered', due_at = null where id = 'sent'",
  "update webhook_deliveries set status = 'pending', due_at = now() where id = 'sent'",
  hold("image"),
  hold("task"),
  "update idempotency_keys set answer = 'a' where key = 'call'",
  "update idempotency_keys set task_id = null, call_id = 'req_3' where key = 'task'",
];

describeDatabase("the database", (open) => {
  it("KEY-12: refuses changes of final states, and accepts all others", async () => {
    const database = await open();
    await database.query(rows);
    for (const [what, words, sql] of refused) {
      const said = await database.query(sql).then(() => "written", String);
      expect([what, said]).toEqual([what, expect.stringContaining(words)]);
    }
    for (const sql of accepted) await database.query(sql);
  });
});
