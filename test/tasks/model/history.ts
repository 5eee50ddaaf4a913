/**
 * One history: tasks of two gateways, run step by step in an order that a seed decides, with deaths, pauses, lost answers,
 * cancellations and vendors that lie. Then nothing fails any more, and every task must end.
 */
import { setImmediate as turn } from "node:timers/promises";
import { GatewayError } from "../../../src/base/errors.ts";
import { sweepFiles } from "../../../src/files/index.ts";
import { createAcceptance } from "../../../src/tasks/accept.ts";
import { cancelTask } from "../../../src/tasks/cancel.ts";
import { defaultTiming, type TaskPoint } from "../../../src/tasks/engine.ts";
import { claimDue, extendLeases, findDue } from "../../../src/tasks/lease.ts";
import { readJob } from "../../../src/tasks/read.ts";
import type { Job } from "../../../src/tasks/rows.ts";
import { runStep } from "../../../src/tasks/runner.ts";
import { isTerminal, taskStates, type TaskStatus } from "../../../src/tasks/states.ts";
import { Choices, randomOf } from "../../ledger/model/random.ts";
import { submissionOf, type World as StepsWorld } from "../steps-support.ts";
import { answers, reply, type AnswerName, type Question } from "./vendor.ts";
import {
  changedCatalog,
  Killed,
  startGateway,
  tracerOf,
  type Gateway,
  type World,
} from "./world.ts";

/** A step or cancellation that a gateway runs. */
interface Activity {
  readonly name: string;
  readonly gateway: Gateway;
  readonly isCancel: boolean;
  readonly taskId: string;
  readonly job: Job | undefined;
  /** The point where it waits, and the functions that resume or kill it. */
  gate: { readonly point: TaskPoint; go(): void; die(): void } | undefined;
  isDone: boolean;
}

/** A task as the history knows it. */
export interface KnownTask {
  readonly id: string;
  readonly prompt: string;
  readonly model: string;
  readonly webhook: boolean;
  status: TaskStatus;
  /** The task's row at its end, as text. */
  end: string | undefined;
  /** Failures that may affect the task's result. */
  readonly troubles: Set<string>;
}

const models = ["acme/clip", "acme/clips", "acme/pictures"] as const;
/** Few tasks, so that events meet. */
const tasksMax = 3;
/** Longer than any work takes, even on a busy machine. */
const stuckMs = 60_000;
const leaseStepMs = defaultTiming.leaseMs / 3;

export class History {
  readonly world: World;
  readonly tasks: KnownTask[] = [];
  readonly log: string[] = [];
  readonly #choices: Choices;
  readonly #gateways: Gateway[];
  readonly #retryForMs: number;
  readonly #newGateway = () => startGateway(this.world, this.#retryForMs);
  #activities: Activity[] = [];
  #count = 0;
  /** True at the end, when nothing fails any more. */
  #isCalm = false;

  constructor(world: World, seed: number) {
    this.world = world;
    const random = randomOf(seed);
    this.#choices = new Choices(Array.from({ length: 4_000 }, random));
    this.#retryForMs = this.#choices.pick([0, 0, 600_000])!;
    this.#gateways = [this.#newGateway(), this.#newGateway()];
  }

  /** Runs the history. @throws Error the violated rule */
  async run(steps: number): Promise<void> {
    for (let count = 0; count < steps; count += 1) {
      await this.#next();
      await this.#waitUntilQuiet();
      await this.#checkStates();
    }
    await this.#end();
  }

