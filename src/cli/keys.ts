/** `tollgate keys`: create, list, disable, enable, revoke, reveal, rotate. KEY rows; contract.md "Command line". */
import type { Command } from "commander";
import { systemClock } from "../base/clock.ts";
import { parseUsd } from "../base/money.ts";
import {
  createKey,
  disableKey,
  enableKey,
  listKeys,
  renderKey,
  revealKey,
  revokeKey,
  rotateKey,
  type KeyRecord,
} from "../tenancy/index.ts";
import { UsageError } from "./environment.ts";
import { chooseWorkspace, withDatabase, type Opened } from "./open.ts";
import { printJson, printTable } from "./print.ts";

interface CreateOptions {
  readonly name: string;
  readonly workspace?: string;
  readonly totalCap?: string;
  readonly dailyCap?: string;
  readonly weeklyCap?: string;
  readonly monthlyCap?: string;
  readonly hard?: boolean;
  readonly models?: string;
  readonly expires?: string;
  readonly json?: boolean;
}

interface JsonOption {
  readonly json?: boolean;
}

/** Adds the sub-commands to `keys`. */
export function addKeyCommands(keys: Command): void {
  keys
    .command("create")
    .description("make a key and print it")
    .requiredOption("--name <name>", "what the key is for")
    .option(
      "--workspace <id or name>",
      "the workspace it spends from (the only one, where there is one)",
    )
    .option("--total-cap <usd>", "the most it may ever spend, such as 25.00")
    .option("--daily-cap <usd>", "the most it may spend in a day (UTC)")
    .option("--weekly-cap <usd>", "the most it may spend in a week (from Monday, UTC)")
    .option("--monthly-cap <usd>", "the most it may spend in a month (UTC)")
    .option("--hard", "count open reservations too, so that the caps can never be passed")
    .option("--models <ids>", "the models it may call, separated by commas (all)")
    .option("--expires <time>", "when it stops working, such as 2027-01-31T00:00:00Z")
    .option("--json", "print the record as JSON")
    .action(create);
  keys
    .command("list")
    .description("list keys, newest first")
    .option("--workspace <id or name>", "keys of one workspace only")
    .option("--json", "print the records as JSON")
    .action(list);
  addMoves(keys);
  keys
    .command("rotate <id>")
    .description("give a key a new value and print it; id, caps and spend stay")
    .option("--grace-seconds <seconds>", "how long the old value goes on working", "0")
    .option("--json", "print the record as JSON")
    .action(rotate);
}

const moves = [
  ["disable", "make every call with the key fail, until it is enabled again", disableKey],
  ["enable", "make a disabled key work again", enableKey],
  ["revoke", "make every call with the key fail, for good", revokeKey],
] as const;

function addMoves(keys: Command): void {
  for (const [name, description, move] of moves) {
    keys
      .command(`${name} <id>`)
      .description(description)
      .option("--json", "print the record as JSON")
      .action((id: string, { json }: JsonOption) =>
        withDatabase(async (opened) => {
          const record = await move({ database: opened.database, clock: systemClock }, { id });
          if (json) printJson(await render(opened, record));
          else console.log(`${record.id} is ${record.status}`);
        }),
      );
  }
  keys
    .command("reveal <id>")
    .description("print a key in full again")
    .option("--json", "print the record as JSON")
    .action((id: string, { json }: JsonOption) =>
      withDatabase(async (opened) => {
        const { record, key } = await revealKey(await keyContext(opened), { id });
        if (json) printJson({ ...(await render(opened, record)), key });
        else console.log(key);
      }),
    );
}

const keyContext = async (opened: Opened) => ({
  database: opened.database,
  clock: systemClock,
  secrets: await opened.secrets(),
});

async function create(options: CreateOptions): Promise<void> {
  await withDatabase(async (opened) => {
    const workspaceId = await chooseWorkspace(opened.database, options.workspace);
    const { record, key } = await createKey(await keyContext(opened), {
      workspaceId,
      name: options.name,
      createdBy: null,
      spendCaps: {
        totalNano: amount(options.totalCap, "--total-cap"),
        dailyNano: amount(options.dailyCap, "--daily-cap"),
        weeklyNano: amount(options.weeklyCap, "--weekly-cap"),
        monthlyNano: amount(options.monthlyCap, "--monthly-cap"),
        hard: options.hard ?? false,
      },
      modelAllowlist: options.models?.split(",").map((id) => id.trim()) ?? [],
      expiresAt: time(options.expires, "--expires"),
    });
    if (options.json) printJson({ ...(await render(opened, record)), key });
    else console.log(`${key}\n\n${record.id} "${record.name}" in ${record.workspaceId}`);
  });
}

async function rotate(
  id: string,
  { graceSeconds, json }: JsonOption & { readonly graceSeconds: string },
): Promise<void> {
  if (!/^\d{1,9}$/.test(graceSeconds))
    throw new UsageError(`--grace-seconds is "${graceSeconds}"; it takes a number of seconds`);
  await withDatabase(async (opened) => {
    const grace = { graceSeconds: Number(graceSeconds) };
    const { record, key } = await rotateKey(await keyContext(opened), { id }, grace);
    if (json) printJson({ ...(await render(opened, record)), key });
    else console.log(`${key}\n\n${record.id} "${record.name}": ${oldValue(grace.graceSeconds)}`);
  });
}

const oldValue = (graceSeconds: number): string =>
  graceSeconds === 0
    ? "the old value has stopped working"
    : `the old value works for ${graceSeconds} seconds more`;

function time(text: string | undefined, option: string): Date | null {
  if (text === undefined) return null;
  const date = new Date(text);
  if (!Number.isNaN(date.getTime())) return date;
  throw new UsageError(`${option} is "${text}"; it takes a time such as 2027-01-31T00:00:00Z`);
}

function amount(text: string | undefined, option: string): bigint | null {
  if (text === undefined) return null;
  try {
    return parseUsd(text);
  } catch {
    throw new UsageError(`${option} is "${text}"; it takes an amount in USD such as 25.00`);
  }
}

const pageSize = 100;

async function list(options: JsonOption & { readonly workspace?: string }): Promise<void> {
  await withDatabase(async (opened) => {
    const { database } = opened;
    const workspaceId =
      options.workspace === undefined
        ? undefined
        : await chooseWorkspace(database, options.workspace);
    const records: KeyRecord[] = [];
    let cursor: string | undefined;
    do {
      const page = await listKeys(
        { database, clock: systemClock },
        { workspaceId, limit: pageSize, cursor },
      );
      records.push(...page.records);
      cursor = page.nextCursor ?? undefined;
    } while (cursor !== undefined);
    const rendered = await Promise.all(records.map((record) => render(opened, record)));
    if (options.json) return printJson(rendered);
    printTable(
      ["id", "name", "status", "key", "workspace", "created"],
      records.map((record) => [
        record.id,
        record.name,
        record.status,
        `${record.prefix}...${record.last4}`,
        record.workspaceId,
        record.createdAt.toISOString().slice(0, 10),
      ]),
    );
  });
}

async function render({ ledger }: Opened, record: KeyRecord): Promise<Record<string, unknown>> {
  return renderKey(record, await ledger.spend(record.workspaceId, { layer: "key", id: record.id }));
}
