/** Verifies that the ledgers add up, over the management API: `tollgate verify` of a running gateway. docs/management.md. */
import { permit, writeAudit } from "../../admin/index.ts";
import { Type } from "../../base/json-schema.ts";
import { formatUsd } from "../../base/money.ts";
import { isCount, type Verification } from "../../verification/index.ts";
import { oneOf, orNull, timestamp } from "../shapes/schema.ts";
import type { AdminServices } from "../services.ts";
import { route } from "./route.ts";
import { strict } from "./schemas.ts";

const states = ["never", "running", "done", "failed", "interrupted"] as const;

const answer = {
  name: "Verification",
  schema: Type.Object({
    object: Type.Literal("verification"),
    state: oneOf(...states),
    started_at: orNull(timestamp("When it began; null: no check was ever started.")),
    finished_at: orNull(timestamp("When it ended.")),
    entries: Type.Integer({ description: "The number of checked ledger entries." }),
    differences_count: Type.Integer({ description: "0 after `done`: the ledger adds up." }),
    differences: Type.Array(
      Type.Object({
        workspace_id: Type.String(),
        what: Type.String({
          description: "The name of the number.",
          examples: ["account charged", "key key_01kacw5v2pf6q8p5b0d6m1x7yt daily"],
        }),
        recorded: Type.String({
          description:
            "The stored value: USD, or a number of calls or entries, depending on `what`.",
        }),
        computed: Type.String({
          description: "The value according to the entries, in the same unit.",
        }),
      }),
      { description: "The first 200." },
    ),
  }),
};

/** Renders a run for all actors who may start one. */
export function renderVerification(run: Verification | undefined): object {
  return {
    object: "verification",
    state: run?.state ?? "never",
    started_at: run?.startedAt.toISOString() ?? null,
    finished_at: run?.finishedAt?.toISOString() ?? null,
    entries: run?.entries ?? 0,
    differences_count: run?.differencesCount ?? 0,
    differences: (run?.differences ?? []).map((one) => {
      const format = isCount(one) ? String : formatUsd;
      return {
        workspace_id: one.workspaceId,
        what: one.what,
        recorded: format(one.recordedNano),
        computed: format(one.computedNano),
      };
    }),
  };
}

const current = async ({ verifier }: AdminServices) => ({
  body: renderVerification(await verifier.read()),
});

const read = route({
  method: "GET",
  path: "/verify",
  operationId: "getVerification",
  summary: "Result of the last check of the ledger, or progress of the current one",
  action: "ledger.verify",
  answer,
  errors: ["insufficient_permissions"],
  handle({ services, actor }) {
    permit(actor, "ledger.verify", {}, "the ledger");
    return current(services);
  },
});

const start = route({
  method: "POST",
  path: "/verify",
  operationId: "startVerification",
  summary: "Check that the ledger adds up",
  description:
    "Recomputes every balance, counter and sum from the entries of all workspaces, in one snapshot and during traffic. One check runs at a time on all gateways. While one runs, the answer describes that one.",
  action: "ledger.verify",
  body: strict({}),
  answer,
  status: 202,
  errors: ["insufficient_permissions"],
  async handle({ services, actor, requestId }) {
    permit(actor, "ledger.verify", {}, "the ledger");
    const isNew = await services.verifier.start();
    if (isNew) {
      await writeAudit(services, {
        actor,
        requestId,
        action: "ledger.verify",
        object: { type: "ledger", id: "all" },
        place: {},
        before: null,
        after: null,
      });
    }
    return current(services);
  },
});

export const verifyRoutes = [read, start];
