/** The histories find a ledger with one broken rule, which proves that they check the rule. docs/ledger.md */
import { describe, expect, it } from "vitest";
import * as gatewaySide from "../../../src/ledger/text-calls.ts";
import { shortOrLong } from "../../support/long.ts";
import { sharedPostgres } from "../../support/postgres.ts";
import { adapterOf } from "./adapter.ts";
import { runHistories } from "./histories.ts";
import { mutantOfGateway, mutateDatabase, type Mutant } from "./mutants.ts";
import { prepare } from "./world.ts";

/** `seed`: shortly before a history that finds the mutant. The search begins there to be short. */
const mutants: (Mutant & { readonly seed?: number })[] = [
  {
    rule: "fence: a batch that arrives after a later one changes nothing",
    where: "ledger_batch",
    from: "where l.number < p_number",
    to: "",
  },
  {
    rule: "bound: a charge above its bound does not use reservations of others",
    seed: 35,
    where: "ledger_write",
    from: "else least(e.charge, e.bound) end",
    to: "else e.charge end",
  },
  {
    rule: "once: an entry is written once",
    seed: 80,
    where: "ledger_write",
    from: /where not exists \(select[^;]*?x\.reference = i\.id offset 0\)/,
    to: "",
  },
  {
    rule: "all or nothing: an amount that does not fit is not reserved",
    where: "ledger_set_allowances",
    from: "t.w_room - t.w_delta",
    to: "t.w_room - 1",
  },
  {
    rule: "together: amounts that other keys of a workspace add count",
    seed: 25,
    where: "ledger_set_allowances",
    from: "sum(x.delta) over w as w_delta",
    to: "x.delta as w_delta",
  },
  {
    rule: "alone: a key that does not fit beside others is asked for alone",
    where: "ledger_batch",
    from: "when cardinality(v_unfit) > 1 then v_unfit else",
    to: "when false then v_unfit else",
  },
  {
    rule: "refused keys: their waiting calls hold nothing",
    seed: 25,
    where: "ledger_set_allowances",
    from: "then least(t.cur, t.use) when h.roomy",
    to: "then least(t.cur, t.target) when h.roomy",
  },
  {
    rule: "refused keys: they get no new reservation, whatever they have",
    where: "ledger_set_allowances",
    from: "p_restore or t.refusal is null",
    to: "p_restore or t.delta <= 0 or t.refusal is null",
  },
  {
    rule: "hard caps count reservations",
    where: "ledger_room",
    from: "p_cap - p_spent - p_held",
    to: "p_cap - p_spent",
  },
  {
    rule: "lapse: a lane whose lease ended first reports what it uses",
    seed: 198,
    where: "ledger_expire",
    from: "set lapsed = true",
    to: "set lapsed = false",
  },
  {
    rule: "rollover: a counter starts again with each period",
    where: "ledger_write",
    from: "ledger_since(v_day, a.last_day, a.day_nano)",
    to: "a.day_nano",
  },
  {
    rule: "idle wait: idle headroom of others is known",
    seed: 19,
    where: "ledger_idle",
    from: "sum(a.idle_nano)",
    to: "sum(0)",
  },
  {
    rule: "idle wait: a call that fits without idle headroom of others waits",
    seed: 19,
    where: "refusal.ts",
    from: "idleWaitMs = 150",
    to: "idleWaitMs = 0",
  },
  {
    rule: "keep: while a batch is in flight, no more is used than it keeps",
    where: "key-use.ts",
    from: "this.granted = smaller(this.granted, this.inUse + this.pending + keep);",
    to: "",
  },
  {
    rule: "linger: unused allowance is returned",
    where: "key-use.ts",
    from: "return !this.isLingering(nowMs) && this.free > 0n;",
    to: "return nowMs < 0;",
  },
  {
    rule: "trust: after a signalled change the database is asked",
    seed: 168,
    where: "key-use.ts",
    from: "this.checkedAt > this.changedAt && nowMs",
    to: "nowMs",
  },
  {
    rule: "trust: a check is trusted for 50 ms",
    seed: 111,
    where: "key-use.ts",
    from: "nowMs - this.checkedAt < forMs",
    to: "nowMs - this.checkedAt < 100 * forMs",
  },
  {
    rule: "draws: the amount of an entry is not free before it is written",
    where: "key-use.ts",
    from: "this.pending += drawOf(call);",
    to: "",
  },
  {
    rule: "bracket: no end is confirmed before its entry is written",
    where: "text-calls.ts",
    from: "await this.laneOf(input).end(input, done.amountNano);",
    to: "void this.laneOf(input).end(input, done.amountNano);",
  },
];

describe("a ledger with a broken rule", () => {
  it.each(mutants)(
    "T63: is found by the random histories: $rule",
    { timeout: shortOrLong(300_000, 600_000), retry: 0 },
    async (mutant) => {
      const isGateway = mutant.where.endsWith(".ts");
      const side = isGateway ? await mutantOfGateway(mutant) : gatewaySide;
      const adapter = adapterOf(side);
      const url = await (await sharedPostgres()).createMigrated();
      await prepare(url, adapter);
      if (!isGateway) await mutateDatabase(url, mutant);
      const { failures } = await runHistories({
        url,
        adapter,
        firstSeed: mutant.seed ?? 1,
        histories: shortOrLong(1_000, 5_000),
        abreast: 4,
        failuresMax: 1,
        shrinks: false,
      });
      expect(failures.length).toBeGreaterThan(0);
    },
  );
});
