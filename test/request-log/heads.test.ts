/** Heads of the request log: the values that rows share are stored once, and every row reads as it was written. */
import * as fc from "fast-check";
import { expect, it } from "vitest";
import { createRequestLog, type RequestRow } from "../../src/request-log/index.ts";
import type { Database } from "../../src/storage/index.ts";
import { describeDatabase, silentLog } from "../support/postgres.ts";

const price = { input: "2500000000", cacheRead: "250000000", output: "15000000000" };
const plan = { plan: { model: "acme/talk", order: ["local/chat"] } };
const createdAt = new Date("2026-11-04T12:00:00.123Z");

/** A usual call. `index` is in every value that differs between calls. */
const call = (id: string, index: number, more: Partial<RequestRow> = {}): RequestRow => ({
  workspaceId: "w",
  id,
  createdAt,
  keyId: "k",
  model: "acme/talk",
  provider: "local",
  protocol: "chat",
  upstreamProtocol: "chat",
  status: "succeeded",
  httpStatus: 200,
  usage: { inputTokens: index, outputTokens: 2 * index },
  usageSource: "upstream",
  costNano: BigInt(index),
  durationMs: index,
  firstTokenMs: index,
  attempts: [
    {
      provider: "local",
      credential: "default",
      upstream_model: "large",
      started_ms: 0,
      duration_ms: index,
      status: 200,
      outcome: "ok",
    },
  ],
  explanation: plan,
  price,
  ...more,
});

const labelsOf = ({
  tags = null,
  endUser = null,
}: Partial<Record<"tags" | "endUser", unknown>>) => ({
  tags,
  end_user: endUser,
});

/** The values that a row is read as: parsed JSON, and null for absent values. */
function readAs(row: RequestRow) {
  const json = (value: unknown): unknown =>
    value === undefined ? null : (JSON.parse(JSON.stringify(value)) as unknown);
  const list = (value: readonly unknown[] | undefined): unknown =>
    value?.length ? json(value) : null;
  return {
    workspace_id: row.workspaceId,
    id: row.id,
    created_at: row.createdAt,
    key_id: row.keyId ?? null,
    model: row.model ?? null,
    provider: row.provider ?? null,
    protocol: row.protocol ?? null,
    upstream_protocol: row.upstreamProtocol ?? null,
    status: row.status ?? null,
    http_status: row.httpStatus ?? null,
    usage: json(row.usage),
    usage_source: row.usageSource ?? null,
    cost_nano: row.costNano ?? 0n,
    duration_ms: row.durationMs ?? null,
    first_token_ms: row.firstTokenMs ?? null,
    dropped: list(row.dropped),
    notes: list(row.notes),
    attempts: list(row.attempts),
    explanation: json(row.explanation),
    stream: row.stream ?? null,
    error_message: row.errorMessage ?? null,
    ...labelsOf(row),
    price: json(row.price),
  };
}

const read = (database: Database): Promise<object[]> =>
  database.query("select * from request_log order by id");

const sorted = (rows: readonly RequestRow[]): object[] =>
  rows.toSorted((one, other) => (one.id < other.id ? -1 : 1)).map(readAs);

async function heads(database: Database): Promise<number> {
  const rows = await database.query<{ n: number }>(
    "select count(*)::integer as n from request_heads",
    [],
  );
  return rows[0]!.n;
}

/** A writer, and the errors that it logs for lost rows. */
function writerOf(database: Database) {
  const errors: object[] = [];
  const log = createRequestLog(database, {
    ...silentLog,
    error: (fields) => errors.push(fields),
  });
  return {
    errors,
    async write(rows: readonly RequestRow[]): Promise<void> {
      for (const row of rows) log.add(row);
      await log.flush();
    },
  };
}

const rowsNamed = (name: string, count: number, more?: Partial<RequestRow>): RequestRow[] =>
  Array.from({ length: count }, (_, index) =>
    call(`${name}-${String(index).padStart(4, "0")}`, index, more),
  );

