/**
 * One history and its steps: gateways with the real lanes on a real database, compared with the oracle. Each step is one
 * transaction; their commit order is the history. It throws at the first violation of a rule.
 */
import type { Adapter, KeyName, Row } from "./adapter.ts";
import { Oracle, type KeyState, type Funds } from "./oracle.ts";
import { nameOf, type Call, type Hold } from "./calls.ts";
import { Checks } from "./checks.ts";
import { GatewayUnderTest, type Sending } from "./process.ts";
import type { Choices } from "./random.ts";
import { namesList, type State, type ModelDatabase } from "./world.ts";

/** Errors with which the server may abort a batch: lock not available, timeouts, deadlock. */
const serverCodes = ["55P03", "57014", "25P03", "40P01"];

/** A batch that the gateway gave up and that may still reach the database. */
interface Straggler {
  readonly gateway: GatewayUnderTest;
  readonly sent: Sending["sent"];
}

const json = (value: unknown) =>
  JSON.stringify(value, (_name, item: unknown) => (typeof item === "bigint" ? Number(item) : item));

export class History {
  readonly oracle = new Oracle();
  readonly gateways: GatewayUnderTest[] = [];
  readonly calls: Call[] = [];
  readonly holds: Hold[] = [];
  readonly stragglers: Straggler[] = [];
  readonly workspaces: string[] = [];
  readonly keys: KeyName[] = [];
  readonly adapter: Adapter;
  readonly checks: Checks;
  /** The steps so far, as text. */
  readonly steps: string[] = [];
  readonly counts: Record<string, number> = {};
  /** Prefix of the history's names, because histories share a database. */
  readonly prefix: string;
  monotonicMs = 1_000;
  nowMs = 0;
  state: State | undefined;
  /** Workspaces whose accounts another connection has locked. */
  readonly locked = new Set<string>();
  isCalm = false;
  isCapped = false;
  /** Calls may cost more than their bound. */
  overruns = false;
  /** The largest bound of a call. */
  boundMax = 40;
  #serial = 0;
  readonly #world: ModelDatabase;

  constructor(options: { world: ModelDatabase; adapter: Adapter; prefix: string }) {
    this.#world = options.world;
    this.adapter = options.adapter;
    this.prefix = options.prefix;
    this.checks = new Checks(this);
  }

  recordStep(text: string): void {
    this.steps.push(`${this.monotonicMs} ${text.replaceAll(this.prefix, "")}`);
  }

  count(what: string): void {
    this.counts[what] = (this.counts[what] ?? 0) + 1;
  }

  newId(kind: string): string {
    return `${kind}${(this.#serial += 1)}`;
  }

  newGateway(): void {
    const name = `g${this.gateways.length}`;
    this.gateways.push(new GatewayUnderTest(name, this.adapter, () => this.monotonicMs));
  }

  get living(): GatewayUnderTest[] {
    return this.gateways.filter(({ isAlive }) => isAlive);
  }

  /** Batches of living gateways that are in flight. */
  get sendings(): { gateway: GatewayUnderTest; sending: Sending }[] {
    return this.living.flatMap((gateway) =>
      Array.from(gateway.sendings.values(), (sending) => ({ gateway, sending })),
    );
  }

  /** Runs due work of all gateways until none is left. */
  async settle(): Promise<void> {
    for (let rounds = 0; rounds < 500; rounds += 1) {
      await new Promise((resolve) => setImmediate(resolve));
      const ran = this.living.map((gateway) => gateway.run());
      if (!ran.includes(true)) return;
      this.checks.now();
    }
    throw new Error("a lane never comes to rest");
  }

  tick(ms: number): void {
    this.nowMs += ms;
    this.monotonicMs += ms;
    this.#world.setClock(this.nowMs);
    this.oracle.tick(this.nowMs, this.monotonicMs);
  }

  /** Runs statements in one transaction, and reads the state of the workspaces after it. */
  async sql(...statements: string[]): Promise<Row[][]> {
    const state = `select model.state(${namesList(this.workspaces)}) as state`;
    const rows = await this.#world.run(...statements, state);
    this.state = rows.pop()![0]!["state"] as State;
    return rows;
  }

  async bare(...statements: string[]): Promise<Row[][]> {
    return this.#world.run(...statements);
  }

  begin(gateway: GatewayUnderTest, place: KeyName, choices: Choices): void {
    const { rotations } = this.oracle.get<KeyState>(`key ${place.workspace} ${place.key}`);
    const rotation = Math.max(0, rotations - (choices.chance(0.2) ? 1 : 0));
    const bound = choices.chance(0.1) ? 0 : 1 + choices.below(this.boundMax);
    const key = { ...place, rotation };
    const id = this.newId("c");
    const call: Call = {
      id,
      gateway,
      place: key,
      rotation,
      bound,
      arrivedAt: this.oracle.moment,
      sinceMs: gateway.nowMs,
      state: "waiting",
      amount: 0,
      charge: null,
      endedMs: 0,
      isWritten: false,
      isUncovered: false,
      isGranted: false,
      fitted: true,
      idle: 0,
    };
    this.calls.push(call);
    this.recordStep(`${gateway.name} begin ${id} ${place.workspace} ${place.key} bound ${bound}`);
    void gateway.model
      .admit(key, { id, bound })
      .then((refusal) => {
        if (!gateway.isAlive) return;
        if (refusal === null) this.checks.admitted(call);
        else this.checks.refused(call, refusal);
      })
      .catch((error: unknown) => this.checks.rejected(call, error));
  }

