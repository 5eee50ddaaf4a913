/** The balances of all workspaces in one answer: the same numbers as each alone, for the workspaces that the reader sees. */
import { afterAll, beforeAll, expect, it } from "vitest";
import { parseUsd } from "../../src/base/money.ts";
import { startWorld, type World } from "./people.ts";

let world: World;
beforeAll(async () => {
  world = await startWorld();
  const lines = { home: "2.50", away: "unlimited" } as const;
  for (const name of ["home", "away"] as const) {
    const path = `/workspaces/${world[name].id}`;
    world.must(await world.root.call("POST", `${path}/credits`, { amount: "7.000000001" }));
    world.must(await world.root.call("PATCH", path, { credit_line: lines[name] }));
  }
  const key = { workspace_id: world.home.id, name: "spends" };
  const made = world.must(await world.root.call("POST", "/keys", key));
  const chat = { model: "sandbox/chat", messages: [{ role: "user", content: "hi" }] };
  const authorization = `Bearer ${made.key as string}`;
  const answer = await world.gateway.post("/v1/chat/completions", chat, { authorization });
  await answer.text();
});
afterAll(() => world.gateway.close());

it("BILL-04: after a call the balance shows nothing held, and during a call it shows the reservation", async () => {
  const made = await world.root.call("POST", "/keys", {
    workspace_id: world.home.id,
    name: "at rest",
  });
  const headers = { authorization: `Bearer ${world.must(made).key as string}` };
  const ask = (content: string) =>
    world.gateway.post(
      "/v1/chat/completions",
      { model: "sandbox/chat", messages: [{ role: "user", content }] },
      headers,
    );
  const read = async () =>
    world.must(await world.root.call("GET", `/workspaces/${world.home.id}/balance`));
  const nano = (usd: string) => parseUsd(usd);
  // Each read follows calls at once. If the machine stalls for the 200 ms that an allowance waits, some reads see headroom.
  const atOnce = async () => {
    for (let count = 0; count < 3; count += 1) await (await ask("hi")).text();
    const balance = await read();
    const { credits, credit_line: line, charged, available } = balance;
    const left = nano(credits) + nano(line) - nano(charged) - nano(balance.held);
    expect(nano(available)).toBe(left);
    return balance.held as string;
  };
  const held: string[] = [];
  while (held.length < 6) held.push(await atOnce());
  expect(held.filter((amount) => amount === "0").length).toBeGreaterThan(2);
  const running = ask('hi\n#sandbox {"delay_ms": 1500}');
  await expect.poll(async () => (await read()).held).not.toBe("0");
  await (await running).text();
  await expect.poll(async () => (await read()).held).toBe("0");
});

it("BILL-23: GET /balances lists the same balances as GET /workspaces/{id}/balance, page by page", async () => {
  const single = async (id: string) =>
    world.must(await world.root.call("GET", `/workspaces/${id}/balance`));
  const { data } = world.must(await world.root.call("GET", "/balances"));
  const workspaces = world.must(await world.root.call("GET", "/workspaces"));
  const ids = (rows: { workspace_id?: string; id?: string }[]) =>
    rows.map((row) => row.workspace_id ?? row.id!);
  expect(ids(data)).toEqual(ids(workspaces.data));
  expect(data).toEqual(await Promise.all(ids(data).map(single)));
  const ofHome = (data as { workspace_id: string }[]).find(
    (row) => row.workspace_id === world.home.id,
  )!;
  expect(ofHome).toMatchObject({ workspace_name: "home", credits: "7.000000001" });
  expect(ofHome).not.toMatchObject({ charged: "0" });
  const pages = [];
  for (let cursor = ""; ;) {
    const page = world.must(await world.root.call("GET", `/balances?limit=1${cursor}`));
    pages.push(...page.data);
    if (!page.has_more) break;
    cursor = `&cursor=${page.next_cursor}`;
  }
  expect(pages).toEqual(data);
  const organization = `/balances?organization_id=${world.away.organizationId}`;
  expect(ids(world.must(await world.root.call("GET", organization)).data)).toEqual([world.away.id]);
});

interface Row {
  readonly workspace_id: string;
  readonly available: string;
  readonly credits: string;
  readonly charged: string;
}
interface Answer {
  readonly data: readonly Row[];
  readonly sum?: Readonly<Record<"credits" | "charged", string>> & { readonly workspaces: number };
  readonly next_cursor: string | null;
}
const asked = async (who: World["root"], query = "") =>
  world.must(await who.call("GET", `/balances${query}`)) as unknown as Answer;

it("BILL-23: GET /balances?order=available sorts across pages, with unlimited workspaces last", async () => {
  for (const amount of ["3", "0.5"]) {
    const workspace = world.must(await world.root.call("POST", "/workspaces", { name: amount }));
    const path = `/workspaces/${workspace.id as string}/credits`;
    world.must(await world.root.call("POST", path, { amount }));
  }
  const { data } = await asked(world.root);
  const last = (available: string) => available === "unlimited";
  const size = ({ available }: Row) => (last(available) ? 0n : parseUsd(available));
  const expected = data.toSorted(
    (one, other) =>
      Number(last(one.available)) - Number(last(other.available)) ||
      Number(size(one) - size(other)) ||
      (one.workspace_id < other.workspace_id ? -1 : 1),
  );
  expect((await asked(world.root, "?order=available")).data).toEqual(expected);
  const pages: Row[] = [];
  for (let cursor: string | null = ""; cursor !== null;) {
    const behind = cursor && `&cursor=${cursor}`;
    const page = await asked(world.root, `?order=available&limit=2${behind}`);
    pages.push(...page.data);
    cursor = page.next_cursor;
  }
  expect(pages).toEqual(expected);
  expect(pages.at(-1)).toMatchObject({ workspace_id: world.away.id });
  // A position in the order would reveal how much others have.
  const ofOthers = `?order=available&cursor=${expected[0]!.workspace_id}`;
  expect((await asked(world.ann, ofOthers)).data).toEqual([]);
  expect((await world.root.call("GET", "/balances?order=name")).status).toBe(400);
});

it("BILL-23: the first page of GET /balances has the sums of all matching workspaces that its reader sees", async () => {
  for (const [who, query] of [
    [world.root, ""],
    [world.root, "?order=available&limit=1"],
    [world.root, `?organization_id=${world.away.organizationId}`],
    [world.ann, ""],
  ] as const) {
    const { sum } = await asked(who, query);
    const { data } = await asked(who, query.replace(/\?order.*/, ""));
    const together = (name: "credits" | "charged") =>
      data.reduce((all, row) => all + parseUsd(row[name]), 0n);
    expect(sum).toMatchObject({ workspaces: data.length });
    for (const name of ["credits", "charged"] as const)
      expect(parseUsd(sum![name])).toBe(together(name));
  }
  const { next_cursor: cursor } = await asked(world.root, "?limit=1");
  expect(await asked(world.root, `?cursor=${cursor!}`)).not.toHaveProperty("sum");
});

it("members see the balances of their own workspaces only", async () => {
  for (const [who, place] of [
    [world.ann, world.home],
    [world.mem, world.home],
    [world.bob, world.away],
  ] as const) {
    const { data } = world.must(await who.call("GET", "/balances"));
    expect((data as { workspace_id: string }[]).map((row) => row.workspace_id)).toEqual([place.id]);
  }
  const bobs = world.must(await world.bob.call("GET", "/balances")).data[0];
  expect(bobs).toMatchObject({ credit_line: "unlimited", available: "unlimited" });
});