  async #next(): Promise<void> {
    const share = this.#choices.number();
    if (this.tasks.length === 0 || (share < 0.04 && this.tasks.length < tasksMax))
      return this.#submit();
    if (share < 0.24) return this.#begin(this.#choices.pick(this.#gateways)!);
    if (share < 0.54) return this.#resume();
    if (share < 0.7) return this.#answer();
    if (share < 0.76) return this.#cancel();
    if (share < 0.77) return this.#kill();
    if (share < 0.8) return this.#fault();
    if (share < 0.83) return this.#failDownload();
    if (share < 0.88) return this.#vendorsWork();
    if (share < 0.89) return this.#sweep();
    if (share < 0.91) return this.#reconfigure();
    if (share < 0.94) return this.#failStorage();
    return this.#passTime();
  }

  #note(...words: unknown[]): void {
    this.log.push(words.join(" "));
  }

  async #submit(): Promise<void> {
    const model = this.#choices.pick(models)!;
    const prompt = `task ${this.tasks.length} of ${process.pid}-${(this.#count += 1)}-${this.#choices.number()}`;
    const catalog = { catalog: this.world.catalog } as StepsWorld;
    const submission = submissionOf(catalog, model);
    const webhook = this.#choices.chance(0.5);
    const row = {
      ...submission.row,
      request: submission.row.request.replace(
        '"A boat"',
        `"${prompt}","quality":"low","imageSize":"1K"`,
      ),
      webhook_url: webhook ? "https://receiver.example/hook" : null,
    };
    const { services } = this.#gateways[0]!;
    const acceptance = createAcceptance({ ...services, database: this.world.database });
    const { id } = await acceptance.accept({ ...submission, row });
    this.#note("submit", model, id);
    const [status, end] = ["queued" as const, undefined];
    this.tasks.push({ id, prompt, model, webhook, status, end, troubles: new Set() });
  }

  #start(
    gateway: Gateway,
    of: Pick<Activity, "isCancel" | "taskId" | "job">,
    work: (services: Gateway["services"]) => Promise<unknown>,
  ): void {
    const name = `a${(this.#count += 1)}`;
    const activity: Activity = { ...of, name, gateway, gate: undefined, isDone: false };
    const at = (point: TaskPoint): void | Promise<void> => {
      if (!gateway.alive) throw new Killed();
      if (this.#isCalm) return;
      // No other work can continue while this transaction locks the account.
      if (point === "end.written") {
        if (!this.#choices.chance(0.04)) return;
        this.#note("dies in its transaction", name);
        this.#killGateway(gateway);
        throw new Killed();
      }
      return new Promise((resolve, reject) => {
        activity.gate = {
          point,
          go: () => ((activity.gate = undefined), resolve()),
          die: () => ((activity.gate = undefined), reject(new Killed())),
        };
      });
    };
    this.#activities.push(activity);
    void work({ ...gateway.services, at, tracer: tracerOf(name) })
      .catch((error: unknown) => {
        if (!(error instanceof Killed || error instanceof GatewayError)) throw error;
      })
      .finally(() => (activity.isDone = true));
  }

  async #begin(gateway: Gateway): Promise<void> {
    const { services } = gateway;
    const underWay = this.#jobsOf(gateway);
    const rest = { fullWorkspaces: [], passedOver: [], underWay, takesAbandoned: true };
    for (const lane of ["ask", "poll"] as const) {
      const due = { ...rest, lane, limit: 10 };
      const found = await findDue(services, due).catch(() => []);
      const one = this.#choices.pick(found);
      if (one === undefined) continue;
      const [job] = await claimDue(services, [one], { lane, takesAbandoned: true }).catch(() => []);
      if (job === undefined) continue;
      if (job.asking) this.#addTrouble(job.id, "abandoned");
      this.#note("step", job.id, lane);
      const of = { isCancel: false, taskId: job.id, job };
      return this.#start(gateway, of, (given) => runStep(given, job));
    }
  }

  #resume(): void {
    const waiting = this.#activities.filter((one) => one.gate !== undefined);
    const one = this.#choices.pick(waiting);
    if (one === undefined) return;
    this.#note("goes on", one.name, one.taskId, one.gate!.point);
    one.gate!.go();
  }

  #answer(): void {
    const { vendors } = this.world;
    const question = this.#choices.pick([...vendors.questions]);
    if (question === undefined) return;
    const how = this.#choices.pick<AnswerName>(answers[question.kind])!;
    this.#reply(question, how);
  }

  #reply(question: Question, how: AnswerName): void {
    const task = this.tasks.find(({ prompt }) => prompt === question.prompt);
    this.#note("vendor", question.kind, how, task?.id);
    if (task && question.kind === "submit" && (how === "hidden" || how === "lost"))
      task.troubles.add("unknown outcome");
    if (task && how === "missing") task.troubles.add("missing");
    if (task && question.kind === "cancel" && how === "lost") task.troubles.add("cancel lost");
    reply(this.world.vendors, question, how);
  }

  async #cancel(): Promise<void> {
    const task = this.#choices.pick(this.tasks.filter(({ end }) => end === undefined));
    if (task === undefined || this.#activities.some((one) => one.isCancel && !one.isDone)) return;
    // Such a cancellation is refused, but only after three seconds.
    const job = await readJob(this.world.database, "w1", task.id);
    if (job!.asking) return;
    this.#note("cancel", task.id);
    const gateway = this.#choices.pick(this.#gateways)!;
    const of = { isCancel: true, taskId: task.id, job: undefined };
    this.#start(gateway, of, async (services) => {
      const row = await cancelTask(services, "w1", task.id);
      if (row.status !== "canceled") throw new Error(`canceled, and is ${row.status}`);
    });
  }

  #killGateway(gateway: Gateway): void {
    gateway.alive = false;
    gateway.services.shutdown.abort();
    for (const one of this.#activities) {
      if (one.gateway !== gateway || one.isDone) continue;
      this.#addTrouble(one.taskId, "died");
      one.gate?.die();
    }
    this.#gateways[this.#gateways.indexOf(gateway)] = this.#newGateway();
  }

  #kill(): void {
    this.#note("kill");
    this.#killGateway(this.#choices.pick(this.#gateways)!);
  }

  #fault(): void {
    const gateway = this.#choices.pick(this.#gateways)!;
    gateway.fault = this.#choices.chance(0.5) ? "lost" : "refused";
    this.#note("fault", gateway.fault);
  }

  #reconfigure(): void {
    const gateway = this.#choices.pick(this.#gateways)!;
    const id = this.#choices.pick(["one", "two", "painter"])!;
    const { catalog } = this.world;
    const change = this.#choices.pick(["as it was", "gone", "other key"] as const)!;
    this.#note("configuration", id, change);
    gateway.catalog =
      change === "as it was" ? catalog : changedCatalog(catalog, id, change === "gone");
  }

  #failDownload(): void {
    const how = this.#choices.pick(["away", "cut", "page", "gone"] as const)!;
    this.#note("file", how);
    this.world.vendors.files.push(how);
  }

  /** The storage refuses the next writes, of several files or of retries of one. */
  #failStorage(): void {
    this.world.failingPuts = this.#choices.pick([1, 2, 4, 8])!;
    this.#note("storage fails", this.world.failingPuts);
  }

  #vendorsWork(): void {
    const job = this.#choices.pick(
      this.world.vendors.jobs.filter(({ state }) => state === "running"),
    );
    if (job === undefined) return;
    job.state = this.#choices.chance(0.75) ? "done" : "failed";
    this.#note("vendor is", job.state, job.id);
  }

  async #sweep(): Promise<void> {
    await sweepFiles(this.world.database, this.world.files, new Date(this.world.clock.now()));
  }

  /** Lets time pass. One of the gateways may be paused meanwhile. */
  async #passTime(): Promise<void> {
    const ms = this.#choices.pick([
      600, 600, 5_000, 5_000, 16_000, 16_000, 70_000, 70_000, 400_000,
    ])!;
    const stopped = this.#choices.chance(0.5) ? this.#choices.pick(this.#gateways) : undefined;
    this.#note("time passes", ms, stopped ? "one is stopped" : "");
    await this.#passMs(ms, stopped);
  }

  async #passMs(ms: number, stopped?: Gateway): Promise<void> {
    for (const gateway of this.#gateways)
      gateway.silentMs = gateway === stopped ? gateway.silentMs + ms : 0;
    for (let left = ms; left > 0; left -= leaseStepMs) {
      const passed = Math.min(left, leaseStepMs);
      this.world.clock.advance(passed);
      for (const { job } of this.#activities) if (job?.localLease) job.localLease.endMs -= passed;
      for (const gateway of this.#gateways)
        if (gateway !== stopped)
          await extendLeases(gateway.services, this.#jobsOf(gateway)).catch(() => undefined);
    }
    // Other gateways may only treat it as dead after this time.
    if (stopped === undefined || stopped.silentMs < defaultTiming.abandonMs) return;
    for (const { id } of this.#jobsOf(stopped)) this.#addTrouble(id, "silent");
  }

  #jobsOf(gateway: Gateway): Job[] {
    const own = this.#activities.filter((one) => one.gateway === gateway && !one.isDone);
    return own.flatMap(({ job }) => (job ? [job] : []));
  }

  #addTrouble(id: string, what: string): void {
    this.tasks.find((task) => task.id === id)?.troubles.add(what);
  }

  #isQuiet(): boolean {
    const asked = new Set([...this.world.vendors.questions].map(({ step }) => step));
    return this.#activities.every(
      (one) =>
        one.isDone ||
        one.gate !== undefined ||
        asked.has(one.isCancel ? undefined : one.name) ||
        this.#waitsForOther(one),
    );
  }

  /** A process fetches a task's results once at a time. Both gateways share this process, so the second waits for the first. */
  #waitsForOther({ job }: Activity): boolean {
    const isAhead = (other: Activity): boolean =>
      other.job?.id === job?.id && other.gate?.point.startsWith("collect.") === true;
    return job !== undefined && this.#activities.some(isAhead);
  }

  /** Waits until all work is over, or waits for a decision of this history. */
  async #waitUntilQuiet(): Promise<void> {
    const endMs = performance.now() + stuckMs;
    while (!this.#isQuiet()) {
      if (performance.now() > endMs) throw new Error("some work under way does not go on");
      await turn();
    }
    this.#activities = this.#activities.filter((one) => !one.isDone);
  }

  /** Checks the visible state of each task: its transitions, and that it does not change after its end. */
  async #checkStates(): Promise<void> {
    const rows = await this.world.database.query<{ id: string; status: TaskStatus; row: string }>(
      "select id, status, to_jsonb(t)::text as row from tasks t where id = any($1)",
      [this.tasks.map(({ id }) => id)],
    );
    for (const { id, status, row } of rows) {
      const task = this.tasks.find((one) => one.id === id)!;
      if (task.end !== undefined && task.end !== row)
        throw new Error(`${id} changed after its end`);
      if (status !== task.status) this.#note("is", status, id);
      const next = taskStates[task.status].next as readonly string[];
      if (status !== task.status && !next.includes(status))
        throw new Error(`${id} went from ${task.status} to ${status}`);
      task.status = status;
      if (isTerminal(status)) task.end = row;
    }
  }

  /** Ends the history without further failures: vendors answer truthfully, and steps run until all tasks have ended. */
  async #end(): Promise<void> {
    this.#note("calm");
    this.#isCalm = true;
    this.world.vendors.files.length = 0;
    this.world.failingPuts = 0;
    for (const gateway of this.#gateways)
      Object.assign(gateway, { fault: undefined, catalog: this.world.catalog });
    for (let round = 0; round < 400; round += 1) {
      for (const one of this.#activities) one.gate?.go();
      await this.#answerTruthfully();
      await this.#checkStates();
      if (this.#activities.length === 0 && this.tasks.every(({ end }) => end !== undefined)) return;
      if (this.#activities.length === 0) await this.#passMs(60_000);
      for (const gateway of this.#gateways) await this.#begin(gateway);
    }
    throw new Error("some task does not end");
  }

  async #answerTruthfully(): Promise<void> {
    const endMs = performance.now() + stuckMs;
    const isUnderWay = (one: Activity): boolean =>
      !one.isDone && one.gate === undefined && !this.#waitsForOther(one);
    while (this.#activities.some(isUnderWay)) {
      if (performance.now() > endMs) throw new Error("some work under way does not end");
      for (const question of this.world.vendors.questions) {
        if (question.job?.state === "running" && question.kind === "poll")
          question.job.state = "done";
        this.#reply(question, question.kind === "submit" ? "taken" : "truth");
      }
      await turn();
    }
    await this.#waitUntilQuiet();
  }
}