  end(call: Call, choices: Choices): void {
    const { bound } = call;
    call.charge = choices.chance(0.15)
      ? null
      : this.overruns && choices.chance(0.25)
        ? bound + choices.below(this.boundMax)
        : choices.below(bound + 1);
    call.state = "posting";
    call.endedMs = call.gateway.nowMs;
    call.amount = Math.min(call.charge ?? 0, bound);
    this.recordStep(`${call.gateway.name} end ${call.id} charge ${call.charge}`);
    void call.gateway.model
      .end(call.id, call.charge)
      .then(() => {
        call.state = "done";
        if (!call.isWritten) this.checks.fail(`${call.id} is told as written and is not`);
      })
      .catch((error: unknown) => this.checks.rejected(call, error));
  }

  /** Decides what happens to a batch in flight: `fate` is a number from 0 to 1; from 0.3 on, nothing fails. */
  async deliver(gateway: GatewayUnderTest, sending: Sending, fate: number): Promise<void> {
    const { sent, rows } = sending;
    const name = `${gateway.name} lane ${sent.lane} number ${sent.number}`;
    if (rows !== undefined) {
      const isLost = fate < 0.15;
      this.recordStep(`${name}: its answer ${isLost ? "is lost" : "is there"}`);
      return isLost ? sending.lose("ECONNRESET") : this.#answer(gateway, sending, rows);
    }
    if (!sent.skipsLocked && sent.keys.some(({ workspace }) => this.locked.has(workspace))) {
      this.recordStep(`${name} waits for a lock in vain`);
      return sending.lose("55P03");
    }
    if (fate < 0.12) {
      if (fate < 0.06) this.stragglers.push({ gateway, sent });
      const code = fate < 0.08 ? "ECONNRESET" : serverCodes[Math.floor(fate * 1_000) % 4]!;
      this.recordStep(`${name} fails with ${code}`);
      return sending.lose(code);
    }
    sending.rows = await this.#apply({ gateway, sent });
    this.recordStep(`${name} arrives: ${json(sending.rows)}`);
    if (fate < 0.2) sending.lose("ECONNRESET");
    else if (fate >= 0.3) this.#answer(gateway, sending, sending.rows);
  }

  #answer(gateway: GatewayUnderTest, sending: Sending, rows: readonly Row[]): void {
    for (const key of this.adapter.reachedBy(sending.sent, rows))
      gateway.unconfirmed.delete(nameOf(key));
    sending.answer(rows);
  }

  async #apply({ gateway, sent }: Straggler): Promise<Row[]> {
    this.oracle.moment += 1;
    const locked = sent.skipsLocked ? [...this.locked] : [];
    const [rows] = await this.#world.whileLocked(locked, () => this.sql(sent.sql));
    const taken = gateway.taken.get(sent.lane) ?? 0;
    const isTaken = sent.number > taken;
    if (isTaken !== rows!.length > 0 && !(isTaken && sent.keys.length === 0))
      throw new Error(
        `${gateway.name}: number ${sent.number} after ${taken} answers ${rows!.length} rows`,
      );
    if (isTaken) {
      gateway.taken.set(sent.lane, sent.number);
      this.checks.written(this.adapter.writtenBy(sent, rows!));
    }
    this.checks.applied(gateway, { ...sent, keys: this.adapter.reachedBy(sent, rows!) });
    return rows!;
  }

  async straggle(place: number): Promise<void> {
    const [straggler] = this.stragglers.splice(place, 1);
    if (straggler === undefined) return;
    const { gateway, sent } = straggler;
    if (sent.keys.some((key) => this.locked.has(key.workspace)) && !sent.skipsLocked) return;
    this.recordStep(`${gateway.name} lane ${sent.lane} straggler ${sent.number}`);
    await this.#apply(straggler);
  }

  async settleHold(hold: Hold, charge: number | null): Promise<void> {
    this.recordStep(`settle ${hold.id} ${charge}`);
    await this.sql(this.adapter.settleSql(hold.place.workspace, hold.id, charge));
    this.checks.settled(hold, charge);
  }

  async addCredit(workspace: string, amount: number): Promise<void> {
    const funds = this.oracle.get<Funds>(`funds ${workspace}`);
    this.oracle.set(`funds ${workspace}`, { ...funds, credits: funds.credits + amount });
    this.recordStep(`credits ${workspace} ${amount}`);
    await this.sql(this.adapter.creditSql(workspace, amount, this.newId("t")));
    this.checks.state();
  }

  signal(gateway: GatewayUnderTest, workspace: string, isHeard: boolean): void {
    gateway.pendingSignals.push(workspace);
    if (isHeard) while (gateway.pendingSignals.length > 0) this.receiveSignal(gateway);
  }

  async deliverAllOf(gateway: GatewayUnderTest): Promise<void> {
    await this.settle();
    const underWay = Array.from(gateway.sendings.values());
    for (const sending of underWay) await this.deliver(gateway, sending, 1);
    await this.settle();
  }

  receiveSignal(gateway: GatewayUnderTest | undefined): void {
    const workspace = gateway?.pendingSignals.shift();
    if (workspace === undefined || gateway === undefined) return;
    this.oracle.moment += 1;
    gateway.signalledAt.set(workspace, this.oracle.moment);
    gateway.model.signal(workspace);
  }

  async sweep(gateway: GatewayUnderTest): Promise<void> {
    if (this.locked.size > 0) return;
    this.recordStep(`sweep ${gateway.name}`);
    const before = this.state;
    await this.sql(this.adapter.expireSql(gateway.model.id));
    this.checks.swept(gateway, before);
  }

  async pass(ms: number): Promise<void> {
    this.recordStep(`${ms} ms pass`);
    this.tick(ms);
    if (ms < 1_000) return;
    const until = this.nowMs + this.adapter.leaseMs;
    await this.bare(...this.living.map(({ model }) => this.adapter.leaseSql(model.id, until)));
  }
}