describeDatabase("heads of the request log", (open) => {
  it("store shared values once; rows with unique values get no head", async () => {
    const database = await open();
    const writer = writerOf(database);
    const rows = [
      ...rowsNamed("a", 700),
      ...rowsNamed("b", 100, { status: "client_closed" }),
      ...rowsNamed("c", 100, { notes: ["seed: never forwarded"], dropped: ["seed"] }),
      ...rowsNamed("d", 100, { workspaceId: "other" }),
      ...rowsNamed("e", 50).map((row, index) => ({ ...row, model: `made/up-${index}` })),
      ...rowsNamed("f", 50).map((row, index) => ({
        ...row,
        explanation: { reserved_nano: index },
      })),
      // An equal price that is another object counts as the same. A different price makes its own head.
      ...rowsNamed("g", 50).map((row) => ({ ...row, price: { ...price } })),
      ...rowsNamed("h", 50, { price: { ...price, input: "3000000000" } }),
    ];
    await writer.write(rows);
    expect(await read(database)).toEqual(sorted(rows));
    // The rows of a, c and g share one head.
    expect(await heads(database)).toBe(4);
    const [bytes] = await database.query<{ n: number }>(
      "select avg(pg_column_size(r.*))::integer as n from requests r where head is not null and notes is null",
      [],
    );
    expect(bytes!.n).toBeLessThan(150);
  });

  it("keep unusual attempts, usages and notes unchanged", async () => {
    const database = await open();
    const writer = writerOf(database);
    const [usual] = call("x", 7).attempts as [object];
    const odd: Partial<RequestRow>[] = [
      { attempts: [{ ...usual, status: 503, outcome: "overloaded", message: "later" }] },
      { attempts: [{ ...usual, status: null, outcome: "unreachable" }, usual] },
      { attempts: [{ ...usual, duration_ms: 0.5 }] },
      { attempts: [{ ...usual, started_ms: 3_000_000_000 }] },
      { attempts: [{ provider: "local", started_at: "2026-11-04T12:00:00Z" }] },
      { attempts: [] },
      { usage: { seconds: 5, resolution: "720p" } },
      { usage: { "100%s": 1.5, 'a "name"': -0, large: 1e21 } },
      { usage: {} },
      { price: undefined },
      { price: { basis: "images", outputImage: { "1K": "5" }, inputImage: "0" } },
      { usage: undefined, attempts: undefined, explanation: undefined, model: "a\nb" },
      { stream: true },
      { stream: false, status: "failed", errorMessage: "No such model: a\nb." },
      { tags: { team: "search" }, endUser: "u-1" },
      { notes: ["a", { b: "\\u0000" }], dropped: ["c"] },
    ];
    const rows = odd.flatMap((more, kind) =>
      rowsNamed(`k${String(kind).padStart(2, "0")}`, 3, more),
    );
    await writer.write(rows);
    expect(await read(database)).toEqual(sorted(rows));
    expect(writer.errors).toEqual([]);
  });

  it("are written again after they were deleted, and after a batch that failed", async () => {
    const database = await open();
    const writer = writerOf(database);
    const before = rowsNamed("a", 10);
    await writer.write(before);

    await database.query("delete from request_heads");
    const rewritten = rowsNamed("b", 10);
    await writer.write(rewritten);
    expect(await read(database)).toEqual(sorted([...before, ...rewritten]));

    // The heads cannot be written: the rows are lost, and the log reports it.
    await database.query("alter table request_heads add constraint never check (false) not valid");
    const other = { status: "failed" };
    await writer.write(rowsNamed("c", 3, other));
    expect(writer.errors).toMatchObject([{ rows: 1 }, { rows: 1 }]);
    await database.query("alter table request_heads drop constraint never");
    const after = rowsNamed("d", 3, other);
    await writer.write(after);

    // The rows cannot be written. Their head may exist by now or not; the next rows are complete either way.
    await database.query("alter table requests add constraint never check (false) not valid");
    const third = { status: "client_closed" };
    await writer.write(rowsNamed("e", 3, third));
    await database.query("alter table requests drop constraint never");
    await database.query("delete from request_heads where status = 'client_closed'");
    const last = rowsNamed("f", 3, third);
    await writer.write(last);
    const [told] = rowsNamed("c", 1, other);
    expect(await read(database)).toEqual(
      sorted([...before, ...rewritten, told!, ...after, ...last]),
    );
  });

  it("are shared by concurrent writers", async () => {
    const database = await open();
    const rows = ["a", "b", "c", "d"].map((name) => [
      ...rowsNamed(`${name}1`, 300),
      ...rowsNamed(`${name}2`, 300, { keyId: "k2" }),
      ...rowsNamed(`${name}3`, 300, { explanation: { plan: { model: "acme/other" } } }),
    ]);
    const writers = rows.map(() => writerOf(database));
    await Promise.all(writers.map((writer, index) => writer.write(rows[index]!)));
    expect(await read(database)).toEqual(sorted(rows.flat()));
    expect(await heads(database)).toBe(3);
    expect(writers.flatMap(({ errors }) => errors)).toEqual([]);
  });

  it("random rows read back as they were written", async () => {
    const database = await open();
    const text = fc.constantFrom("a", "b", "null", "", "ü", '"%s"', "\\n");
    const optional = <Value>(value: fc.Arbitrary<Value>) => fc.option(value, { nil: undefined });
    const count = fc.oneof(fc.nat(), fc.double({ noNaN: true, noDefaultInfinity: true }), text);
    const attempt = fc.record({
      provider: text,
      credential: text,
      upstream_model: text,
      started_ms: fc.constantFrom(0, 5, -1),
      duration_ms: fc.constantFrom(0, 7, 1.5, 2 ** 31),
      status: fc.constantFrom(200, 500, null),
      outcome: text,
    });
    const fields = fc.record({
      workspaceId: fc.constantFrom("w", "v"),
      keyId: optional(text),
      model: optional(fc.oneof(text, fc.constantFrom("x\ny", "a\n\n", "\n\na"))),
      provider: optional(text),
      protocol: optional(text),
      upstreamProtocol: optional(text),
      status: optional(text),
      httpStatus: optional(fc.nat(599)),
      usage: optional(fc.dictionary(text, count, { maxKeys: 3 })),
      usageSource: optional(text),
      costNano: optional(fc.bigInt(0n, 10n ** 12n)),
      durationMs: optional(fc.nat(1e6)),
      firstTokenMs: optional(fc.nat(1e6)),
      dropped: optional(fc.array(text, { maxLength: 2 })),
      notes: optional(fc.array(text, { maxLength: 2 })),
      attempts: optional(fc.array(attempt, { maxLength: 2 })),
      explanation: optional(fc.record({ plan: text })),
    });
    let batch = 0;
    await fc.assert(
      fc.asyncProperty(fc.array(fields, { minLength: 1, maxLength: 20 }), async (kinds) => {
        batch += 1;
        await database.query("delete from requests");
        // Each kind three times: as a whole row, with a new head, and with an existing head.
        const rows = [...kinds, ...kinds, ...kinds].map((kind, index) => ({
          ...kind,
          id: `${batch}-${String(index).padStart(3, "0")}`,
          createdAt,
        }));
        const writer = writerOf(database);
        await writer.write(rows.slice(0, 2 * kinds.length));
        await writer.write(rows.slice(2 * kinds.length));
        expect(writer.errors).toEqual([]);
        expect(await read(database)).toEqual(sorted(rows));
      }),
      { numRuns: 40 },
    );
  });

  it("older rows without a head read back as they were written, beside rows with heads", async () => {
    const database = await open();
    const columns =
      "workspace_id, id, created_at, key_id, model, provider, protocol, upstream_protocol, status, http_status, usage, " +
      "usage_source, cost_nano, duration_ms, first_token_ms, dropped, notes, attempts, explanation";
    const older = [
      call("old-1", 1, { notes: ["seed: never forwarded"], dropped: ["seed"], price: undefined }),
      call("old-2", 2, { price: undefined }),
      { workspaceId: "w", id: "old-3", createdAt },
    ];
    for (const row of older) {
      const told = readAs(row);
      const {
        stream: _stream,
        error_message: _message,
        tags: _tags,
        end_user: _user,
        price: _price,
        ...then
      } = told;
      const values = Object.values(then).map((value: unknown) =>
        typeof value === "object" && value !== null && !(value instanceof Date)
          ? JSON.stringify(value)
          : value,
      );
      await database.query(
        `insert into requests (${columns}) values (${values.map((_, at) => `$${at + 1}`).join(", ")})`,
        values,
      );
    }
    const newer = rowsNamed("row", 5);
    await writerOf(database).write(newer);
    expect(await read(database)).toEqual(sorted([...older, ...newer]));
    expect(await heads(database)).toBe(1);
  });
});
